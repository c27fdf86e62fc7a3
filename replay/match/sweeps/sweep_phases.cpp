// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Most processes send at one call path, and receive at one: then there is nothing to count. An
// operation is where it was posted: what completes it may be another call each time.
#include "replay/match/sweeps/sweep_phases.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "replay/match/peers.h"

namespace culprit::replay {

namespace {

/// More call paths than a process has for messages, if it does sweeps.
constexpr size_t kMostPaths = 4096;

CallPathId path_of(const Run& run, LocationId location, const MessageOp& op) {
  if (!op.posted.valid()) return {};
  const Timeline& line = run.at(location);
  return op.posted.is_own() ? line.calls.get(op.posted.call(), line.activities).path
                            : run.call(run.ref(location, op.posted)).path;
}

/// How often call paths of one process follow one another.
class Changes {
 public:
  Changes(const Run& run, ProcessId process) : run_(run), peers_(run, process) {}

  /// The sends, or the receives, of one location.
  void add(LocationId location, const Column<MessageOp>& ops) {
    if (is_one_path(location, ops)) return;
    last_.clear();
    last_with_.clear();
    for (size_t i = 0; i < ops.size() && paths_.size() <= kMostPaths; ++i) {
      const CallPathId path = path_of(run_, location, ops[i]);
      const ProcessId peer = peers_.of(ops[i]);
      if (!path.valid() || !peer.valid()) continue;
      const uint32_t place = place_of(path);
      ++paths_[place].calls;
      const uint64_t comm = ops[i].comm.index();
      const uint32_t last = std::exchange(last_.at(comm, place), place);
      if (last != place) ++changes_[std::minmax({last, place})].all;
      const uint32_t with = std::exchange(last_with_.at(comm << 32 | peer.index(), place), place);
      if (with != place) ++changes_[std::minmax({with, place})].with_one;
    }
  }

  /// By call path; nothing if there is one.
  FlatMap phases() const {
    FlatMap phases;
    if (changes_.empty() || paths_.size() > kMostPaths) return phases;
    std::vector<uint32_t> roots(paths_.size());
    std::iota(roots.begin(), roots.end(), 0u);
    const auto root = [&](uint32_t i) {
      while (roots[i] != i) i = roots[i] = roots[roots[i]];
      return i;
    };
    for (const auto& [pair, count] : changes_) {
      const auto [low, high] = std::minmax({root(pair.first), root(pair.second)});
      if (is_one(paths_[pair.first].calls, paths_[pair.second].calls, count)) roots[high] = low;
    }
    for (uint32_t i = 0; i < roots.size(); ++i) phases.set(paths_[i].path.index(), root(i));
    return phases;
  }

 private:
  struct Path {
    CallPathId path;
    uint64_t calls;
  };
  struct Count {
    uint64_t all = 0, with_one = 0;
  };

  uint32_t place_of(CallPathId path) {
    const uint32_t place = places_.at(path.index(), static_cast<uint32_t>(paths_.size()));
    if (place == paths_.size()) paths_.push_back({path, 0});
    return place;
  }
  /// Then nothing changes, and that is soon said.
  bool is_one_path(LocationId location, const Column<MessageOp>& ops) {
    if (ops.empty()) return true;
    const CallPathId path = path_of(run_, location, ops[0]);
    for (size_t i = 1; i < ops.size(); ++i) {
      if (path_of(run_, location, ops[i]) != path) return false;
    }
    if (path.valid()) paths_[place_of(path)].calls += ops.size();
    return true;
  }
  /// What happens once is no habit.
  static bool is_one(uint64_t a, uint64_t b, const Count& count) {
    if (count.with_one > 0) return count.with_one > 1 && count.with_one >= std::max(a, b);
    return count.all > 1 && count.all >= std::min(a, b);
  }

  const Run& run_;
  Peers peers_;
  FlatMap places_;  // in paths_, by call path
  std::vector<Path> paths_;
  FlatMap last_, last_with_;  // place of the last path, by communicator; and by neighbor, too
  std::map<std::pair<uint32_t, uint32_t>, Count> changes_;
};

}  // namespace

SweepPhases::SweepPhases(const Run& run, ProcessId process) {
  Changes changes(run, process);
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    changes.add(id, run.at(id).sends);
    changes.add(id, run.at(id).recvs);
  }
  phases_ = changes.phases();
}

uint32_t SweepPhases::of(const Run& run, LocationId location, const MessageOp& op) const {
  if (phases_.empty()) return 0;
  const CallPathId path = path_of(run, location, op);
  return path.valid() ? phases_.find(path.index()) : FlatMap::kNone;
}

}  // namespace culprit::replay
