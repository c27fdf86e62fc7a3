// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a person reads first, and often alone: the run, what is lost and by whom, what could change
// that, what would shorten the run, and where to read on. About a hundred words; all else is on the
// full page (text.cpp).
#pragma once

#include <filesystem>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// `experiment` is where the findings lie; empty: nowhere.
std::string first_screen(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::report
