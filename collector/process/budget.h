// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much the collector may take in this process, for all threads together: memory and room for
// records on disk, which are settings (base/settings.def). One half of the memory is for the
// windows into which records go, the other for what is remembered of call paths. A thread can
// always record: where the half is spent, it gets the smallest window, and forgets paths rather
// than take more. MT: any thread. Async-signal-safe.
#pragma once

#include <cstddef>

namespace culprit::collector::budget {

/// Bytes of the window for one more thread: kRawWindow, or that halved a few times. Taken.
size_t take_window();
/// kRawWindow, come what may.
void take_whole_window();
void give_back_window(size_t bytes);

/// False, and nothing taken, if the half for call paths has not so much left.
bool take_for_paths(size_t bytes);
/// What a thread cannot do without.
void take_first_for_paths(size_t bytes);
void give_back_for_paths(size_t bytes);

/// False, and nothing taken, beyond the limit. Of one thread's first window too little remains only
/// if there are too many threads for the limit, so it need not be asked for.
bool take_on_disk(size_t bytes);
void take_first_on_disk(size_t bytes);
void give_back_on_disk(size_t bytes);

}  // namespace culprit::collector::budget
