// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings of several runs combined into new findings: weighted sums, and merges of what each run
// has (Song et al. 2004, section 3.2: mean, difference, merge). Times and amounts are added up;
// counts are those of the inputs with positive weight. Data that are not sums (segments of the
// critical path, single waits, distributions, diagnoses, devices, stages) survive only in a merge.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

struct WeightedFindings {
  const Findings* findings;
  double weight;
};

/// Sum of weight * findings. `inputs` is not empty.
Findings combine(std::span<const WeightedFindings> inputs);

/// The mean of all.
Findings mean_of(std::span<const Findings* const> inputs);

/// Returns the first as it is, plus from each of the others the counters that all before it lack,
/// with the call paths and locations that these counters need.
Findings merge(std::span<const Findings* const> inputs);

/// Returns a sentence if the runs are hardly those of one program: their programs have different
/// names, no call path is in all of them, or, unless `of_any_size`, their numbers of ranks differ.
/// Returns "" otherwise.
std::string unlike(std::span<const Findings* const> runs, bool of_any_size = false);
/// The beginning of such a sentence, by which it is recognised among notes.
inline constexpr std::string_view kUnlike = "These runs are hardly comparable: ";

}  // namespace culprit::blame
