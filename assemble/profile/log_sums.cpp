// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A stretch's ticks are divided by cumulative shares, each rounded down, so the parts add up to the
// whole.
#include "assemble/profile/log_sums.h"

#include <algorithm>
#include <bit>

namespace culprit::assemble {

namespace {

using trace::ProfileGroup;
using trace::ProfileKind;
using trace::ProfileRow;
using trace::ProfileState;

/// With this number of samples of its own, a thread needs no others', which may do something else
/// between the same events.
constexpr uint64_t kManySamples = 5;
/// Kinds of stretches with a smaller part of all time need no samples: then the functions at both
/// ends will do.
constexpr double kNegligible = 1e-4;
/// Of the time without samples, from which on a thread is said to have slept.
constexpr double kMostly = 0.5;

/// Threads that take as long between the same events are likely to do the same there (decision
/// 0015): each class is twice as long as the one before.
uint64_t length_class(const ProfileRow& row) {
  return static_cast<uint64_t>(std::bit_width(row.ticks / std::max<uint64_t>(row.visits, 1)));
}

/// The team is over, but the runtime has not reported it yet: the thread idles in the pool.
/// `event`: around the stretch.
bool is_behind_team(const ProfileRow& stretch, const ProfileRow& event) {
  return static_cast<ProfileState>(stretch.detail) == ProfileState::idle &&
         event.kind == ProfileKind::team;
}

bool is_of_faults(const ProfileRow& kernel) {
  return static_cast<trace::RawKernelPlace>(kernel.detail) == trace::RawKernelPlace::fault;
}

/// Divides `amount` of one figure by the samples of a pool, of which `unsampled` have none.
void divide(const StretchPool& pool, double unsampled, PathHash unknown, uint64_t amount,
            uint64_t PathTicks::* what, LineTicks& line) {
  if (amount == 0) return;
  uint64_t count = 0, given = 0;
  const double sampled = static_cast<double>(amount) * (1 - unsampled);
  for (const auto& [path, weight] : pool.parts) {
    count += weight;
    const bool is_last = count == pool.weight && unsampled <= 0;
    const double share = static_cast<double>(count) / static_cast<double>(pool.weight);
    const uint64_t until =
        is_last ? amount : std::clamp(static_cast<uint64_t>(sampled * share), given, amount);
    line.at(path).*what += until - given;
    given = until;
  }
  if (given < amount) line.at(unknown).*what += amount - given;
}

/// Divides a stretch by a pool. `is_negligible`: no sample can be expected of its kind.
void divide(const OpenStretch& stretch, const StretchPool& pool, PathHash around,
            bool is_negligible, const UnknownRegions& unknown, PathTable& paths, LogSums& sums) {
  const double lacking = unsampled_part(pool.expected, static_cast<double>(pool.weight));
  const bool never = pool.weight == 0;
  const double unsampled = never ? 1 : sums.asleep_part * lacking;
  PathHash rest = around;
  if (unsampled > 0 && !(never && is_negligible)) {
    const bool is_asleep = !never && sums.asleep_part > kMostly;
    rest = paths.child(around, is_asleep ? unknown.blocked : unknown.not_sampled);
  }
  divide(pool, unsampled, rest, stretch.ticks, &PathTicks::ticks, sums.line);
  divide(pool, unsampled, rest, stretch.blame, &PathTicks::blame, sums.line);
}

/// The walk over one log.
class LogReader {
 public:
  LogReader(RowPlaces& rows, const Sampling& sampling, PathTable& paths,
            const UnknownRegions& unknown, StretchPools& pools)
      : rows_(rows),
        all_(rows.profile().rows),
        sampling_(sampling),
        paths_(paths),
        unknown_(unknown),
        pools_(pools),
        stretches_(all_.size(), kNone) {}

