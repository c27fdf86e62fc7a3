// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Makes an excerpt of a whole run small enough for a page.
#pragma once

#include "blame/excerpt/excerpt.h"
#include "blame/findings/findings.h"

namespace culprit::report {

/// Activities, and likewise waits and messages, that a page can hold.
inline constexpr size_t kMostSingleEvents = 200'000;

/// Whether their locations and call paths are the same, so that ids mean the same in both.
bool same_run(const blame::Excerpt& excerpt, const blame::Findings& findings);

/// Returns the rows of an excerpt that overlap a part of it, uncut.
blame::Excerpt part_of(const blame::Excerpt& excerpt, const blame::ExcerptSelection& selection);

/// Keeps all of the windows that matter (around the worst waits and the slowest iterations) as far
/// as there is room, and of the rest the longest. What is dropped counts as left out.
void reduce(blame::Excerpt& excerpt, const blame::Findings& findings,
            size_t most = kMostSingleEvents);

}  // namespace culprit::report
