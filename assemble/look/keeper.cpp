// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The cost of a look is the time that this thread has been on a core: on a busy machine the look
// takes longer.
#include "assemble/look/keeper.h"

#include <time.h>

#include <algorithm>
#include <exception>

#include "assemble/look/fault_net.h"
#include "assemble/look/look.h"
#include "assemble/look/note.h"
#include "base/log.h"

namespace culprit::assemble::look {
namespace {

constexpr log::Component kLog("look");

std::chrono::steady_clock::duration time_on_core() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void WhereaboutsKeeper::look() {
  const GuardedPath raw = GuardedPath(experiment_) / "raw";
  last_ = look_at_run(raw, Which::below, last_);
  for (const ProcessLook& process : last_.processes) {
    write_note(raw / process.folder, process);
  }
}

void WhereaboutsKeeper::step() {
  constexpr int kRarerThanItsCost = 100;
  constexpr unsigned kEarlyLooks = 6;  // a run may hang, and be killed, soon
  constexpr Clock::duration kLongestPause = std::chrono::seconds(8);
  if (Clock::now() < next_ || is_over_) return;
  const Clock::duration begin = time_on_core();
  try {
    is_over_ = !survives([this] { look(); });
    if (is_over_) {
      kLog.warning(
          "a look at the program's threads failed, so there are no more: if the program is killed, "
          "the report may not say in which call it stood. The program itself goes on");
    }
  } catch (const std::exception&) {  // no memory: the program goes on, and its end is to be seen
    last_ = {};
  }
  const Clock::duration cost = time_on_core() - begin;
  const bool is_early = ++looks_ < kEarlyLooks;
  next_ = Clock::now() + (is_early ? pause_ : std::max(pause_, cost * kRarerThanItsCost));
  pause_ = std::min(pause_ + pause_ / 4, kLongestPause);
}

}  // namespace culprit::assemble::look
