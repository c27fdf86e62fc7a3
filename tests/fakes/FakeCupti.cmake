# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The fake libcupti as a library of its own, by the name under which the CUDA probe looks for the
# real one. Defines fake_cupti, if CUPTI's headers are there.
find_package(CuptiHeaders QUIET)
if(CuptiHeaders_FOUND AND NOT TARGET fake_cupti)
  add_library(fake_cupti SHARED ${CMAKE_SOURCE_DIR}/tests/fakes/fake_cupti.cpp)
  target_link_libraries(fake_cupti PUBLIC CuptiHeaders::CuptiHeaders)
  set_target_properties(fake_cupti PROPERTIES OUTPUT_NAME cupti SOVERSION 13
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake_cupti)
endif()
