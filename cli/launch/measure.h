// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What `run` and `record` share: start the program with the collector in it, in front of a launcher
// or as one of its ranks, and see to its records afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/launch/selection.h"
#include "cli/pipeline.h"

namespace culprit::cli {

struct MeasureOptions {
  std::vector<std::string> command;
  std::filesystem::path experiment;  ///< -o; empty: culprit chooses
  unsigned sampling_hz = 100;
  std::string counters;                  ///< names joined by commas; empty: none
  std::string cuda_graphs = "launches";  ///< what is told of them: "launches" or "nodes"
  std::string openmp = "gcc";            ///< how gcc's OpenMP is observed: "gcc", "libomp", "none"
  bool estimate = false;                 ///< tell how large the trace would be, and keep nothing
  bool report = false;                   ///< analyse and print (run), or stop at the trace (record)
  Selection selection;
  unsigned memory_mib = 0;  ///< of the collector, a process; 0: its default
  uint64_t max_size = 0;    ///< bytes of records, a process; 0: no limit
  PipelineOptions pipeline;
};

/// Returns culprit's exit status: the program's, or what went wrong on the way to it.
int measure(const MeasureOptions& options);

}  // namespace culprit::cli
