# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(culprit) gives culprit::culprit, for programs that include culprit.h (there is nothing to
# link), CULPRIT_EXECUTABLE, and CULPRIT_FORTRAN_MODULE: a source to add to programs in Fortran.
get_filename_component(_culprit_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET culprit::culprit)
  add_library(culprit::culprit INTERFACE IMPORTED)
  set_target_properties(culprit::culprit PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_culprit_prefix}/include")
endif()
set(CULPRIT_EXECUTABLE "${_culprit_prefix}/bin/culprit")
set(CULPRIT_FORTRAN_MODULE "${_culprit_prefix}/include/culprit.f90")
unset(_culprit_prefix)
