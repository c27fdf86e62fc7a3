// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings of several runs as findings again: sums with weights, and what one has beside another
// (Song et al. 2004, section 3.2: mean, difference, merge). Times and amounts are added up; counts
// are those of the inputs with positive weight. What is no sum (segments of the critical path,
// single waits, distributions, diagnoses, devices, stages) survives in a merge alone.
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

/// The first as it is, and of the others the counters that those before have not, with the call
/// paths and locations that these need.
Findings merge(std::span<const Findings* const> inputs);

/// A sentence if the runs are hardly those of one program: their programs have other names, no call
/// path is in all of them, or, unless `of_any_size`, they have other numbers of ranks. "" else.
std::string unlike(std::span<const Findings* const> runs, bool of_any_size = false);
/// How such a sentence begins: among notes it is told by that.
inline constexpr std::string_view kUnlike = "These runs are hardly comparable: ";

}  // namespace culprit::blame
