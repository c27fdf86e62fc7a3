// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The passes of an analysis that may be left out, by name: the detectors (replay/detectors.def) and
// the explanations (explanations.def). For those who look for a fault, or measure what a pass
// costs.
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "replay/detectors.h"

namespace culprit::blame {

struct ExplanationText {
  std::string_view id, what;
};

inline constexpr std::array kExplanations = {
#define EXPLANATION(id, what) ExplanationText{#id, what},
#include "blame/explanations.def"
#undef EXPLANATION
};

struct DisabledPasses {
  replay::DetectorSet detectors;
  std::bitset<kExplanations.size()> explanations;

  bool any() const { return detectors.any() || explanations.any(); }
};

/// Of an optional pass: "detect.openmp", "locks"; and what it finds.
struct PassText {
  std::string name;
  std::string_view what;
};
std::vector<PassText> optional_passes();

/// False if there is no such pass.
bool disable(DisabledPasses& passes, std::string_view name);

/// Their names, joined by commas.
std::string names_of(const DisabledPasses& passes);

}  // namespace culprit::blame
