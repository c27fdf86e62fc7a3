// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parent numbers its children before it forks, so that both sides know the number; it records
// the fork afterwards, since only its first fork may have made it worth watching.
#include "collector/sampling/processes/forks.h"

#include <unistd.h>

#include <atomic>

#include "collector/process/recorder.h"
#include "collector/sampling/processes/node_wakes.h"
#include "collector/sampling/thread_waits.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

namespace {

constinit std::atomic<uint64_t> g_forks{0};

/// The child of the fork that this thread is in.
struct Forking {
  uint64_t time, object;
};
constinit thread_local Forking t_forking __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

void note_forking() {
  constexpr unsigned kNumberBits = 24;
  const uint64_t number = g_forks.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t of_all = static_cast<uint64_t>(getpid()) << kNumberBits | number;
  t_forking = {now(), object_of(trace::ObjectKind::fork, of_all)};
}

void say_forked() {
  if (t_forking.object != 0) say_woke(t_forking.object, t_forking.time);
  t_forking = {};
}

void note_forked() {
  note_made(t_forking.object);
  t_forking = {};
}

}  // namespace culprit::collector::sampling
