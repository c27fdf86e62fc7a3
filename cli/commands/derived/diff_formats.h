// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A difference of runs as continuous integration shows it: a comment in Markdown, or a test result
// in JUnit's XML.
#pragma once

#include <optional>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::cli {

/// The condition that was given, and the sentence that says how it is met; none if it is not.
struct JudgedChange {
  std::string condition;  ///< empty: none was given
  std::optional<std::string> met;
};

std::string change_in_markdown(const blame::Findings& difference, const JudgedChange& judged);
std::string change_in_junit(const blame::Findings& difference, const JudgedChange& judged);

}  // namespace culprit::cli
