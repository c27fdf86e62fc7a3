// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls of all threads of the process are merged by time; each call closes and opens epochs.
#include "replay/match/rma_epochs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

std::vector<RmaCall> calls_of(const Run& run, ProcessId process) {
  std::vector<RmaCall> acts;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    const size_t first = acts.size();
    for (const RmaFact& fact : run.at(id).rma) {
      acts.push_back({fact, id, run.call(id, fact.call)});
    }
    for (const PolledOperation& polled : run.at(id).probes.polled_windows) {
      acts[first + polled.op].asked = polled.since;
    }
  }
  const auto earlier = [](const RmaCall& a, const RmaCall& b) {
    return std::tie(a.call.enter, a.location) < std::tie(b.call.enter, b.location);
  };
  if (!std::is_sorted(acts.begin(), acts.end(), earlier)) {
    std::stable_sort(acts.begin(), acts.end(), earlier);
  }
  return acts;
}

class Collector {
 public:
  RmaEpochs collect(std::vector<RmaCall> acts) {
    found_.acts = std::move(acts);
    for (size_t i = 0; i < found_.acts.size(); ++i) see(i);
    return std::move(found_);
  }

 private:
  struct OpenAccess {
    size_t start;
    Time last_access;
  };

  struct OpenLock {
    size_t lock;
    bool held;  ///< surely
  };

  void see(size_t i) {
    const RmaCall& act = found_.acts[i];
    switch (act.fact.act) {
      case RmaAct::start:
        accesses_[act.fact.window] = {i, act.call.leave};
        return;
      case RmaAct::operation:
        if (const auto open = accesses_.find(act.fact.window); open != accesses_.end()) {
          open->second.last_access = act.call.leave;
        }
        return;
      case RmaAct::complete:
        return end_access(i);
      case RmaAct::post:
        exposures_[act.fact.window] = i;
        return;
      case RmaAct::wait:
        return end_exposure(i);
      case RmaAct::lock:
        locks_[{act.fact.window, act.fact.target}] = {i, false};
        return;
      case RmaAct::unlock:
        return end_lock(i);
      case RmaAct::flush:
        return flush(i);
    }
  }

  void end_access(size_t i) {
    const RmaCall& complete = found_.acts[i];
    const auto open = accesses_.extract(complete.fact.window);
    if (open.empty()) return;
    const RmaCall& start = found_.acts[open.mapped().start];
    if (!start.fact.group.valid()) return;
    found_.accesses.push_back({start.fact.window, start.fact.group, open.mapped().start, i,
                               complete.location, complete.call, open.mapped().last_access});
  }

  void end_exposure(size_t i) {
    const RmaCall& wait = found_.acts[i];
    const auto open = exposures_.extract(wait.fact.window);
    if (open.empty()) return;
    const RmaCall& post = found_.acts[open.mapped()];
    if (!post.fact.group.valid()) return;
    found_.exposures.push_back({post.fact.window, post.fact.group, post.location, wait.location,
                                post.call, wait.call, wait.asked});
  }

  /// A process that has flushed holds the lock, even if its library takes it late.
  void flush(size_t i) {
    const RmaFact& fact = found_.acts[i].fact;
    for (const uint32_t target : {fact.target, RmaFact::kAllTargets}) {
      const auto open = locks_.find({fact.window, target});
      if (open != locks_.end()) open->second.held = true;
    }
  }

  void end_lock(size_t i) {
    const RmaCall& unlock = found_.acts[i];
    const auto open = locks_.extract({unlock.fact.window, unlock.fact.target});
    if (open.empty()) return;
    const auto [begun, held] = open.mapped();
    const RmaCall& lock = found_.acts[begun];
    if (lock.fact.no_check) return;
    found_.locks.push_back({lock.fact.window, lock.fact.target, lock.fact.exclusive, begun, i,
                            unlock.location, lock.call, unlock.call,
                            held ? unlock.call.enter : unlock.call.leave});
  }

  RmaEpochs found_;
  std::map<WindowId, OpenAccess> accesses_;
  std::map<WindowId, size_t> exposures_;                     // the acts that began them
  std::map<std::pair<WindowId, uint32_t>, OpenLock> locks_;  // and of locks, by target
};

}  // namespace

RmaEpochs collect_epochs(const Run& run, ProcessId process) {
  return Collector().collect(calls_of(run, process));
}

size_t matcher_of(const Run& run, WindowId window) {
  const trace::Comm& comm =
      run.definitions->comms[run.definitions->windows[window.index()].comm.index()];
  if (comm.members.empty()) return 0;
  return run.owner(comm.members[window.index() % comm.members.size()]);
}

