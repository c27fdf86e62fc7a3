// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sums take the places that the passes over a trace would fill, in a run without events; from
// there on the same code makes findings of them.
#include "blame/from_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/parallel.h"
#include "blame/audit/audit.h"
#include "blame/collect/collect.h"
#include "blame/collect/rank_spreads.h"
#include "blame/explain/efficiency.h"
#include "blame/finish.h"
#include "trace/mpi_calls.h"
#include "trace/openmp_names.h"
#include "trace/pseudo_regions.h"
#include "trace/thread_calls.h"

namespace culprit::blame {

namespace {

using replay::Pattern;
using replay::pattern;
using trace::ProfileEntry;
using trace::ProfileLine;
using trace::RegionRole;

CallPathId artificial(replay::Run& run, std::string_view name) {
  run.regions.push_back(
      {std::string(name), RegionRole::artificial, trace::Paradigm::unknown, {}, 0});
  return run.callpaths.child(CallPathId::none(), RegionId(run.regions.size() - 1));
}

void settle_line(const ProfileLine& line, bool is_master, replay::Timeline& to) {
  to.first = line.begin;
  to.last = line.end;
  to.events = line.records;
  to.in_teams = line.of_a_pool;
  to.own_thread = !is_master && !line.of_a_pool;
}

/// A run in which nothing is missing but its events. `places`: where the profile's call paths are.
replay::Run run_of(const trace::Profile& profile, Transport& alone,
                   std::vector<CallPathId>& places) {
  replay::Run run;
  run.definitions = &profile.definitions;
  run.ranks = &alone;
  run.shares = replay::Shares(profile.definitions, 1);
  run.regions = profile.definitions.regions;
  for (const trace::ProfilePath& path : profile.paths) {
    const CallPathId parent = path.parent.valid() ? places[path.parent.index()] : path.parent;
    places.push_back(run.callpaths.child(parent, path.region));
  }
  run.not_started = artificial(run, trace::pseudo::not_started);
  run.idle = artificial(run, trace::pseudo::idle);
  run.waking = artificial(run, trace::pseudo::waking);
  run.ended = artificial(run, trace::pseudo::ended);
  run.outside = artificial(run, trace::pseudo::outside);
  run.timelines.resize(profile.definitions.locations.size());
  run.visits.resize(run.timelines.size());
  run.samples.resize(run.timelines.size());
  for (size_t i = 0; i < profile.lines.size(); ++i) {
    const ProfileLine& line = profile.lines[i];
    if (line.rows.empty()) continue;
    const LocationId id(i);
    run.locations.push_back(id);
    run.events += std::max<uint64_t>(line.records, 1);
    settle_line(line, run.is_master(id), run.timelines[i]);
    run.timelines[i].events = std::max<uint64_t>(line.records, 1);
  }
  if (run.locations.empty()) return run;
  replay::settle_span(run);
  return run;
}

/// The pattern of waits in this region, as far as the region says it.
Pattern pattern_at(const trace::Region& region) {
  const std::string_view name = region.name;
  switch (region.role) {
    case RegionRole::barrier:
    case RegionRole::implicit_barrier:
      return region.paradigm == trace::Paradigm::mpi ? pattern("mpi.wait_at_barrier")
                                                     : pattern("omp.barrier");
    case RegionRole::task_wait:
      return name.find("taskgroup") != name.npos ? pattern("omp.taskgroup")
                                                 : pattern("omp.taskwait");
    case RegionRole::lock:
      return pattern("omp.lock");
    case RegionRole::critical:
      if (name.find("ordered") != name.npos) return pattern("omp.ordered");
      if (name.find("atomic") != name.npos) return pattern("omp.atomic");
      return pattern("omp.critical");
    case RegionRole::collective:
      return pattern("mpi.wait_at_nxn");
    default:
      return region.paradigm == trace::Paradigm::mpi ? pattern("mpi.late_sender")
                                                     : pattern("omp.barrier");
  }
}

/// Fills one location's part of what the passes over a trace leave. A thread's time before its
/// first record and after its last is what it is for threads of a trace (replay/read/lives.cpp).
class LineReader {
 public:
  LineReader(const replay::Run& run, const std::vector<CallPathId>& places, LocationId id,
             const ProfileLine& line)
      : run_(run), places_(places), id_(id), line_(line) {}

