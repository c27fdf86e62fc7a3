// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits in one-sided communication. Fences are collective operations (collectives.cpp).
//
//   late post      the call of an access epoch that was under way when a target posted its window:
//                  the start, or what does not come back before it (an operation on that target,
//                  the completion)
//   early wait     MPI_Win_wait waits for the last origin to enter MPI_Win_complete; from the end
//                  of that origin's last access on it is a late complete
//   spinning       for a lock of the program's own (spin_locks.h)
//   lock           the call of a lock's epoch that was under way when the last holder of a
//                  conflicting lock entered its unlock
//
// The first two as in KOJAK and Scalasca (Kühnal, Hermanns, Mohr, Wolf: Specification of
// Inefficiency Patterns for MPI-2 One-Sided Communication, 2006), which leave open where the origin
// waits. No record says which process held a lock before which. A process that enters its unlock
// while another is in its lock call has held the lock; and as conflicting locks exclude each other,
// the order in which they were released is the order in which they were held.
//
// First each process collects its epochs; then those of a window are matched, windows in parallel,
// each by one rank; then each process finds which of its calls had to wait, from the results of
// that matching.
#include <algorithm>
#include <tuple>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "replay/detect/detection.h"
#include "replay/detect/progress/one_sided_helpers.h"
#include "replay/detect/spin_locks.h"
#include "replay/match/rma_epochs.h"

namespace culprit::replay {

namespace {

/// The event that one epoch of a process needed happened at `until`.
struct Awaited {
  ProcessId process;
  size_t first, last;  ///< acts of the epoch
  uint32_t target;     ///< as in RmaFact
  Pattern pattern;
  Time until;
  LocationId cause;
};

/// The results of matching the epochs of one window.
struct WindowResult {
  std::vector<Awaited> awaited;
  Outbox box;
  ProgressEvidence evidence;
};

class WindowMatcher {
 public:
  WindowMatcher(const Run& run, const std::vector<RmaEpochs>& epochs, WindowId window,
                const Detection& out, WindowResult& told)
      : run_(run), epochs_(epochs), out_(out), told_(told) {
    const CommId comm = run.definitions->windows[window.index()].comm;
    for (ProcessId member : run.definitions->comms[comm.index()].members) {
      rank_of_.set(member.index(), static_cast<uint32_t>(rank_of_.size()));
    }
  }

  void match(const WindowEpochs& window) {
    match_exposures(window);
    match_locks(window.locks);
  }

 private:
  void match_exposures(const WindowEpochs& window) {
    const std::vector<MetEpochs> met = meet_epochs(run_, epochs_, window);
    for (const MetEpochs& one : met) post(one);
    for (size_t i = 0, end; i < met.size(); i = end) {
      size_t last = i;
      for (end = i + 1; end < met.size() && met[end].target == met[i].target &&
                        met[end].exposure == met[i].exposure;
           ++end) {
        if (access(met[end]).complete.enter > access(met[last]).complete.enter) last = end;
      }
      wait(exposure(met[i]), access(met[last]));
    }
  }

  const AccessEpoch& access(const MetEpochs& met) const {
    return epochs_[met.origin.index()].accesses[met.access];
  }
  const ExposureEpoch& exposure(const MetEpochs& met) const {
    return epochs_[met.target.index()].exposures[met.exposure];
  }

  void post(const MetEpochs& met) {
    const AccessEpoch& epoch = access(met);
    const ExposureEpoch& other = exposure(met);
    told_.awaited.push_back({met.origin, epoch.first, epoch.last, rank_of_.find(met.target.index()),
                             pattern("mpi.rma.late_post"), other.post.enter, other.posted_by});
    const Assisted one = completes_with(run_, epoch, other, met.target);
    if (met.origin != met.target && out_.needs_judging(one, told_.evidence)) {
      told_.box.assisted(one);
    }
  }

