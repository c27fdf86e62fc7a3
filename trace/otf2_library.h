// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2 as a library within a tool: it prints its complaints on the terminal and knows no threads
// unless told otherwise. Every use of it begins with silence_otf2().
#pragma once

#include <otf2/otf2.h>

#include <string>

namespace culprit::trace {

/// From now on OTF2's messages are kept instead of printed. MT: safe, at any time.
void silence_otf2();

/// What OTF2 complained of first on this thread since the last call, in its words; empty if
/// nothing.
std::string take_otf2_complaint();

/// Makes the handle usable from several threads.
void lock_otf2(OTF2_Reader* reader);
void lock_otf2(OTF2_Archive* archive);

}  // namespace culprit::trace
