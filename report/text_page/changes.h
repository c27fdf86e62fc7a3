// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of culprit diff, as a page.
#pragma once

#include <filesystem>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// The tables of the page of text alone.
std::string change_tables(const blame::Findings& findings);

/// The page of text; names are printable already.
std::string change_page(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::report