  /// The time after the last access is a separate wait: origin and target count as synchronised
  /// when the access ends.
  void wait(const ExposureEpoch& exposure, const AccessEpoch& last) {
    const Time until = last.complete.enter;
    // A call outside of every region lasts no time.
    const Time since = std::min(exposure.wait.enter, exposure.asked);
    if (until <= since || !exposure.wait.path.valid()) return;
    Call rest = exposure.wait;
    const RegionId region = run_.callpaths[rest.path].region;
    if (asking_region_of(run_.regions[region.index()]).polls) {
      if (exposure.asked == Time::max()) return;
      rest.enter = std::max(exposure.asked, exposure.post.leave);
      told_.box.wait(exposure.waited_by, pattern("mpi.polling"), rest, until, last.location);
      return told_.box.meet(exposure.waited_by, last.location, std::min(until, rest.leave));
    }
    const Time accessed = std::min(last.last_access, until);
    if (accessed > rest.enter) {
      told_.box.wait(exposure.waited_by, pattern("mpi.rma.early_wait"), rest, accessed,
                     last.location);
      told_.box.meet(exposure.waited_by, last.location, std::min(accessed, rest.leave));
      rest.enter = accessed;
    }
    if (accessed < until) {
      told_.box.wait(exposure.waited_by, pattern("mpi.rma.late_complete"), rest, until,
                     last.location);
    }
    told_.box.meet(exposure.waited_by, last.location, std::min(until, rest.leave));
  }

  /// The last unlock so far of some locks.
  struct Last {
    Time enter = Time::min();
    const LockEpoch* epoch = nullptr;
    void see(const LockEpoch& lock) {
      if (lock.unlock.enter > enter) *this = {lock.unlock.enter, &lock};
    }
  };
  /// The locks of one window that have been given back so far.
  class Released {
   public:
    void see(const LockEpoch& lock) {
      if (lock.target == RmaFact::kAllTargets) return all_.any.see(lock);
      OfTarget& target = of(lock.target);
      target.any.see(lock);
      if (!lock.exclusive) return;
      target.exclusive.see(lock);
      all_.exclusive.see(lock);
    }
    /// Returns the last released lock that conflicts with this one.
    const Last& before(const LockEpoch& lock) {
      if (lock.target == RmaFact::kAllTargets) return all_.exclusive;
      const OfTarget& target = of(lock.target);
      if (!lock.exclusive) return target.exclusive;
      return all_.any.enter > target.any.enter ? all_.any : target.any;
    }

   private:
    struct OfTarget {
      Last exclusive, any;
    };
    OfTarget& of(uint32_t target) {
      const uint32_t place = place_of_.at(target, static_cast<uint32_t>(targets_.size()));
      if (place == targets_.size()) targets_.emplace_back();
      return targets_[place];
    }

    std::vector<OfTarget> targets_;
    FlatMap place_of_;
    OfTarget all_;  // exclusive: of any target; any: locks of all targets, which are shared
  };

  using Lock = std::pair<const LockEpoch*, ProcessId>;

  void match_locks(const std::vector<EpochRef>& refs) {
    std::vector<Lock> locks;
    for (const auto& [process, epoch] : refs) {
      locks.push_back({&epochs_[process.index()].locks[epoch], process});
    }
    wait_in_locks(locks);
    wait_later(locks);
  }

  /// Libraries that take a lock at once: a process that unlocks during another's lock call has held
  /// it.
  void wait_in_locks(std::vector<Lock>& locks) {
    std::vector<Lock> unlocks = locks;
    std::stable_sort(unlocks.begin(), unlocks.end(), [](const Lock& a, const Lock& b) {
      return a.first->unlock.enter < b.first->unlock.enter;
    });
    std::stable_sort(locks.begin(), locks.end(), [](const Lock& a, const Lock& b) {
      return a.first->lock.leave < b.first->lock.leave;
    });
    Released released;
    size_t next = 0;
    for (const Lock& lock : locks) {
      // Its own unlock may begin when it gets the lock: that unlock and all later ones do not
      // precede it.
      for (; next < unlocks.size() && unlocks[next].first->unlock.enter < lock.first->lock.leave;
           ++next) {
        released.see(*unlocks[next].first);
      }
      const Last& before = released.before(*lock.first);
      if (before.enter > lock.first->lock.enter) add_holder(lock, before);
    }
  }

