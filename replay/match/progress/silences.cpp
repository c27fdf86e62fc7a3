// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The intervals of each location in MPI are merged over the threads of a process; the time between
// them is silence. A process with one thread in MPI, the usual case, needs no sorting.
#include "replay/match/progress/silences.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

/// An interval of one location in MPI.
struct Inside {
  Time begin, end;
  LocationId location;
};

/// By CallPathId: whether the path is in an MPI call, or below one.
std::vector<bool> paths_in_mpi(const Run& run) {
  std::vector<bool> inside(run.callpaths.size());
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto& node = run.callpaths[CallPathId(i)];
    const bool own =
        node.region.valid() && run.regions[node.region.index()].paradigm == trace::Paradigm::mpi;
    inside[i] = own || (node.parent.valid() && inside[node.parent.index()]);
  }
  return inside;
}

void add_stretches(const Run& run, LocationId id, const std::vector<bool>& in_mpi,
                   std::vector<Inside>& list) {
  const Activities& life = run.at(id).activities;
  bool open = false;
  for (size_t i = 0; i < life.size(); ++i) {
    if (!in_mpi[life.path(i).index()]) {
      open = false;
      continue;
    }
    if (open) {
      list.back().end = life.end(i);
    } else {
      list.push_back({life.begin(i), life.end(i), id});
    }
    open = true;
  }
}

Column<Silence> silences_of(const Run& run, ProcessId process, const std::vector<bool>& in_mpi) {
  std::vector<Inside> inside;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (!run.is_stream(id)) add_stretches(run, id, in_mpi, inside);
  }
  const auto earlier = [](const Inside& a, const Inside& b) { return a.begin < b.begin; };
  if (!std::is_sorted(inside.begin(), inside.end(), earlier)) {
    std::stable_sort(inside.begin(), inside.end(), earlier);
  }
  Column<Silence> silences;
  Time left = Time::max();
  for (const Inside& stretch : inside) {
    if (left != Time::max() && stretch.begin >= left + kShortestSilence) {
      silences.push_back({left, stretch.begin, stretch.location});
    }
    left = left == Time::max() ? stretch.end : std::max(left, stretch.end);
  }
  return silences;
}

}  // namespace

Silences::Silences(const Run& run, unsigned threads)
    : by_process_(run.definitions->processes.size()) {
  const std::vector<bool> in_mpi = paths_in_mpi(run);
  parallel_for(by_process_.size(), threads, [&](size_t p) {
    if (run.owns(ProcessId(p))) by_process_[p] = silences_of(run, ProcessId(p), in_mpi);
  });
  if (run.ranks->alone()) return;
  Packer own;
  for (size_t p = 0; p < by_process_.size(); ++p) {
    if (by_process_[p].empty() || !run.owns(ProcessId(p))) continue;
    own.put(ProcessId(p));
    own.put_list(std::span<const Silence>(by_process_[p]));
    by_process_[p].clear();
  }
  for (const Parcel& parcel : gather_everywhere(*run.ranks, own.take())) {
    for (Unpacker all(parcel); !all.done();) {
      Column<Silence>& to = by_process_[all.get<ProcessId>().index()];
      all.get_list<Silence>([&](const Silence& silence) { to.push_back(silence); });
    }
  }
}

const Silence* Silences::last_before(ProcessId process, Time time) const {
  const std::span<const Silence> all = of(process);
  const auto next = std::partition_point(
      all.begin(), all.end(), [&](const Silence& silence) { return silence.begin < time; });
  return next == all.begin() ? nullptr : &*(next - 1);
}

}  // namespace culprit::replay
