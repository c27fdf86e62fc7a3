// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much the collector may take in this process, for all threads together: memory and room for
// records on disk, which are settings (base/settings.def). One half of the memory is for the
// windows into which records go, the other for remembered call paths. A thread can always record:
// once the half is spent, it gets the smallest window, and forgets paths rather than take more. MT:
// any thread. Async-signal-safe.
#pragma once

#include <cstddef>

namespace culprit::collector::budget {

/// Takes the window for one more thread and returns its size in bytes: kRawWindow, or that halved a
/// few times.
size_t take_window();
/// Takes kRawWindow, even beyond the limit.
void take_whole_window();
void give_back_window(size_t bytes);

/// False, and nothing taken, if less is left of the half for call paths.
bool take_for_paths(size_t bytes);
/// Takes the minimum that a thread needs, even beyond the limit.
void take_first_for_paths(size_t bytes);
void give_back_for_paths(size_t bytes);

/// False, and nothing taken, beyond the limit. A thread's first window fits unless there are too
/// many threads for the limit, so it need not be requested.
bool take_on_disk(size_t bytes);
void take_first_on_disk(size_t bytes);
void give_back_on_disk(size_t bytes);

}  // namespace culprit::collector::budget
