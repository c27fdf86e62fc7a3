// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A cancelled thread ends at its next system call of many kinds: that must not be one of ours, with
// a log half written, or with the result of the program's call lost.
#pragma once

#include <pthread.h>

namespace culprit::collector::sampling {

/// Defers the cancellation of the thread during the life of this object.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace culprit::collector::sampling
