// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Text that a terminal shows and does not obey: names come from programs and from other people's
// traces, and may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace culprit {

/// `text` with control characters (C0, DEL, C1) but those in `kept`, and bytes that are not UTF-8,
/// written as escapes as in C ("\n", "\x1b").
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace culprit
