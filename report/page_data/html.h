// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The page of `culprit view`: the template, which page/ builds from its sources, with a run's data
// in it. One file without anything from elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::report {

/// Deflated, with gzip's head and tail: what a browser's DecompressionStream reads.
Result<std::string> gzip(std::string_view data);

/// `packed` as pack_page() makes it.
Result<std::string> html_page(std::string_view packed);

}  // namespace culprit::report
