// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes of an analysis that may be left out, by name: the detectors
// (replay/model/detectors.def) and the explanations (explanations.def). For debugging, and for
// measuring the cost of a pass.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/model/detectors.h"

namespace culprit::blame {

struct ExplanationText {
  std::string_view id;
  uint64_t steps;
  std::string_view what;
};

inline constexpr uint64_t kEssential = UINT64_MAX;
inline constexpr std::array kExplanations = {
#define EXPLANATION(id, steps, what) ExplanationText{#id, steps, what},
#include "blame/explain/explanations.def"
#undef EXPLANATION
};

struct DisabledPasses {
  replay::DetectorSet detectors;
  std::bitset<kExplanations.size()> explanations;

  bool any() const { return detectors.any() || explanations.any(); }
};

/// The name of an optional pass ("detect.openmp", "locks"), and what it finds.
struct PassText {
  std::string name;
  std::string_view what;
};
std::vector<PassText> optional_passes();

/// False if there is no such pass.
bool disable(DisabledPasses& passes, std::string_view name);

/// Their names, joined by commas.
std::string names_of(const DisabledPasses& passes);

/// The time allowed for parts of an analysis that can be given up: a share of the time for reading
/// the trace, plus an amount that suffices for all small runs.
struct Allowance {
  uint64_t events = 0;
  double read_s = 0;  ///< CPU time
  double scale = 1;   ///< for tests: of everything

  uint64_t steps(uint64_t an_event, uint64_t least = kLeastSteps) const {
    if (an_event == kEssential) return an_event;
    return static_cast<uint64_t>(scale * static_cast<double>(least + an_event * events));
  }
  double cpu_s() const { return scale * (kLeast_s + kShare * read_s); }

  static constexpr uint64_t kLeastSteps = 20'000'000;
  static constexpr double kLeast_s = 5, kShare = 4;
};

/// Returns a note of a run, which names the parts of its analysis that were given up (`what`).
std::string given_up_note(const std::vector<std::string_view>& what);

}  // namespace culprit::blame
