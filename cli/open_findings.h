// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Input of commands that show an analysis: its findings, named by the experiment or the file.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::cli {

struct OpenFindings {
  std::filesystem::path folder;  ///< of the experiment, absolute
  blame::Findings findings;
};

/// Opens the findings of an experiment folder or a findings.db. Error if there is none, or the
/// experiment has not been analyzed.
Result<OpenFindings> open_findings(const std::filesystem::path& input);

}  // namespace culprit::cli
