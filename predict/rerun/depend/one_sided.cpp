// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One-sided communication; fences are collective operations (collectives.cpp). An access does not
// go on before its target has posted its window: in the call that waited for it; if none did, in
// the start if starts of this window were seen to wait, and otherwise in the completion, which
// cannot be over without. MPI_Win_wait returns after all origins are in their completion. A
// window's part on a process is a lock, which several may share. Who held it after whom is known by
// the ends of the locking calls if libraries took it there, and otherwise by when it was given
// back; it was taken in the first call that was left after those before had given it back.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "predict/rerun/dependences.h"
#include "replay/match/rma_epochs.h"

namespace culprit::predict {

namespace {

using replay::AccessEpoch;
using replay::Call;
using replay::ExposureEpoch;
using replay::LockEpoch;
using replay::MetEpochs;
using replay::RmaAct;
using replay::RmaCall;
using replay::RmaEpochs;
using replay::RmaFact;
using replay::Run;
using replay::WindowEpochs;

/// The call cannot be over before then.
Moment not_before(LocationId location, const Call& call, Time time) {
  return {location, std::clamp(time, call.enter, call.leave), call.enter};
}

/// The epochs of one window that let each other in.
class Exposures {
 public:
  Exposures(const Run& run, const std::vector<RmaEpochs>& epochs, WindowId window,
            Dependences& found)
      : epochs_(epochs), found_(found) {
    const CommId comm = run.definitions->windows[window.index()].comm;
    for (ProcessId member : run.definitions->comms[comm.index()].members) {
      rank_of_.set(member.index(), static_cast<uint32_t>(rank_of_.size()));
    }
  }

  void add(const std::vector<MetEpochs>& met) {
    for (const MetEpochs& one : met) {
      const RmaCall* waited = waited_for(one);
      starts_wait_ |= waited != nullptr && waited->fact.act == RmaAct::start;
    }
    for (const MetEpochs& one : met) {
      add_post(one);
      add_complete(one);
    }
  }

 private:
  const AccessEpoch& access(const MetEpochs& met) const {
    return epochs_[met.origin.index()].accesses[met.access];
  }
  const ExposureEpoch& exposure(const MetEpochs& met) const {
    return epochs_[met.target.index()].exposures[met.exposure];
  }

  /// The call of the access during which the target posted its window, if it has to do with it.
  const RmaCall* waited_for(const MetEpochs& met) const {
    const AccessEpoch& own = access(met);
    const RmaCall* act =
        under_way(epochs_[met.origin.index()], own.first, own.last, exposure(met).post.enter);
    if (act == nullptr || act->fact.window != own.window) return nullptr;
    const bool concerned = act->fact.target == RmaFact::kAllTargets ||
                           act->fact.target == rank_of_.find(met.target.index());
    return concerned ? act : nullptr;
  }

  void add_post(const MetEpochs& met) {
    const AccessEpoch& own = access(met);
    const Time posted = exposure(met).post.enter;
    const Moment from{exposure(met).posted_by, posted, posted};
    const RmaCall& start = epochs_[met.origin.index()].acts[own.first];
    if (const RmaCall* waited = waited_for(met)) {
      found_.edge(from, not_before(waited->location, waited->call, posted));
    } else if (starts_wait_ && posted <= start.call.leave) {
      found_.edge(from, not_before(start.location, start.call, posted));
    } else if (posted <= own.complete.leave) {
      found_.edge(from, not_before(own.location, own.complete, posted));
    }
  }

  void add_complete(const MetEpochs& met) {
    const AccessEpoch& own = access(met);
    const ExposureEpoch& let_in = exposure(met);
    const Time done = own.complete.enter;
    if (done > let_in.wait.leave) return;
    found_.edge({own.location, done, done}, not_before(let_in.waited_by, let_in.wait, done));
  }

