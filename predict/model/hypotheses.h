// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The formulas that are tried, and what each is worth before anything was measured: that a
// parameter has an effect is as likely as that it has none, and all formulas with the same
// parameters are alike.
#pragma once

#include <span>
#include <vector>

#include "predict/model/normal_form.h"

namespace culprit::predict {

/// Parameters that may vary at once.
inline constexpr size_t kMostParameters = 3;

/// A form that a model may have.
struct CandidateForm {
  std::vector<Term> terms;  ///< none: a constant
  double prior = 0;
};

/// Constants, and of each choice of parameters the sums and products of their shapes.
/// `shapes_of[p]`: those worth trying of a parameter.
std::vector<CandidateForm> candidates(std::span<const std::vector<Shape>> shapes_of);

}  // namespace culprit::predict
