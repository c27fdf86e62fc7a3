// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/problems.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/message.h"

namespace culprit::cli {
namespace {

/// The last byte of a mapped file that has been emptied since.
char read_what_is_gone() {
  constexpr size_t kBytes = 4096;
  FILE* const file = std::tmpfile();
  if (file == nullptr || ftruncate(fileno(file), kBytes) != 0) std::abort();
  void* const pages = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  if (pages == MAP_FAILED || ftruncate(fileno(file), 0) != 0) std::abort();
  return static_cast<volatile const char*>(pages)[kBytes - 1];
}

TEST(Problems, AShortenedFileEndsWithASentence) {
  EXPECT_EXIT(
      {
        end_where_pages_are_gone();
        read_what_is_gone();
      },
      testing::ExitedWithCode(kFailure), "cut short");
}

TEST(Problems, BusErrorsThatSomebodySendsEndTheProcess) {
  EXPECT_EXIT(
      {
        end_where_pages_are_gone();
        raise(SIGBUS);
        raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace culprit::cli