namespace {

/// An epoch on its way to the rank that matches it.
template <class Epoch>
struct Sent {
  ProcessId process;
  Epoch epoch;
};

template <class Epoch>
void exchange_list(const Run& run, std::vector<RmaEpochs>& epochs,
                   std::vector<Epoch> RmaEpochs::* list) {
  std::vector<Column<Sent<Epoch>>> to(run.ranks->size());
  for (size_t p = 0; p < epochs.size(); ++p) {
    for (const Epoch& epoch : epochs[p].*list) {
      const size_t matcher = matcher_of(run, epoch.window);
      if (matcher != run.ranks->rank()) to[matcher].push_back({ProcessId(p), epoch});
    }
  }
  for (const Column<Sent<Epoch>>& received : exchange(*run.ranks, std::move(to))) {
    for (const Sent<Epoch>& sent : received) {
      (epochs[sent.process.index()].*list).push_back(sent.epoch);
    }
  }
}

/// Likewise, with the acts of each.
template <class Epoch>
void exchange_list_with_acts(const Run& run, std::vector<RmaEpochs>& epochs,
                             std::vector<Epoch> RmaEpochs::* list) {
  std::vector<Packer> to(run.ranks->size());
  for (size_t p = 0; p < epochs.size(); ++p) {
    const RmaEpochs& own = epochs[p];
    for (const Epoch& epoch : own.*list) {
      const size_t matcher = matcher_of(run, epoch.window);
      if (matcher == run.ranks->rank()) continue;
      to[matcher].put(Sent<Epoch>{ProcessId(p), epoch});
      to[matcher].put_list(std::span(own.acts).subspan(epoch.first, epoch.last + 1 - epoch.first));
    }
  }
  for (const Parcel& parcel : exchange(*run.ranks, std::move(to))) {
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      auto sent = unpacker.get<Sent<Epoch>>();
      RmaEpochs& others = epochs[sent.process.index()];
      sent.epoch.first = others.acts.size();
      unpacker.get_list<RmaCall>([&](const RmaCall& act) { others.acts.push_back(act); });
      sent.epoch.last = others.acts.size() - 1;
      (others.*list).push_back(sent.epoch);
    }
  }
}

}  // namespace

void exchange_epochs(const Run& run, std::vector<RmaEpochs>& epochs, EpochActs acts) {
  if (run.ranks->alone()) return;
  exchange_list(run, epochs, &RmaEpochs::exposures);
  if (acts == EpochActs::sent) {
    exchange_list_with_acts(run, epochs, &RmaEpochs::accesses);
    exchange_list_with_acts(run, epochs, &RmaEpochs::locks);
  } else {
    exchange_list(run, epochs, &RmaEpochs::accesses);
    exchange_list(run, epochs, &RmaEpochs::locks);
  }
}

std::vector<WindowEpochs> epochs_by_window(const Run& run, const std::vector<RmaEpochs>& epochs) {
  std::vector<WindowEpochs> windows(run.definitions->windows.size());
  const auto sort_in = [&](auto WindowEpochs::* refs, const auto& of_process, ProcessId process) {
    for (size_t i = 0; i < of_process.size(); ++i) {
      const WindowId window = of_process[i].window;
      if (matcher_of(run, window) != run.ranks->rank()) continue;
      (windows[window.index()].*refs).push_back({process, i});
    }
  };
  for (size_t p = 0; p < epochs.size(); ++p) {
    sort_in(&WindowEpochs::accesses, epochs[p].accesses, ProcessId(p));
    sort_in(&WindowEpochs::exposures, epochs[p].exposures, ProcessId(p));
    sort_in(&WindowEpochs::locks, epochs[p].locks, ProcessId(p));
  }
  return windows;
}

namespace {

/// One origin's part in an access, or in an exposure.
struct Half {
  ProcessId origin, target;
  size_t epoch;  ///< of the one whose epoch it is
  auto pair() const { return std::tie(origin, target); }
};

std::vector<Half> halves(const Run& run, const std::vector<RmaEpochs>& epochs,
                         const std::vector<EpochRef>& refs, bool accesses) {
  std::vector<Half> all;
  for (const auto& [process, epoch] : refs) {
    const RmaEpochs& own = epochs[process.index()];
    const culprit::GroupId group =
        accesses ? own.accesses[epoch].targets : own.exposures[epoch].origins;
    for (ProcessId other : run.definitions->groups[group.index()].members) {
      all.push_back(accesses ? Half{process, other, epoch} : Half{other, process, epoch});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Half& a, const Half& b) { return a.pair() < b.pair(); });
  return all;
}

}  // namespace

std::vector<MetEpochs> meet_epochs(const Run& run, const std::vector<RmaEpochs>& epochs,
                                   const WindowEpochs& window) {
  const std::vector<Half> accesses = halves(run, epochs, window.accesses, true);
  const std::vector<Half> exposures = halves(run, epochs, window.exposures, false);
  std::vector<MetEpochs> met;
  for (size_t a = 0, e = 0; a < accesses.size() && e < exposures.size();) {
    if (accesses[a].pair() == exposures[e].pair()) {
      met.push_back(
          {accesses[a].origin, accesses[a].target, accesses[a].epoch, exposures[e].epoch});
      ++a, ++e;
    } else {
      accesses[a].pair() < exposures[e].pair() ? ++a : ++e;
    }
  }
  std::stable_sort(met.begin(), met.end(), [](const MetEpochs& a, const MetEpochs& b) {
    return std::tie(a.target, a.exposure) < std::tie(b.target, b.exposure);
  });
  return met;
}

const RmaCall* under_way(const RmaEpochs& epochs, size_t first, size_t last, Time time) {
  const auto begin = epochs.acts.begin() + static_cast<ptrdiff_t>(first);
  const auto end = epochs.acts.begin() + static_cast<ptrdiff_t>(last) + 1;
  auto next = std::lower_bound(begin, end, time,
                               [](const RmaCall& act, Time t) { return act.call.enter < t; });
  // Calls of one thread follow each other; of several threads the latest to enter is taken.
  if (next == begin) return nullptr;
  --next;
  return next->call.leave >= time ? &*next : nullptr;
}

}  // namespace culprit::replay
