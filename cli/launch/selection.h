// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What of a run is to be recorded, as the user says it on the command line, checked before anything
// is started; as the collector reads it (collector/recorder/selection.h,
// collector/recorder/environment.h); and in sentences, for the report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace culprit::cli {

struct Selection {
  std::string window;        ///< "10s..1m"
  std::string ranks;         ///< "0-3,8"
  std::string phase;         ///< "solve", "step:10-20"
  std::string without;       ///< "locks,samples"
  std::string exclude = {};  ///< "inner_*,operator?="
};

/// The environment of the measured program, name and value. Error: one of them makes no sense.
Result<std::vector<std::pair<std::string, std::string>>> variables_of(const Selection& selection);

/// What a reader of the result must know of it.
std::vector<std::string> sentences_of(const Selection& selection);

/// What `--without` knows, for its help.
std::string known_kinds();

}  // namespace culprit::cli
