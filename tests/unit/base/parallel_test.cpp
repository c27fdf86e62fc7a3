// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All pieces are done, however few threads the system grants.
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace culprit {
namespace {

constexpr size_t kPieces = 1000;

bool all_done(unsigned threads) {
  std::vector<int> done(kPieces, 0);
  parallel_for(kPieces, threads, [&](size_t i) { ++done[i]; });
  return std::count(done.begin(), done.end(), 1) == static_cast<ptrdiff_t>(kPieces);
}

TEST(ParallelFor, DoesEachPieceOnce) {
  for (const unsigned threads : {1u, 2u, 7u}) EXPECT_TRUE(all_done(threads)) << threads;
  EXPECT_EQ(unstarted_threads(), 0u);
}

TEST(ParallelFor, DoesWithTheThreadsThatThereAre) {
  const pid_t child = fork();
  if (child == 0) {
    // Room for a few stacks of 8 MiB, not for a thousand.
    const rlimit room = {rlim_t{400} << 20, rlim_t{400} << 20};
    if (setrlimit(RLIMIT_AS, &room) != 0) _exit(2);
    _exit(all_done(static_cast<unsigned>(kPieces)) && unstarted_threads() > 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(status, 0);
#endif
}

TEST(ParallelFor, ThrowsWhatAPieceThrows) {
  EXPECT_THROW(parallel_for(kPieces, 4,
                            [](size_t i) {
                              if (i == 500) throw std::runtime_error("piece");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace culprit
