# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds OTF2, the trace library: target OTF2::OTF2. An installation of one's own is named by putting
# its otf2-config first in PATH; Debian's package is found without.
find_program(OTF2_CONFIG otf2-config)
if(OTF2_CONFIG)
  execute_process(COMMAND ${OTF2_CONFIG} --version OUTPUT_VARIABLE OTF2_VERSION_TEXT ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" OTF2_VERSION "${OTF2_VERSION_TEXT}")
  get_filename_component(OTF2_PREFIX ${OTF2_CONFIG} DIRECTORY)
  get_filename_component(OTF2_PREFIX ${OTF2_PREFIX} DIRECTORY)
endif()
find_path(OTF2_INCLUDE_DIR otf2/otf2.h HINTS ${OTF2_PREFIX}/include)
find_library(OTF2_LIBRARY NAMES otf2 open-trace-format2 HINTS ${OTF2_PREFIX}/lib)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OTF2 REQUIRED_VARS OTF2_LIBRARY OTF2_INCLUDE_DIR
                                  VERSION_VAR OTF2_VERSION)
if(OTF2_FOUND AND NOT TARGET OTF2::OTF2)
  add_library(OTF2::OTF2 UNKNOWN IMPORTED)
  set_target_properties(OTF2::OTF2 PROPERTIES IMPORTED_LOCATION ${OTF2_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${OTF2_INCLUDE_DIR})
endif()
