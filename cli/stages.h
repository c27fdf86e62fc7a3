// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The steps of which analyses consist (cli/pipeline.h), be they of a whole run or of a part of one.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/losses.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "blame/findings/findings.h"
#include "blame/passes.h"
#include "cli/experiment.h"
#include "cli/ranks.h"
#include "trace/source.h"

namespace culprit::cli {

struct PipelineOptions {
  unsigned threads = 0;  ///< 0: all cores
  bool otf2 = false;     ///< write an archive, too
  blame::DisabledPasses disabled = {};
  bool verify = false;              ///< look at what each pass left
  bool last_alone = false;          ///< as in blame::AnalyzeOptions
  bool profile = false;             ///< of the profile alone, even where there is a trace
  uint64_t memory = 0;              ///< bytes that the analysis may take; 0: what is free
  Transport* ranks = nullptr;       ///< that analyse together; null: there is but this one
  TaskForOthers* others = nullptr;  ///< if there are several
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Collective.
Result<blame::Findings> analyze_trace(const trace::Source& source, const PipelineOptions& options,
                                      unsigned threads, Losses& losses);

/// Of the profile that processes kept, or that their records make.
Result<blame::Findings> analyze_profile(const std::filesystem::path& experiment,
                                        const ExperimentInfo& info, const PipelineOptions& options,
                                        assemble::RunFacts& facts);

/// The folder of an experiment's archive.
std::filesystem::path archive_folder(const std::filesystem::path& experiment);
/// Writes an archive into a folder, and says so.
Result<void> write_archive(const trace::Source& source, const std::filesystem::path& folder,
                           unsigned threads);

}  // namespace culprit::cli