  /// Libraries that take a lock only when they need it (lazy locking).
  void wait_later(std::vector<Lock>& locks) {
    std::stable_sort(locks.begin(), locks.end(), [](const Lock& a, const Lock& b) {
      // Of two locks that end together, the one that was in its unlock for longer has waited there.
      return std::tie(a.first->released, b.first->unlock.enter) <
             std::tie(b.first->released, a.first->unlock.enter);
    });
    Released released;
    for (const Lock& lock : locks) {
      const Last& before = released.before(*lock.first);
      if (before.enter > lock.first->lock.leave) add_holder(lock, before);
      released.see(*lock.first);
    }
  }

  void add_holder(const Lock& lock, const Last& before) {
    const auto& [epoch, process] = lock;
    if (run_.location(before.epoch->location).process == process) return;
    told_.awaited.push_back({process, epoch->first, epoch->last, epoch->target,
                             pattern("mpi.rma.lock"), before.enter, before.epoch->location});
  }

  const Run& run_;
  const std::vector<RmaEpochs>& epochs_;
  const Detection& out_;
  FlatMap rank_of_;  // by process
  WindowResult& told_;
};

/// The call that was under way then is the one that waited, if it has to do with the target.
void look_up(const RmaEpochs& own, const Awaited& awaited, Outbox& box) {
  const RmaCall* act = under_way(own, awaited.first, awaited.last, awaited.until);
  if (act == nullptr || act->fact.window != own.acts[awaited.first].fact.window) return;
  const uint32_t all = RmaFact::kAllTargets;
  if (act->fact.target != all && awaited.target != all && act->fact.target != awaited.target) {
    return;
  }
  box.wait(act->location, awaited.pattern, act->call, awaited.until, awaited.cause);
  box.meet(act->location, awaited.cause, awaited.until);
}

/// Returns what all ranks found out for this rank's processes; by process.
std::vector<std::vector<Awaited>> share_awaited(const Run& run,
                                                const std::vector<WindowResult>& told) {
  std::vector<Column<Awaited>> to(run.ranks->size());
  for (const WindowResult& one : told) {
    for (const Awaited& awaited : one.awaited) to[run.owner(awaited.process)].push_back(awaited);
  }
  std::vector<std::vector<Awaited>> by_process(run.definitions->processes.size());
  for (const Column<Awaited>& list : exchange(*run.ranks, std::move(to))) {
    for (const Awaited& awaited : list) by_process[awaited.process.index()].push_back(awaited);
  }
  return by_process;
}

}  // namespace

void detect_one_sided(Run& run, unsigned threads, Detection& out) {
  if (run.definitions->windows.empty()) return;
  std::vector<RmaEpochs> epochs(run.definitions->processes.size());
  parallel_for(epochs.size(), threads, [&](size_t p) {
    if (run.owns(ProcessId(p))) epochs[p] = collect_epochs(run, ProcessId(p));
  });
  exchange_epochs(run, epochs);
  const std::vector<WindowEpochs> windows = epochs_by_window(run, epochs);
  std::vector<WindowResult> told(windows.size());
  parallel_for(windows.size(), threads, [&](size_t w) {
    WindowMatcher(run, epochs, WindowId(w), out, told[w]).match(windows[w]);
    out.add(told[w].evidence);
  });
  const std::vector<std::vector<Awaited>> awaited = share_awaited(run, told);
  std::vector<Outbox> boxes;
  for (WindowResult& one : told) boxes.push_back(std::move(one.box));
  boxes.resize(windows.size() + epochs.size());
  parallel_for(epochs.size(), threads, [&](size_t p) {
    for (const Awaited& a : awaited[p]) look_up(epochs[p], a, boxes[windows.size() + p]);
    note_busy_targets(run, ProcessId(p), epochs[p], out, boxes[windows.size() + p]);
  });
  find_spin_locks(run, epochs, boxes.front());
  out.deliver(boxes, threads);
}

}  // namespace culprit::replay
