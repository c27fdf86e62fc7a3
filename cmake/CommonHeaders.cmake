# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The headers of the C++ library and of {fmt} that most sources include are read once for the whole build: a third
# of the time that compiling takes goes into reading them. Sources still include what they use. The presets asan,
# tsan and fuzz build without (CMAKE_DISABLE_PRECOMPILE_HEADERS), and show who does not.
set(CULPRIT_COMMON_HEADERS
  <algorithm> <array> <atomic> <charconv> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <filesystem> <functional> <map>
  <memory> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <vector> <fmt/format.h>)

# A compiler takes such headers only for sources with the same options: libraries and programs differ in them.
find_package(fmt REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/common_headers.cpp "")
add_library(culprit_library_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/common_headers.cpp)
target_link_libraries(culprit_library_headers PRIVATE fmt::fmt)
target_precompile_headers(culprit_library_headers PRIVATE ${CULPRIT_COMMON_HEADERS})

# culprit_common_headers(<library>...): these libraries are compiled with the headers read before.
function(culprit_common_headers)
  foreach(target IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_precompile_headers(${target} REUSE_FROM culprit_library_headers)
  endforeach()
endfunction()

# culprit_test_headers(<program>): the same for a program of tests, with GoogleTest.
function(culprit_test_headers program)
  if(NOT TARGET culprit_program_headers)
    add_executable(culprit_program_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/common_headers.cpp)
    target_link_libraries(culprit_program_headers PRIVATE fmt::fmt GTest::gtest GTest::gtest_main)
    target_precompile_headers(culprit_program_headers PRIVATE ${CULPRIT_COMMON_HEADERS} <gtest/gtest.h>)
  endif()
  target_link_libraries(${program} PRIVATE fmt::fmt)
  target_precompile_headers(${program} REUSE_FROM culprit_program_headers)
endfunction()
