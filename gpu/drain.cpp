// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread with all signals blocked, made at the first use, and a condition to wake it. Every wait
// for it has a limit.
#include "gpu/drain.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "collector/process/recorder.h"
#include "gpu/face.h"

namespace culprit::gpu {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortest{10};
constexpr milliseconds kLongest{100};

/// Requests and answers are counted, so that several threads may ask.
struct Drain {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
  pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
  Collect collect = nullptr;
  Collect last = nullptr;
  unsigned requests = 0;
  unsigned answers = 0;
  bool hurried = false;
  bool running = false;
  bool stopping = false;
};

Drain g_drain;  // constant-initialised, and never torn down
pthread_t g_thread;

timespec in(milliseconds duration) {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const auto nanoseconds = time.tv_nsec + (duration.count() % 1000) * 1'000'000;
  time.tv_sec += duration.count() / 1000 + nanoseconds / 1'000'000'000;
  time.tv_nsec = nanoseconds % 1'000'000'000;
  return time;
}

/// Called with the mutex held: runs the requested work without the mutex.
void answer(Drain& drain) {
  const unsigned request = drain.requests;
  const Collect last = drain.last;
  pthread_mutex_unlock(&drain.mutex);
  if (last != nullptr) last();
  pthread_mutex_lock(&drain.mutex);
  drain.answers = request;
  pthread_cond_broadcast(&drain.answered);
}

void* run(void*) {
  Drain& drain = g_drain;
  milliseconds pause = kShortest;
  pthread_mutex_lock(&drain.mutex);
  while (!drain.stopping || drain.requests != drain.answers) {
    const timespec until = in(pause);
    if (drain.requests == drain.answers && !drain.hurried) {
      pthread_cond_clockwait(&drain.asked, &drain.mutex, CLOCK_MONOTONIC, &until);
    }
    if (drain.requests != drain.answers) {
      answer(drain);
      continue;
    }
    drain.hurried = false;
    pthread_mutex_unlock(&drain.mutex);
    const bool some = collector::is_active() && drain.collect();
    pause = some ? kShortest : std::min(2 * pause, kLongest);
    pthread_mutex_lock(&drain.mutex);
  }
  drain.running = false;
  pthread_mutex_unlock(&drain.mutex);
  return nullptr;
}

bool create_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool made = pthread_create(&g_thread, nullptr, run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (made) {
    pthread_setname_np(g_thread, "culprit");
    pthread_detach(g_thread);
  }
  return made;
}

}  // namespace

void start_drain(Collect collect) {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  g_drain.collect = collect;
  g_drain.running = create_thread();
}

void hurry_drain() {
  Drain& drain = g_drain;
  pthread_mutex_lock(&drain.mutex);
  drain.hurried = true;
  pthread_cond_signal(&drain.asked);
  pthread_mutex_unlock(&drain.mutex);
}

bool drain_now(Collect last, milliseconds limit, bool stop) {
  if (!is_on()) return true;
  Drain& drain = g_drain;
  const timespec until = in(limit);
  pthread_mutex_lock(&drain.mutex);
  if (!drain.running) {
    pthread_mutex_unlock(&drain.mutex);
    return true;
  }
  drain.last = last;
  drain.stopping = drain.stopping || stop;
  const unsigned request = ++drain.requests;
  pthread_cond_signal(&drain.asked);
  int status = 0;
  // Requests that come together are answered together.
  while (static_cast<int>(drain.answers - request) < 0 && status == 0) {
    status = pthread_cond_clockwait(&drain.answered, &drain.mutex, CLOCK_MONOTONIC, &until);
  }
  const bool done = static_cast<int>(drain.answers - request) >= 0;
  pthread_mutex_unlock(&drain.mutex);
  if (!done) device_records_lost(RawDeviceLoss::hung_flush);
  return done;
}

}  // namespace culprit::gpu
