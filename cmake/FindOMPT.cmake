# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds omp-tools.h, the header of OpenMP's tool interface: target OMPT::OMPT. LLVM keeps it among its
# compiler's own headers, which no other compiler can digest; so this one header is copied into a
# folder of the build, and only that folder is searched.
file(GLOB OMPT_FOLDERS /usr/lib/llvm-*/lib/clang/*/include /usr/lib/clang/*/include
     /usr/local/lib/clang/*/include)
list(SORT OMPT_FOLDERS COMPARE NATURAL ORDER DESCENDING)
find_file(OMPT_HEADER omp-tools.h HINTS ${OMPT_FOLDERS} NO_CACHE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OMPT REQUIRED_VARS OMPT_HEADER)
if(OMPT_FOUND AND NOT TARGET OMPT::OMPT)
  set(OMPT_INCLUDE_DIR ${CMAKE_BINARY_DIR}/ompt/include)
  configure_file(${OMPT_HEADER} ${OMPT_INCLUDE_DIR}/omp-tools.h COPYONLY)
  add_library(OMPT::OMPT INTERFACE IMPORTED)
  set_target_properties(OMPT::OMPT PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${OMPT_INCLUDE_DIR})
endif()
