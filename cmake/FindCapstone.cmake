# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds Capstone, the disassembler: target Capstone::Capstone. The archive comes first: users need no library more.
find_path(CAPSTONE_INCLUDE_DIR capstone/capstone.h)
find_library(CAPSTONE_LIBRARY NAMES libcapstone.a capstone)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Capstone REQUIRED_VARS CAPSTONE_LIBRARY CAPSTONE_INCLUDE_DIR)
if(Capstone_FOUND AND NOT TARGET Capstone::Capstone)
  add_library(Capstone::Capstone UNKNOWN IMPORTED)
  set_target_properties(Capstone::Capstone PROPERTIES
    IMPORTED_LOCATION "${CAPSTONE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAPSTONE_INCLUDE_DIR}")
endif()
