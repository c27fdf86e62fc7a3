// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A made-up program of four ranks as a trace, and any stretch of it as a trace of its own. Each
// iteration fills, solves, and sends to the next rank; after eight of them all sum something up,
// which ends a block. Stretches are whole blocks, so nothing crosses their edges.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulated_run.h"
#include "trace/source.h"

namespace culprit::blame {

struct TracedCourse {
  const char* name;
  double period_s = 0;     ///< of a phase in which rank 3 is late, for a quarter of it; 0: none
  double stall_share = 0;  ///< of iterations: rank 2 takes 100 ms longer to fill
  double growth = 0;       ///< of rank 0's excess, over the run
};

class TracedRun {
 public:
  static constexpr uint32_t kRanks = 4;

  TracedRun(const TracedCourse& course, size_t blocks, Random& random);

  size_t blocks() const { return begins_.size() - 1; }
  /// When a block begins, in seconds; that behind the last is the end of the run.
  double begin_s(size_t block) const { return begins_[block].seconds(); }
  std::unique_ptr<trace::Source> stretch(size_t first_block, size_t end_block) const;

 private:
  class Stretch;
  /// What a rank does in an iteration: the moments between its parts.
  struct Moments {
    Time begin, filled, solved, sent, received;
  };

  void add_block(const TracedCourse& course, double progress, Random& random);

  trace::Definitions definitions_;
  std::vector<std::vector<Moments>> iterations_;  ///< by rank
  std::vector<Time> begins_;                      ///< by block
};

}  // namespace culprit::blame
