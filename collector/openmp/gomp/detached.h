// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Detached tasks end when their body is over and their event is fulfilled, whichever comes last.
// Whoever fulfils it knows only the event; this is where the task is found.
// MT: any thread.
#pragma once

#include <cstdint>

namespace culprit::collector::openmp::gomp {

/// The task of this number was created with this event. If very many are awaited, its event is
/// forgotten, and it is taken to end with its body.
void expect_event(const void* event, uint64_t task);

/// The body of the event's task is over. False: so is the task.
bool outlives_body(const void* event);

struct Fulfilled {
  uint64_t task;  ///< 0: not known
  bool body_is_over;
};
Fulfilled fulfil(const void* event);

}  // namespace culprit::collector::openmp::gomp
