// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which threads sleep, and where: a thread sleeps if its account of time on a core has not changed
// between two looks. Sleeps in stand-ins, or in libraries of MPI, OpenMP and devices, are recorded
// by those or left out. All others go into a log of this class. It looks the less often the less
// there is to see, and costs a thousandth of one core at most, or of those that the process uses.
// MT: one thread looks; any may note that there is a new one.
#pragma once

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::sampling {

class SleepWatch {
 public:
  /// Makes the only instance in a process.
  static SleepWatch& begin(ThreadLog& log);
  /// New threads exist: they are to be listed again.
  static void note_thread();

  /// Looks at all threads. Returns nanoseconds until the next look.
  uint64_t look();
  /// Records threads that still sleep.
  void finish();

 private:
  struct Task;
  struct Account;
  struct Place;
  static Task* tasks();
  void list();
  void add(uint32_t number);
  bool look_at(Task& task, uint64_t time);
  bool see_moved(Task& task, const Account& account, uint64_t time);
  bool see_asleep(Task& task, uint64_t time);
  bool find_place(Task& task, const Place& place);
  void say(const Task& task, uint64_t until);
  uint64_t ticks(uint64_t nanoseconds) const;
  uint64_t next_pause(bool any_news);

  ThreadLog* log_ = nullptr;
  unsigned count_ = 0;
  unsigned looks_ = 0;
  uint32_t self_ = 0;
  uint64_t pause_ns_ = 0;
  uint64_t begin_ticks_ = 0, begin_ns_ = 0;
  double ticks_per_ns_ = 1;
};

}  // namespace culprit::collector::sampling
