// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Holds a mutex for the length of a scope, in which nothing foreign is called. A forked child may
// find it held by a thread that is not there, and what it guards half changed: so it is taken only
// where devices are recorded (is_on() of gpu/face.h), which they are not in a child of such a
// process.
#pragma once

#include <pthread.h>

namespace culprit::gpu {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace culprit::gpu
