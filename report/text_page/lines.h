// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which lines of a function cost most, as far as samples found them.
#pragma once

#include <string>
#include <vector>

#include "blame/amount.h"
#include "blame/findings/findings.h"
#include "report/text_page/source.h"

namespace culprit::report {

/// A line with its part of the function's samples.
struct LineShare {
  const blame::FoundLine* line;
  blame::Proportion share;
};

/// The costliest first, `most` at most; none if no samples are known. Refers to the findings.
std::vector<LineShare> costliest_lines(const blame::Findings& findings,
                                       const blame::FoundCallPath& function, size_t most);

/// "Costliest lines of solve: 31 (62 % of its samples), 33 (20 %)."; "" if no line stands out.
std::string lines_sentence(const blame::Findings& findings, const blame::FoundCallPath& function);

/// The lines of source that cost most, with their numbers and shares; where no samples are known,
/// those with which the function begins, if its file is there.
std::string source_lines(const blame::Findings& findings, const blame::FoundCallPath& function,
                         Sources& sources);

}  // namespace culprit::report
