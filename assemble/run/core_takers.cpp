// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes' readings come about once a second, at other moments than the looks at the machine:
// between two readings use is assumed to be even.
#include "assemble/run/core_takers.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

namespace culprit::assemble {
namespace {

using machine::Interval;
using machine::MachineUse;

/// The number of parts of the run for which each process's core use is given.
constexpr size_t kParts = 32;
/// A process that lacked less than this share of the time it wanted has no such rows.
constexpr double kWorthRows = 0.05;
/// Limit on rows of a node.
constexpr size_t kMostTakers = 8;

/// A process's use up to a time on the run's axis.
struct Point {
  double ns = 0;
  double on_core_ns = 0;
  double without_ns = 0;
};
using TimeSeries = std::vector<Point>;

/// Counts that went back are of a damaged record.
void add_point(TimeSeries& series, const Point& point) {
  if (!series.empty() &&
      (point.ns <= series.back().ns || point.on_core_ns < series.back().on_core_ns ||
       point.without_ns < series.back().without_ns)) {
    return;
  }
  series.push_back(point);
}

TimeSeries series_of(const RawProcessFolder& folder, const ProcessAccount& account,
                     const Clock& clock, size_t index) {
  const trace::RawProcess& process = folder.process;
  const auto at = [&](uint64_t ticks) {
    return static_cast<double>(clock.time(index, ticks).nanos());
  };
  TimeSeries series = {{at(process.start_ticks), 0, 0}};
  for (const CoreReading& reading : account.survey.cores_had) {
    add_point(series, {at(reading.ticks), static_cast<double>(reading.on_core_ns),
                       static_cast<double>(reading.without_ns)});
  }
  const uint64_t end = process.end_ticks != 0 ? process.end_ticks : process.last.ticks;
  add_point(series, {at(end), static_cast<double>(process.on_core_ns),
                     static_cast<double>(process.core_wait_ns)});
  return series;
}

/// What it had until `ns`.
Point at(const TimeSeries& series, double ns) {
  const auto next = std::upper_bound(series.begin(), series.end(), ns,
                                     [](double time, const Point& p) { return time < p.ns; });
  if (next == series.begin()) return {ns, 0, 0};
  if (next == series.end()) return {ns, series.back().on_core_ns, series.back().without_ns};
  const Point& before = *std::prev(next);
  const double part = (ns - before.ns) / (next->ns - before.ns);
  return {ns, before.on_core_ns + part * (next->on_core_ns - before.on_core_ns),
          before.without_ns + part * (next->without_ns - before.without_ns)};
}

ProcessDemand between(const TimeSeries& series, double begin, double end) {
  const Point from = at(series, begin), to = at(series, end);
  return {to.on_core_ns - from.on_core_ns, to.without_ns - from.without_ns, 0};
}

uint64_t cores_of(const trace::RawProcess& process) {
  uint64_t sum = 0;
  for (const uint64_t word : process.cores) sum += static_cast<uint64_t>(std::popcount(word));
  return sum;
}

/// Takes from what is left.
double take(double& rest, double most) {
  const double part = std::clamp(most, 0.0, rest);
  rest -= part;
  return part;
}

class Sharing {
 public:
  explicit Sharing(const MachineUse& machine) : machine_(machine) {}

  void add(const Interval& interval, const std::vector<ProcessDemand>& processes) {
    double own_ns = 0, rest_ns = 0;
    for (const ProcessDemand& process : processes) {
      own_ns += process.on_core_ns;
      rest_ns += process.without_ns;
    }
    const auto told = [](uint64_t ns) { return static_cast<double>(ns); };
    add(CoreTakerKind::quota, told(interval.throttled_ns),
        take(rest_ns, told(interval.throttled_ns)));
    add(CoreTakerKind::hypervisor, told(interval.steal_ns), take(rest_ns, told(interval.steal_ns)));
    const double others_ns =
        std::max(0.0, told(interval.busy_ns) - own_ns - told(interval.helpers_ns));
    add_others(interval, others_ns, take(rest_ns, others_ns));
    add(CoreTakerKind::helpers, told(interval.helpers_ns),
        take(rest_ns, told(interval.helpers_ns)));
    const double bound_ns = take(rest_ns, wanted_in_vain(interval, processes));
    add(CoreTakerKind::binding, 0, bound_ns);
    add(CoreTakerKind::own, own_ns, rest_ns);
  }

