// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Text that a terminal shows and does not obey: names come from programs and from other people's
// traces, and may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace culprit {

/// `text` with control characters (C0, DEL, C1) but those in `kept`, characters that reverse or
/// hide others (bidirectional controls, separators of lines, invisible ones), and bytes that are
/// not UTF-8, written as escapes as in C ("\n", "\x1b"). A printable text stays unchanged.
std::string printable(std::string_view text, std::string_view kept = {});

/// `text` with bytes that are not UTF-8 as such escapes, and all else as it is: what may go into a
/// file of text. Names are made so once, where they come in (trace/valid_names.h).
std::string valid_utf8(std::string_view text);
bool is_utf8(std::string_view text);

/// JSON that means the same and is safe to show: what printable() would escape within its strings
/// is escaped as JSON does it.
std::string printable_json(std::string_view json);

}  // namespace culprit
