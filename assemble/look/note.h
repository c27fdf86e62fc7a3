// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The last look at a process, kept among its records (`raw/<process>/whereabouts`) for when it can
// no longer be inspected: it was killed, or runs where the reader is not or has no permission. The
// format is lines of words, the first of which names the line's content; a file of another version
// or without sense counts as missing.
#pragma once

#include <optional>

#include "assemble/look/thread_look.h"
#include "base/files/guarded_path.h"

namespace culprit::assemble::look {

/// False if it could not be written; then the one before stays.
bool write_note(const GuardedPath& process_folder, const ProcessLook& look);
std::optional<ProcessLook> read_note(const GuardedPath& process_folder);
/// All below `raw`.
Look read_notes(const GuardedPath& raw);

}  // namespace culprit::assemble::look
