// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where threads slept, as the watcher thread saw it (RawKind::seen_asleep). It looked now and then,
// so both ends are as far apart as they may be; the thread's own records are more precise. Of a
// process that was killed, the last look from outside shows where its threads slept then.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assemble/look/thread_look.h"
#include "assemble/raw/reader.h"

namespace culprit::assemble {

struct SeenAsleep {
  uint64_t from = 0;                            ///< ticks, at the earliest
  uint64_t seen = 0;                            ///< it slept for sure
  uint64_t until = 0;                           ///< at the latest
  const std::vector<uint64_t>* path = nullptr;  ///< return addresses, outermost first
  std::string call;                             ///< the system's; empty: its own wish to sleep
  bool in_file = false;
  std::string file;   ///< its name, if it is known
  bool open = false;  ///< nobody saw it end: it may have lasted until the process's end
};

/// Those of a process. MT: read only once read.
class Sleepers {
 public:
  /// Adds the sleeps in a log of no thread.
  void read(const RawLog& log);
  /// Adds the sleeps of the last look at the process.
  void add(const look::ProcessLook& look, const trace::RawProcess& process);
  /// Of the thread with this number of the system's, in order of time.
  std::span<const SeenAsleep> of(uint32_t tid) const;
  /// Total length in ticks; a sleep that is recorded twice counts once.
  uint64_t length_of(uint32_t tid) const;
  /// All return addresses.
  void add_addresses(std::unordered_set<uint64_t>& to) const;

 private:
  void sort();

  std::unordered_map<uint32_t, std::vector<SeenAsleep>> by_thread_;
  std::deque<std::vector<uint64_t>> paths_;
};

/// The part of a sleep that lies between two records of its thread.
struct PartAsleep {
  const SeenAsleep& sleep;
  uint64_t begin, end;  ///< ticks
};

/// Walks along a thread's records. A log may have the records of several threads, one after the
/// other.
class SleepsBetween {
 public:
  SleepsBetween(const RawLog& log, const trace::RawProcess& process, const Sleepers& all);

  /// The sleeps before `record`, which comes next.
  std::vector<PartAsleep> before(const RawRecord& record);
  /// The sleeps behind the last record, until `ticks`.
  std::vector<PartAsleep> rest(uint64_t ticks);

 private:
  void begin(uint32_t tid, uint64_t ticks);
  std::vector<PartAsleep> take(uint64_t until);

  const Sleepers& all_;
  std::span<const SeenAsleep> sleeps_;
  size_t next_ = 0;
  uint64_t awake_ = 0;  ///< ticks of a moment when the thread was awake: its last record, or the
                        ///< end of a sleep
};

}  // namespace culprit::assemble
