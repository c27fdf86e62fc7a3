// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about one location's waits for other threads: joins, condition
// variables, semaphores, locks of POSIX threads, and pipes, locks of files and others by which
// processes wait for each other. Objects are numbers (trace/objects.h); lists are in the order of
// time.
#pragma once

#include <cstdint>

#include "base/column.h"
#include "base/time.h"
#include "replay/model/calls.h"

namespace culprit::replay {

/// A call that waited for an object.
struct AwaitedObject {
  CallIndex call;
  uint64_t object;
};

/// A moment from which waiters of an object could continue, or at which the thread with this number
/// began.
struct ObjectMoment {
  Time time;
  uint64_t object;
};

struct ThreadFacts {
  Column<AwaitedObject> awaited;
  Column<ObjectMoment> woke;
  Column<ObjectMoment> begun;  ///< this thread was made where another woke this object
};

}  // namespace culprit::replay
