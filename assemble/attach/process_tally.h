// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Adds up the looks at one process. Looks are kept as addresses until there are many, and then
// named together: memory is bounded however long it takes. MT: one thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assemble/attach/seen.h"
#include "assemble/attach/target.h"
#include "assemble/look/process_watch.h"

namespace culprit::assemble::attach {

/// What threads of one process did at one moment, and for how long that stands.
struct NamedLook {
  double seconds = 0;
  struct Thread {
    uint32_t tid = 0;
    uint32_t number = 0;  ///< as the process sees it
    SeenDoing seen;
  };
  std::vector<Thread> threads;
};

/// Whose work was waited for.
struct Blame {
  using Who = std::pair<uint32_t, Spot>;
  struct Cost {
    double waiting_s = 0;
    double locks_s = 0;
  };
  std::map<Who, Cost> costs;
  double waiting_s = 0, nobody_s = 0, somebody_s = 0;

  void add(const NamedLook& look);
};

class ProcessTally {
 public:
  explicit ProcessTally(Target target);

  /// False: the process has ended.
  bool look(look::ShortStops& stops);
  /// To be called once, behind the last look.
  SeenProcess finish();
  const Blame& blame() const { return blame_; }

 private:
  /// The scheduler's account of a thread, and what it did at how many looks.
  struct Thread {
    std::string name;
    uint32_t number = 0;
    uint64_t first_ns = 0, last_ns = 0;
    uint64_t first_cpu_ns = 0, last_cpu_ns = 0;
    uint64_t first_without_ns = 0, last_without_ns = 0;
    uint64_t looks = 0;
    std::map<Spot, uint64_t> spots;
  };

  void account(const look::ProcessLook& look);
  void read_maps();
  void fold();
  SeenThread seen_thread(uint32_t tid, const Thread& thread) const;

  Target target_;
  look::ProcessWatch watch_;
  std::string first_maps_, maps_;
  uint64_t maps_read_ns_ = 0;
  uint64_t begin_ns_ = 0, end_ns_ = 0;  ///< of the first look, and of the last
  bool ended_ = false;
  uint64_t places_ = 0, nameless_places_ = 0;
  look::ProcessLook last_;
  std::vector<look::ProcessLook> looks_;  ///< not named yet
  size_t stacks_ = 0;                     ///< in these
  uint64_t folded_until_ns_ = 0;
  std::map<uint32_t, Thread> threads_;
  Blame blame_;
};

}  // namespace culprit::assemble::attach