  const std::vector<RmaEpochs>& epochs_;
  Dependences& found_;
  FlatMap rank_of_;           // by process
  bool starts_wait_ = false;  // this window's
};

/// One that somebody had of one process's part of a window.
struct WindowLock {
  const LockEpoch* epoch;
  const RmaEpochs* own;
  bool shared() const { return !epoch->exclusive; }
};

/// By the number of the process in the window's communicator. Who locks all has a share of each;
/// parts that nobody locks alone keep nobody waiting and are left out.
std::map<uint32_t, std::vector<WindowLock>> locks_of(const std::vector<RmaEpochs>& epochs,
                                                     const WindowEpochs& window) {
  std::map<uint32_t, std::vector<WindowLock>> parts;
  const auto for_each = [&](const auto& work) {
    for (const auto& [process, number] : window.locks) {
      const RmaEpochs& own = epochs[process.index()];
      work(WindowLock{&own.locks[number], &own});
    }
  };
  for_each([&](const WindowLock& held) {
    if (held.epoch->exclusive) parts[held.epoch->target];
  });
  if (parts.empty()) return parts;
  for_each([&](const WindowLock& held) {
    if (held.epoch->target == RmaFact::kAllTargets) {
      for (auto& [target, list] : parts) list.push_back(held);
    } else if (const auto part = parts.find(held.epoch->target); part != parts.end()) {
      part->second.push_back(held);
    }
  });
  return parts;
}

/// When those before had given it back that exclude the next one.
class Free {
 public:
  Time of(const WindowLock& held) const { return held.shared() ? exclusive_ : any_; }
  void see(const WindowLock& held, Time released) {
    any_ = std::max(any_, released);
    if (!held.shared()) exclusive_ = std::max(exclusive_, released);
  }

 private:
  Time exclusive_ = Time::min(), any_ = Time::min();
};

/// In the order in which they had it.
void sort_held(std::vector<WindowLock>& part) {
  std::stable_sort(part.begin(), part.end(), [](const WindowLock& a, const WindowLock& b) {
    return a.epoch->lock.leave < b.epoch->lock.leave;
  });
  Free free;
  bool at_once = true;
  for (const WindowLock& held : part) {
    at_once = at_once && free.of(held) <= held.epoch->lock.leave;
    free.see(held, held.epoch->unlock.enter);
  }
  if (at_once) return;
  std::stable_sort(part.begin(), part.end(), [](const WindowLock& a, const WindowLock& b) {
    return std::tie(a.epoch->released, b.epoch->unlock.enter) <
           std::tie(b.epoch->released, a.epoch->unlock.enter);
  });
}

/// When it was taken: in the first call of the epoch that was left when it was free.
Moment taken(const WindowLock& held, Time free) {
  const LockEpoch& epoch = *held.epoch;
  for (size_t i = epoch.first; i <= epoch.last; ++i) {
    const RmaCall& act = held.own->acts[i];
    if (act.fact.window != epoch.window || act.location != epoch.location) continue;
    if (act.call.leave >= free) return not_before(epoch.location, act.call, free);
  }
  return not_before(epoch.location, epoch.unlock, free);
}

void add_part(std::vector<WindowLock>& part, Dependences& found) {
  sort_held(part);
  const LockId lock(found.locks++);
  Free free;
  bool contended = false;
  for (size_t i = 0; i < part.size(); ++i) {
    const WindowLock& held = part[i];
    contended |= held.epoch->lock.enter < free.of(held);
    const Holding holding{lock, static_cast<uint32_t>(i), held.shared()};
    const Moment asked = taken(held, free.of(held));
    const Time unlocked = std::max(asked.time, held.epoch->unlock.enter);
    found.hold(holding, asked, {held.epoch->location, unlocked, held.epoch->unlock.enter});
    free.see(held, unlocked);
  }
  found.contended += contended;
}

}  // namespace

void add_one_sided(const Run& run, unsigned threads, Dependences& found) {
  if (run.definitions->windows.empty()) return;
  std::vector<RmaEpochs> epochs(run.definitions->processes.size());
  parallel_for(epochs.size(), threads, [&](size_t p) {
    if (run.owns(ProcessId(p))) epochs[p] = collect_epochs(run, ProcessId(p));
  });
  exchange_epochs(run, epochs, replay::EpochActs::sent);
  const std::vector<WindowEpochs> windows = epochs_by_window(run, epochs);
  for (size_t w = 0; w < windows.size(); ++w) {
    Exposures(run, epochs, WindowId(w), found).add(meet_epochs(run, epochs, windows[w]));
    for (auto& [target, part] : locks_of(epochs, windows[w])) add_part(part, found);
  }
}

}  // namespace culprit::predict