  void read(Explanations& all, std::vector<uint64_t>& visits,
            std::vector<replay::PathSamples>& samples) {
    profile_ = &all.profiles[id_.index()];
    waits_ = &all.waits[id_.index()];
    visits.resize(run_.callpaths.size());
    samples.resize(run_.callpaths.size());
    for (const ProfileEntry& row : line_.rows) {
      const CallPathId path = places_[row.path.index()];
      spend(path, row.time - row.waiting);
      wait(pattern_at(run_.regions[run_.callpaths[path].region.index()]), path, row);
      visits[path.index()] += row.visits;
      samples[path.index()].add(
          {row.samples, row.observed, row.system, row.faulting, row.page_faults});
    }
    fill_life();
  }

 private:
  void spend(CallPathId path, Duration time) {
    if (time > Duration::zero()) profile_->push_back({path, time});
  }
  void wait(Pattern pattern, CallPathId path, const ProfileEntry& row) {
    if (row.waiting <= Duration::zero()) return;
    waits_->push_back({pattern, path, row.visits, row.waiting});
  }
  void idle(Duration time) {
    if (time > Duration::zero()) {
      waits_->push_back({pattern("omp.idle_threads"), run_.idle, 0, time});
    }
  }

  void fill_life() {
    const replay::Timeline& line = run_.at(id_);
    Duration idle_time = line_.idle;
    spend(run_.waking, line_.waking);
    if (!line.own_thread) {
      const replay::Timeline& master = run_.at(run_.master_of(id_));
      const bool late = line_.of_a_pool && !master.empty() && master.first < line.first;
      const Time begun = late ? master.first : line.first;
      spend(run_.not_started, begun - run_.begin);
      if (late) idle_time += line.first - begun;
      const Time end = line_.of_a_pool ? std::max(line.last, master.last) : line.last;
      idle_time += end - line.last;
      spend(run_.ended, run_.end - end);
    }
    idle(idle_time);
  }

