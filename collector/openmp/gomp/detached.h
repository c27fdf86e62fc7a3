// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Detached tasks end when their body is over and their event is fulfilled, whichever comes last.
// The thread that fulfils it knows only the event; this table finds the task. MT: any thread.
#pragma once

#include <cstdint>

namespace culprit::collector::openmp::gomp {

/// The task of this number was created with this event. If very many events are pending, its event
/// is forgotten, and the task counts as ended with its body.
void expect_event(const void* event, uint64_t task);

/// The body of the event's task is over. False: the task has ended, too.
bool outlives_body(const void* event);

struct Fulfilled {
  uint64_t task;  ///< 0: the task is unknown
  bool body_is_over;
};
Fulfilled fulfil(const void* event);

}  // namespace culprit::collector::openmp::gomp