  LogSums read() {
    find_stretches();
    add_samples();
    settle_sleep();
    for (const Own& own : own_) settle(own);
    for (uint32_t i = 1; i < all_.size(); ++i) {
      if (all_[i].kind == ProfileKind::stretch && stretches_[i] == kNone) add_plain(all_[i]);
      if (trace::facts_of(all_[i].kind).group == ProfileGroup::event) add_event(i);
      if (all_[i].kind == ProfileKind::kernel) add_kernel(all_[i]);
    }
    return std::move(sums_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A stretch that samples divide, with its own.
  struct Own {
    uint32_t row;
    StretchPool pool;
  };

  bool is_divided(const ProfileRow& row) const {
    const RowPlace& around = rows_.event(row.parent);
    if (around.path == kNoPath || around.hides_samples() || around.waits ||
        is_behind_team(row, all_[row.parent])) {
      return false;
    }
    switch (static_cast<ProfileState>(row.detail)) {
      case ProfileState::work:
      case ProfileState::idle:
      case ProfileState::mpi:
      case ProfileState::device:
        return true;
      default:
        return false;
    }
  }

  /// Where a stretch's time lies if functions do not matter.
  PathHash place_of(const ProfileRow& row) const {
    const RowPlace& around = rows_.event(row.parent);
    const bool waits = static_cast<ProfileState>(row.detail) == ProfileState::lock;
    return waits ? around.path : around.body;
  }

  uint64_t edge_of(uint64_t edge) const {
    const auto half = static_cast<uint32_t>(edge);
    const uint64_t path = rows_.event(trace::row_of_edge(half)).path;
    return with(path, trace::leaves_at_edge(half) ? 2 : 1);
  }

  void find_stretches() {
    for (uint32_t i = 1; i < all_.size(); ++i) {
      const ProfileRow& row = all_[i];
      if (row.kind != ProfileKind::stretch || !is_divided(row)) continue;
      stretches_[i] = static_cast<uint32_t>(own_.size());
      Own& own = own_.emplace_back(Own{i, {}});
      own.pool.ticks = static_cast<double>(row.ticks);
      if (sampling_.period_ticks > 0) {
        own.pool.expected = own.pool.ticks / sampling_.period_ticks * sampling_.core_share;
      }
    }
  }

  void add_samples() {
    for (uint32_t i = 1; i < all_.size(); ++i) {
      const ProfileRow& row = all_[i];
      if (row.kind != ProfileKind::sampled || stretches_[row.parent] == kNone) continue;
      const PathHash path =
          rows_.path_at(all_[row.parent].parent, static_cast<uint32_t>(row.place));
      own_[stretches_[row.parent]].pool.add(path, row.amount);
      sums_.line.at(path).samples += row.amount;
    }
  }

  /// Time in the kernel: where samples found it, or else where the stretch lies.
  void add_kernel(const ProfileRow& row) {
    const uint32_t event = all_[row.parent].parent;
    const PathHash path = row.place != 0 ? rows_.path_at(event, static_cast<uint32_t>(row.place))
                                         : place_of(all_[row.parent]);
    PathTicks& to = sums_.line.at(path != kNoPath ? path : rows_.event(0).path);
    to.system_ns += row.waits;
    if (is_of_faults(row)) to.fault_ns += row.waits;
    to.faults += row.amount;
  }

  /// A thread cannot have slept for longer than the kernel says.
  void settle_sleep() {
    double unsampled = 0, blocked = 0;
    for (const Own& own : own_) {
      unsampled +=
          own.pool.ticks * unsampled_part(own.pool.expected, static_cast<double>(own.pool.weight));
    }
    for (const ProfileRow& row : all_) {
      const bool in_call =
          row.kind == ProfileKind::stretch && all_[row.parent].kind == ProfileKind::blocked;
      if (in_call) blocked += static_cast<double>(row.ticks);
    }
    if (unsampled <= 0) return;
    sums_.asleep_part = std::clamp((sampling_.off_core_ticks - blocked) / unsampled, 0.0, 1.0);
  }

  void settle(const Own& own) {
    const ProfileRow& row = all_[own.row];
    const uint64_t begin = with(with(place_of(row), 1), edge_of(row.place >> 32));
    const uint64_t ends = with(begin, edge_of(row.place)), kind = with(ends, length_class(row));
    if (own.pool.weight > 0) sums_.own[ends].add(own.pool);
    StretchPool& pool = pools_.at(kind);
    if (pool.around == kNoPath) pool.around = common_functions(row);
    pool.add(own.pool);
    pools_.all_ticks += own.pool.ticks;
    const OpenStretch stretch{kind, ends, row.ticks, row.blame};
    if (own.pool.weight < kManySamples) {
      sums_.open.push_back(stretch);
    } else {
      divide(stretch, own.pool, pool.around, false, unknown_, paths_, sums_);
    }
  }

  /// The functions that are on the stack at both ends, as far as these say it.
  PathHash common_functions(const ProfileRow& row) {
    PathHash path = place_of(row);
    const auto functions = [&](uint64_t edge) {
      const uint32_t event = trace::row_of_edge(static_cast<uint32_t>(edge));
      const bool is_inside = event != 0 && all_[event].parent == row.parent;
      return is_inside ? rows_.functions_before(event) : std::vector<RegionId>();
    };
    const std::vector<RegionId> before = functions(row.place >> 32), after = functions(row.place);
    for (size_t i = 0; i < std::min(before.size(), after.size()) && before[i] == after[i]; ++i) {
      path = paths_.child(path, before[i]);
    }
    return path;
  }

  /// A stretch that samples do not divide.
  void add_plain(const ProfileRow& row) {
    const RowPlace& around = rows_.event(row.parent);
    LineTicks& line = sums_.line;
    switch (static_cast<ProfileState>(row.detail)) {
      case ProfileState::waking:
        line.waking += row.ticks;
        return;
      case ProfileState::tool:
        line.at(paths_.child(around.path, unknown_.measuring)).ticks += row.ticks;
        return;
      case ProfileState::absent:
        line.at(paths_.child(rows_.event(0).path, unknown_.not_recorded)).ticks += row.ticks;
        return;
      default:
        break;
    }
    const PathHash path = place_of(row);
    if (path == kNoPath || is_behind_team(row, all_[row.parent])) {
      line.idle += row.ticks;
      return;
    }
    PathTicks& to = line.at(path);
    to.ticks += row.ticks;
    to.blame += row.blame;
    if (around.waits) to.observed += row.ticks;
  }

  /// The figures of an event itself.
  void add_event(uint32_t number) {
    const ProfileRow& row = all_[number];
    const RowPlace& place = rows_.event(number);
    if (place.path == kNoPath || row.kind == ProfileKind::fork || place.waits) return;
    PathTicks& to = sums_.line.at(place.path);
    to.visits += row.visits;
    to.waits += row.waits;
    to.longest = std::max(to.longest, uint64_t{row.longest});
    if (row.kind == ProfileKind::mpi_call) to.bytes += row.amount;
    if (row.kind == ProfileKind::mutex) to.lock_blame += row.blame;
    if (row.kind != ProfileKind::mutex || paths_.parent_of(place.body) != place.path) return;
    sums_.line.at(place.body).visits += row.visits;
  }

  RowPlaces& rows_;
  const std::vector<ProfileRow>& all_;
  const Sampling& sampling_;
  PathTable& paths_;
  const UnknownRegions& unknown_;
  StretchPools& pools_;
  std::vector<uint32_t> stretches_;  ///< by row: place in own_
  std::vector<Own> own_;
  LogSums sums_;
};

}  // namespace

void StretchPool::add(PathHash path, uint64_t count) {
  weight += count;
  for (auto& [known, sum] : parts) {
    if (known == path) {
      sum += count;
      return;
    }
  }
  parts.emplace_back(path, count);
}

void StretchPool::add(const StretchPool& other) {
  ticks += other.ticks;
  expected += other.expected;
  if (around == kNoPath) around = other.around;
  for (const auto& [path, count] : other.parts) add(path, count);
}

void StretchPools::merge(const StretchPools& other) {
  all_ticks += other.all_ticks;
  for (const auto& [kind, pool] : other.pools_) at(kind).add(pool);
}

LogSums sum_log(RowPlaces& rows, const Sampling& sampling, PathTable& paths,
                const UnknownRegions& unknown, StretchPools& pools) {
  return LogReader(rows, sampling, paths, unknown, pools).read();
}

namespace {

/// What others do in stretches of a kind, without what a thread with these samples does not.
StretchPool without_unseen(const StretchPool& all, const StretchPool& own) {
  StretchPool seen = all;
  std::erase_if(seen.parts, [&](const auto& part) {
    const bool is_own = std::any_of(own.parts.begin(), own.parts.end(),
                                    [&](const auto& one) { return one.first == part.first; });
    const double promised = static_cast<double>(part.second) / static_cast<double>(all.weight) *
                            static_cast<double>(own.weight);
    return !is_own && promised >= kSurelySeen;
  });
  if (seen.parts.empty()) return all;
  seen.weight = 0;
  for (const auto& part : seen.parts) seen.weight += part.second;
  // What is left lacks as many samples as before.
  seen.expected *= static_cast<double>(seen.weight) / static_cast<double>(all.weight);
  return seen;
}

}  // namespace

void divide_open(LogSums& sums, const StretchPools& pools, const UnknownRegions& unknown,
                 PathTable& paths) {
  for (const OpenStretch& open : sums.open) {
    const StretchPool& all = *pools.find(open.kind);
    const auto own = sums.own.find(open.ends);
    const bool knows = own != sums.own.end() && all.weight > 0 &&
                       static_cast<double>(own->second.weight) >= kSurelySeen;
    const StretchPool seen = knows ? without_unseen(all, own->second) : StretchPool();
    const StretchPool& pool = knows ? seen : all;
    const bool has_samples = pool.expected > 0 && pool.ticks >= kNegligible * pools.all_ticks;
    divide(open, pool, pool.around, !has_samples, unknown, paths, sums);
  }
  sums.open = {};
  sums.own = {};
}

}  // namespace culprit::assemble
