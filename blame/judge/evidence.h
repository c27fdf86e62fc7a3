// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How well the time of a call path is known: from events, or from samples of the stack, and then
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

  /// How many samples stand behind its time, on all locations. Nothing if events tell it.
  std::optional<uint64_t> samples(CallPathId path) const;
  /// A sentence on them; empty if events tell it.
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
