// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit diff found, for people: in a sentence, and as a page.
#pragma once

#include <filesystem>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// What got worse, what better, and whether that is more than noise. Of findings with changes.
std::string change_sentence(const blame::Findings& findings);

/// "The run takes 0.30 s (12.3 %) less: 2.14 s instead of 2.44 s".
std::string change_of_wall(const blame::Findings& findings);

/// The tables of the page of text alone.
std::string change_tables(const blame::Findings& findings);

/// The page of text; names are printable already.
std::string change_page(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::report
