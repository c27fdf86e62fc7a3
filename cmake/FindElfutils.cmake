# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds elfutils' libraries: target Elfutils::Elfutils (libdw and libelf).
find_path(ELFUTILS_INCLUDE_DIR elfutils/libdw.h)
find_library(ELFUTILS_DW_LIBRARY dw)
find_library(ELFUTILS_ELF_LIBRARY elf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Elfutils
  REQUIRED_VARS ELFUTILS_DW_LIBRARY ELFUTILS_ELF_LIBRARY ELFUTILS_INCLUDE_DIR)
if(Elfutils_FOUND AND NOT TARGET Elfutils::Elfutils)
  add_library(Elfutils::Elfutils INTERFACE IMPORTED)
  set_target_properties(Elfutils::Elfutils PROPERTIES
    INTERFACE_LINK_LIBRARIES "${ELFUTILS_DW_LIBRARY};${ELFUTILS_ELF_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${ELFUTILS_INCLUDE_DIR}")
endif()
