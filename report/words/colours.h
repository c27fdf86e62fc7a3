// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Colours for a page on a terminal. They only repeat the words, so the page is complete without
// them.
#pragma once

#include <string>
#include <string_view>

namespace culprit::report {

/// The same page with the escape sequences of ECMA-48: headings bold, shares of time in the warm
/// colour of waiting, errors and losses red, warnings yellow, hints dim. Names in a page are
/// printable (base/printable.h), so no sequence in it is anybody else's.
std::string coloured(std::string_view page);

}  // namespace culprit::report
