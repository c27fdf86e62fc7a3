// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Helper threads: the program created them, they release other threads only by their end, and they
// sleep nine tenths of their time, waking only to check whether they are still needed. Such a
// thread lasts as long as the rest of the program; its activity before it is joined determines
// nothing. So its life begins when it is joined, and the joining thread is accountable for it until
// then.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// The thread that joins a helper, and when; none: the thread is no helper. If no thread had to
/// wait for it, it is the process's first thread, at its end.
struct Joined {
  LocationId by;
  Time at;
};

/// Finds the join of one of the program's own threads, whose call paths are already those of the
/// run. `is_nap`: by RegionId.
Joined find_join(const Run& run, LocationId id, const std::vector<bool>& is_nap);

/// Calls in which a thread sleeps until a time, or until something comes from outside.
std::vector<bool> nap_regions(const Run& run);

}  // namespace culprit::replay
