// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How reliable the time of a call path is: whether it comes from events, or from stack samples, and
// from how many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// With fewer samples, a name may be there by chance, and its time be wrong by half.
inline constexpr uint64_t kHandful = 5;

class Evidence {
 public:
  explicit Evidence(const Findings& findings);

  /// Returns the number of samples behind the path's time, on all locations; nothing if the time
  /// comes from events.
  std::optional<uint64_t> samples(CallPathId path) const;
  /// Returns a sentence on the samples; empty if the time comes from events.
  std::string sentence(CallPathId path) const;

 private:
  struct Known {
    double time_s = 0;
    double sampled_s = 0;
    uint64_t samples = 0;
  };
  std::vector<Known> known_;  ///< by CallPathId
};

}  // namespace culprit::blame
