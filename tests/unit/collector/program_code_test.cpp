// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whose code is on a stack, by the files that it was loaded from: this program's, that of a library
// that serves it (OpenMP's), and that of one of which nothing is known.
#include "collector/sampling/program_code.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace culprit::tests {
namespace {

/// Somewhere in a function; 0 if there is none.
uintptr_t code_in(const char* library, const char* function) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* const found = handle != nullptr ? dlsym(handle, function) : nullptr;
  return found != nullptr ? reinterpret_cast<uintptr_t>(found) + 2 : 0;
}

bool is_called_back(std::initializer_list<uintptr_t> innermost_first) {
  static collector::Frames frames;
  frames = {};
  for (const uintptr_t address : innermost_first) frames.at[frames.count++].address = address;
  return collector::sampling::is_called_back(frames);
}

TEST(ProgramCode, WhatALibraryCallsBackIsTheExecutablesOrItsCallers) {
  collector::sampling::find_object_finder();
  const uintptr_t own = reinterpret_cast<uintptr_t>(&code_in) + 2;
  const uintptr_t serves = code_in("libgomp.so.1", "omp_get_wtime");
  const uintptr_t other = code_in("libz.so.1", "zlibVersion");
  ASSERT_NE(serves, 0u);
  ASSERT_NE(other, 0u);
  EXPECT_TRUE(is_called_back({own, serves, own}));
  EXPECT_TRUE(is_called_back({other, serves, other, own}));
  // As a transport that MPI has loaded for itself.
  EXPECT_FALSE(is_called_back({other, serves, own}));
  EXPECT_FALSE(is_called_back({serves, own}));
  EXPECT_FALSE(is_called_back({own}));
  // Code that nothing is known of, as behind the end of a stack that was read wrongly.
  EXPECT_FALSE(is_called_back({8, serves, own}));
  EXPECT_FALSE(is_called_back({}));
}

}  // namespace
}  // namespace culprit::tests
