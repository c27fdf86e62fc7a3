// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Input of commands that show an analysis: its findings, named by the experiment or the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::cli {

struct OpenFindings {
  std::filesystem::path folder;  ///< of the experiment, absolute
  blame::Findings findings;
};

/// Opens the findings of an experiment folder or a findings.db; of a long run, those of a window if
/// one is named, which is analyzed on `threads` threads (0: all cores). Error if there is none, or
/// the experiment has not been analyzed.
Result<OpenFindings> open_findings(const std::filesystem::path& input,
                                   std::optional<uint64_t> window = {}, unsigned threads = 0);

}  // namespace culprit::cli
