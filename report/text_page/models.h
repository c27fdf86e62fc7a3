// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of culprit model, as a page.
#pragma once

#include <filesystem>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// The page of text; names are printable already. `experiment` is empty if nothing was kept.
std::string model_page(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::report