  std::vector<CoreTaker> take_rows() {
    std::vector<CoreTaker> rows;
    for (const auto& [key, row] : rows_) {
      if (row.time_s > 0) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CoreTaker& a, const CoreTaker& b) { return a.time_s > b.time_s; });
    if (rows.size() > kMostTakers) rows.resize(kMostTakers);
    return rows;
  }

 private:
  using Key = std::pair<CoreTakerKind, std::string>;

  CoreTaker& row(CoreTakerKind kind, const std::string& name) {
    CoreTaker& row = rows_[Key(kind, name)];
    row.node = machine_.host;
    row.kind = kind;
    row.name = name;
    return row;
  }

  void add(CoreTakerKind kind, double cpu_ns, double time_ns, const std::string& name = {}) {
    if (cpu_ns <= 0 && time_ns <= 0) return;
    CoreTaker& found = row(kind, name);
    found.cpu_s += cpu_ns * 1e-9;
    found.time_s += time_ns * 1e-9;
  }

  /// By the CPU time of each. The system counts it in ticks, so the sum may slightly exceed the
  /// time that they can have had.
  void add_others(const Interval& interval, double cpu_ns, double time_ns) {
    double named_ns = 0;
    for (const machine::ProcessUse& other : interval.others) {
      named_ns += static_cast<double>(other.cpu_ns);
    }
    const double all_ns = std::max(cpu_ns, named_ns);
    if (all_ns <= 0) return;
    for (const machine::ProcessUse& other : interval.others) {
      const double part = static_cast<double>(other.cpu_ns) / all_ns;
      add(CoreTakerKind::others, part * cpu_ns, part * time_ns, other.name);
      CoreTaker& found = row(CoreTakerKind::others, other.name);
      if (numbers_[other.name].insert(other.pid).second) ++found.processes;
      found.process = found.processes == 1 ? other.pid : 0;
    }
    const double unseen = 1 - named_ns / all_ns;
    add(CoreTakerKind::others, unseen * cpu_ns, unseen * time_ns);
  }

  /// By processes that are kept to fewer cores than there are.
  double wanted_in_vain(const Interval& interval,
                        const std::vector<ProcessDemand>& processes) const {
    const auto length = static_cast<double>(interval.end_ns - interval.begin_ns);
    double sum = 0;
    for (const ProcessDemand& process : processes) {
      if (process.cores == 0 || process.cores >= machine_.cores) continue;
      const double wanted = process.on_core_ns + process.without_ns;
      const double most = static_cast<double>(process.cores) * length;
      sum += std::clamp(wanted - most, 0.0, process.without_ns);
    }
    return sum;
  }

