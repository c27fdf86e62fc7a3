// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The gain of a change of a run (predict/rerun/what_if.h), for people and for programs.
#pragma once

#include <string>

#include "predict/rerun/what_if.h"

namespace culprit::report {

/// Returns the changes, in words: "main/*/forces takes half of its time (x0.5) on rank 3".
std::string scenario_words(const predict::Scenario& scenario);

std::string prediction_text(const predict::Prediction& prediction,
                            const predict::Scenario& scenario);
std::string prediction_json(const predict::Prediction& prediction,
                            const predict::Scenario& scenario);

}  // namespace culprit::report
