// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The findings of a run at this moment, whether or not it goes on. Nothing is written into its
// experiment, and the program is not touched: its records lie in files that can be read at any
// moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::cli {

/// What findings of a run that goes on are made of. A trace says who made whom wait, but each look
/// reads all of it, and it is whole only at first; a profile has the whole run, in constant size.
enum class Basis : uint8_t {
  whichever,  ///< the trace while it has all of the run, then the profile
  profile,
};

struct Now {
  blame::Findings findings;
  bool runs = false;    ///< the program did, when it was looked at
  double at_s = 0;      ///< seconds since 1970, when reading began
  double newest_s = 0;  ///< likewise, of the newest of what the findings are made of; 0: unknown
  double took_s = 0;    ///< to read and to analyze
  bool of_profile = false;
  /// A sentence, if the run seems to hang: which calls have not returned for long, and what says
  /// more. Else empty.
  std::string hangs;
};

/// The name of an experiment's folder.
std::string experiment_name(const std::filesystem::path& experiment);

/// Seconds since 1970.
double wall_clock_s();

/// Of findings of a run that goes on: what `hangs` is to be.
std::string hang_in_words(const blame::Findings& findings, const std::string& experiment);

/// Error if nothing has been recorded yet, or this is no experiment.
Result<Now> look_now(const std::filesystem::path& experiment, unsigned threads,
                     Basis basis = Basis::whichever);

}  // namespace culprit::cli