  const MachineUse& machine_;
  std::map<Key, CoreTaker> rows_;
  std::map<std::string, std::set<uint32_t>> numbers_;
};

bool is_on(const trace::RawProcess& process, const MachineUse& machine) {
  return process.host == machine.host && process.boot_id == machine.boot_id;
}

/// The time on the clock by which machines are watched.
double axis_ns(const RawProcessFolder& folder, const Clock& clock, size_t index, uint64_t ns) {
  const trace::RawClockPair& known = folder.process.last;
  return static_cast<double>(clock.time(index, known.ticks).nanos()) +
         static_cast<double>(static_cast<int64_t>(ns - known.monotonic_ns));
}

std::vector<CoreTaker> takers_of(const std::vector<RawProcessFolder>& folders,
                                 const std::vector<TimeSeries>& all_series, const Clock& clock,
                                 const MachineUse& machine) {
  std::vector<std::vector<ProcessDemand>> demands(machine.intervals.size());
  for (size_t i = 0; i < folders.size(); ++i) {
    if (!is_on(folders[i].process, machine)) continue;
    for (size_t k = 0; k < demands.size(); ++k) {
      const Interval& interval = machine.intervals[k];
      demands[k].push_back(between(all_series[i], axis_ns(folders[i], clock, i, interval.begin_ns),
                                   axis_ns(folders[i], clock, i, interval.end_ns)));
      demands[k].back().cores = cores_of(folders[i].process);
    }
  }
  return share_out(machine, demands);
}

/// For nodes that no process watched it is only known that they lacked cores.
void add_unwatched(const std::vector<RawProcessFolder>& folders,
                   const std::vector<MachineUse>& machines, std::vector<CoreTaker>& takers) {
  std::map<std::string, double> lacks_s;
  for (const RawProcessFolder& folder : folders) {
    const bool is_watched =
        std::any_of(machines.begin(), machines.end(), [&](const MachineUse& machine) {
          return is_on(folder.process, machine) && !machine.intervals.empty();
        });
    if (!is_watched && folder.process.core_wait_ns > 0) {
      lacks_s[folder.process.host] += static_cast<double>(folder.process.core_wait_ns) * 1e-9;
    }
  }
  for (const auto& [node, time_s] : lacks_s) {
    takers.push_back({.node = node, .kind = CoreTakerKind::unknown, .time_s = time_s});
  }
}

void add_times(const TimeSeries& series, uint32_t rank, double end_ns,
               std::vector<CoreTime>& times) {
  const ProcessDemand all = between(series, 0, end_ns);
  if (all.without_ns < kWorthRows * (all.without_ns + all.on_core_ns)) return;
  for (size_t part = 0; part < kParts; ++part) {
    const double begin = end_ns * static_cast<double>(part) / kParts;
    const double end = end_ns * static_cast<double>(part + 1) / kParts;
    const ProcessDemand here = between(series, begin, end);
    times.push_back(
        {rank, begin * 1e-9, end * 1e-9, here.on_core_ns * 1e-9, here.without_ns * 1e-9});
  }
}

void add_tasks(const RawProcessFolder& folder, const Survey& survey, uint32_t rank,
               std::vector<TaskGroup>& groups) {
  std::map<std::tuple<std::string, std::string, bool>, TaskGroup> by_kind;
  for (const auto& [number, use] : survey.tasks) {
    const bool recorded = number == folder.process.pid || survey.recorders.contains(number);
    TaskGroup& group = by_kind[{use.library, use.name, recorded}];
    group.rank = rank;
    group.library = use.library;
    group.name = use.name;
    group.recorded = recorded;
    ++group.threads;
    group.on_core_s += static_cast<double>(use.on_core_ns) * 1e-9;
    group.core_wait_s += static_cast<double>(use.without_ns) * 1e-9;
  }
  for (auto& [key, group] : by_kind) groups.push_back(std::move(group));
}

}  // namespace

std::vector<CoreTaker> share_out(const MachineUse& machine,
                                 const std::vector<std::vector<ProcessDemand>>& by_interval) {
  Sharing sharing(machine);
  for (size_t i = 0; i < by_interval.size(); ++i) {
    sharing.add(machine.intervals[i], by_interval[i]);
  }
  return sharing.take_rows();
}

void find_core_takers(const std::vector<RawProcessFolder>& folders,
                      const std::vector<ProcessAccount>& accounts, const Processes& processes,
                      const Clock& clock, const std::vector<MachineUse>& machines,
                      RunFacts& facts) {
  std::vector<TimeSeries> all_series;
  double end_ns = 0;
  for (size_t i = 0; i < folders.size(); ++i) {
    all_series.push_back(series_of(folders[i], accounts[i], clock, i));
    end_ns = std::max(end_ns, all_series.back().back().ns);
  }
  for (const MachineUse& machine : machines) {
    const std::vector<CoreTaker> rows = takers_of(folders, all_series, clock, machine);
    facts.core_takers.insert(facts.core_takers.end(), rows.begin(), rows.end());
  }
  add_unwatched(folders, machines, facts.core_takers);
  for (size_t slot = 0; slot < processes.slots.size(); ++slot) {
    const auto folder = processes.slots[slot].folder;
    if (!folder) continue;
    const auto rank = static_cast<uint32_t>(slot);
    add_times(all_series[*folder], rank, end_ns, facts.core_times);
    add_tasks(folders[*folder], accounts[*folder].survey, rank, facts.tasks);
  }
}

}  // namespace culprit::assemble
