// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Columns that a text takes on a page: its code points in UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace culprit::report {

size_t columns(std::string_view text);
/// The first, or last, `count` of them.
std::string_view first_columns(std::string_view text, size_t count);
std::string_view last_columns(std::string_view text, size_t count);

}  // namespace culprit::report
