// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much memory the collector may take in this process, for all threads together, which is a
// setting (base/settings.def; room on disk: collector/bursts/node_page.h). One half is for the
// windows into which records go, the other for remembered call paths. A thread can always record:
// once the half is spent, it gets the smallest window, and forgets paths rather than take more. MT:
// any thread. Async-signal-safe.
#pragma once

#include <cstddef>

namespace culprit::collector::budget {

/// Takes the window for one more thread and returns its size in bytes: kRawWindow, or that halved a
/// few times, as long as it exceeds `most`.
size_t take_window(size_t most);
/// Takes kRawWindow, even beyond the limit.
void take_whole_window();
void give_back_window(size_t bytes);

/// False, and nothing taken, if less is left of the half for call paths.
bool take_for_paths(size_t bytes);
/// Takes the minimum that a thread needs, even beyond the limit.
void take_first_for_paths(size_t bytes);
void give_back_for_paths(size_t bytes);

}  // namespace culprit::collector::budget
