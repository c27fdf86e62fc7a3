// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Helper threads: the program made them, they let nobody go on but by their end, and for nine
// tenths of their time they sleep, with a look now and then whether they are still needed. Such a
// thread takes as long as everything else does; what it was before somebody came to join it
// determines nothing. So it is there from the moment on at which it is joined, and was in the hands
// of the one who joins it until then.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// Who joins a helper and when; none: the thread is no helper. If nobody had to wait for it, it is
/// the process's first thread, at its end.
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
