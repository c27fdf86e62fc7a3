// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The size of a run's records, their composition and their cost, from a run of which the collector
// kept only each thread's first windows (`count_only` of base/settings.def). Windows that were
// counted but not kept are assumed to have the same composition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/result.h"

namespace culprit::assemble {

/// Records of one sort.
struct EstimateRow {
  std::string what;      ///< "MPI_Isend", "OpenMP locks and critical sections"
  std::string left_out;  ///< the word for `--without`; empty: there is none
  double records = 0;
  double bytes = 0;
  double cost_s = 0;  ///< of making them, summed over threads
};

struct Estimate {
  std::vector<EstimateRow> rows;  ///< largest first
  double bytes = 0;
  double largest_process_bytes = 0;
  double records = 0;
  double thread_s = 0;  ///< allocation time: lives of all processes times their threads
  double wall_s = 0;    ///< of the longest process
  size_t processes = 0;
  size_t threads = 0;
  bool all_kept = true;  ///< nothing had to be extrapolated
};

/// Error if there are no records.
Result<Estimate> estimate(const GuardedPath& raw);

}  // namespace culprit::assemble