  const replay::Run& run_;
  const std::vector<CallPathId>& places_;
  const LocationId id_;
  const ProfileLine& line_;
  std::vector<PathTime>* profile_ = nullptr;
  std::vector<WaitSum>* waits_ = nullptr;
};

/// Of a process: its master's time outside of teams in which it is in MPI, a device's call or
/// start-up. Meanwhile its pool is idle because of that, and not because the program is serial.
struct MasterAway {
  double mpi_s = 0, io_s = 0, start_up_s = 0;
};

MasterAway away_of(const std::vector<PathTime>& master, const std::vector<PathKind>& kinds,
                   const std::vector<bool>& inside) {
  MasterAway away;
  for (const PathTime& entry : master) {
    if (inside[entry.path.index()]) continue;
    switch (kinds[entry.path.index()]) {
      case PathKind::mpi:
        away.mpi_s += entry.time.seconds();
        break;
      case PathKind::io:
        away.io_s += entry.time.seconds();
        break;
      case PathKind::start_up:
        away.start_up_s += entry.time.seconds();
        break;
      default:
        break;
    }
  }
  return away;
}

/// The pools of processes, and why they are idle: as far as their masters' time outside of teams
/// shows it. A pool cannot be idle for longer than it was.
IdleBlame pools_of(const replay::Run& run, const trace::Profile& profile, const Explanations& all) {
  const std::vector<PathKind> kinds = path_kinds(run);
  const std::vector<bool> inside = inside_parallel(run);
  IdleBlame pools;
  for (const trace::Process& process : run.definitions->processes) {
    IdleBlame::TeamGroup group;
    double idle_s = 0;
    for (LocationId id : process.locations) {
      const bool of_a_pool = profile.lines[id.index()].of_a_pool;
      if (run.at(id).empty() || (!of_a_pool && !run.is_master(id))) continue;
      group.members.push_back(id);
      for (const WaitSum& sum : all.waits[id.index()]) {
        const WaitKind kind = wait_kind(sum.pattern);
        if (kind == WaitKind::pool) idle_s += sum.time.seconds();
        if (kind == WaitKind::pool || kind == WaitKind::team) group.idle_s += sum.time.seconds();
      }
    }
    if (group.members.size() < 2 || !run.is_master(group.members.front())) continue;
    const auto others = static_cast<double>(group.members.size() - 1);
    const MasterAway away = away_of(all.profiles[group.members.front().index()], kinds, inside);
    const auto charge = [&](NobodyReason reason, double of_master_s) {
      const double time_s = std::min(idle_s, others * of_master_s);
      group.nobody_pool_s[static_cast<size_t>(reason)] = time_s;
      idle_s -= time_s;
    };
    charge(NobodyReason::start_up, away.start_up_s);
    charge(NobodyReason::mpi, away.mpi_s);
    charge(NobodyReason::io, away.io_s);
    pools.groups.push_back(std::move(group));
  }
  return pools;
}

/// What needs waiting in MPI is not known; nor are its products wrong without it.
void add_efficiencies(const replay::Run& run, const trace::Profile& profile,
                      const Explanations& all, Findings& found) {
  std::vector<ProcessTimes> processes =
      process_times(run, all.waits, all.profiles, pools_of(run, profile, all));
  std::erase_if(processes, [](const ProcessTimes& process) { return process.threads <= 0; });
  found.efficiencies = efficiencies(processes, run.wall().seconds(), false);
  std::erase_if(found.efficiencies,
                [](const FoundEfficiency& row) { return row.parent == Factor::mpi_communication; });
}

NobodyReason reason_of(trace::ProfileNobody::Reason reason) {
  using Reason = trace::ProfileNobody::Reason;
  switch (reason) {
    case Reason::mpi:
      return NobodyReason::mpi;
    case Reason::mutex:
      return NobodyReason::mutex;
    case Reason::device:
      return NobodyReason::device;
    case Reason::waking:
      return NobodyReason::waking;
    case Reason::early:
      return NobodyReason::start_up;
    case Reason::other:
      break;
  }
  return NobodyReason::absent;
}

void add_blame(const trace::Profile& profile, const replay::Run& run,
               const std::vector<CallPathId>& places, Findings& found) {
  if (!profile.has_blame) return;
  Identities& sums = found.identities;
  for (LocationId id : run.locations) {
    for (const ProfileEntry& row : profile.lines[id.index()].rows) {
      const CallPathId path = places[row.path.index()];
      if (row.lock_blame > Duration::zero()) {
        const Pattern kind = pattern_at(run.regions[run.callpaths[path].region.index()]);
        const CallPathId unknown;
        found.lock_blame.push_back({std::string(replay::text(kind).id), id, path, unknown, unknown,
                                    row.visits, row.lock_blame.seconds()});
      }
      if (row.blame <= Duration::zero()) continue;
      found.idle_blame.push_back({path, id, row.blame.seconds()});
      sums.idle_blame_s += row.blame.seconds();
    }
  }
  for (const trace::ProfileNobody& row : profile.nobody) {
    found.idle_nobody.push_back({row.first, reason_of(row.reason), row.time.seconds()});
    sums.idle_nobody_s += row.time.seconds();
  }
  sums.idle_s = sums.idle_blame_s + sums.idle_nobody_s;
  constexpr double kMatters = 0.01;
  const double rest_s = profile.not_shared.seconds();
  if (rest_s <= kMatters * sums.idle_s) return;
  found.run.notes.push_back(fmt::format(
      "{:.1f} s in which threads were idle are not shared among those that worked meanwhile: the "
      "program was killed, or its threads did more at once than could be followed.",
      rest_s));
}

constexpr std::string_view kWhatIsMissing =
    "These figures are of a profile: times, visits and bytes by call path are sums over all of the "
    "run, exact where calls and constructs begin and end, and divided among functions by samples. "
    "A "
    "profile has no single events: which process made another wait, and the critical path, are not "
    "known. Waiting in OpenMP is all time in barriers and the like, the runtime's own included.";

}  // namespace

Result<Findings> findings_of_profile(const trace::Profile& profile, unsigned threads,
                                     const Losses& losses) {
  threads = thread_count(threads);
  Alone alone;
  std::vector<CallPathId> places;
  replay::Run run = run_of(profile, alone, places);
  if (run.locations.empty()) return Error{"the profile has no time of any thread"};
  replay::WaitGraph graph;
  graph.pollings.resize(run.timelines.size());
  Explanations all;
  all.profiles.resize(run.timelines.size());
  all.waits.resize(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const size_t at = run.locations[i].index();
    LineReader(run, places, run.locations[i], profile.lines[at])
        .read(all, run.visits[at], run.samples[at]);
  });
  Findings found = collect_findings(run, graph, all, threads);
  found.run.notes.emplace_back(kWhatIsMissing);
  found.coverage = {FoundCoverage()};  // nothing was traced
  found.tiles = find_tiles(run, all, threads);
  add_efficiencies(run, profile, all, found);
  add_blame(profile, run, places, found);
  found.rank_spreads = rank_spreads_of(profile, places);
  found.losses.merge(losses);
  finish_findings(found, threads, false);
  return found;
}

}  // namespace culprit::blame
