# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Run after a library that goes into programs was linked (cmake -P) with LIBRARY and OBJDUMP: fails if it
# needs a symbol of glibc that systems of the last ten years may lack (collector/old_glibc.cpp).
set(newest 2.17)
execute_process(COMMAND ${OBJDUMP} -T ${LIBRARY} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${OBJDUMP} cannot read ${LIBRARY}")
endif()
string(REGEX MATCHALL "GLIBC_[0-9.]+\\)? +[A-Za-z0-9_]+" found "${symbols}")
foreach(symbol IN LISTS found)
  string(REGEX REPLACE "GLIBC_([0-9.]+)\\)? +(.*)" "\\1;\\2" parts "${symbol}")
  list(GET parts 0 version)
  list(GET parts 1 name)
  if(version VERSION_GREATER newest)
    list(APPEND newer "${name} (${version})")
  endif()
endforeach()
if(newer)
  list(JOIN newer ", " newer)
  file(REMOVE ${LIBRARY})
  message(FATAL_ERROR "${LIBRARY} needs more than glibc ${newest}: ${newer}. Add them to collector/old_glibc.cpp")
endif()
