// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums over rows of findings; what is small is left out of words, not out of sums.
#include "report/verdict/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "blame/judge/diagnose.h"
#include "blame/judge/summary.h"
#include "report/verdict/places.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::FoundTile;
using blame::FoundUnexplained;
using blame::OwnAllocation;
using blame::Proportion;
using blame::Tile;

constexpr double kNearlyAll = 0.8;
constexpr double kMostOfIt = 0.5;
/// An evenly spread time has 80 % of itself in 80 % of the run: an interval beyond this part of the
/// run is not worth naming.
constexpr double kMostOfTheRun = 0.7;
constexpr double kAtItsEdge = 0.05;  ///< of the run

/// The part of a rank's time in which its threads had a core when they could run.
std::map<uint32_t, double> with_core(const Findings& findings) {
  std::map<uint32_t, double> lives;
  for (const blame::FoundLocation& location : findings.locations) {
    if (location.stream.empty()) lives[location.rank] += location.life_s;
  }
  std::map<uint32_t, double> parts;
  for (const blame::FoundProcess& process : findings.processes) {
    const double life_s = lives[process.rank];
    if (process.core_wait_s <= 0 || life_s <= 0) continue;
    parts[process.rank] = std::max(0.0, 1 - process.core_wait_s / life_s);
  }
  return parts;
}

/// Calls of which a diagnosis says why they take long: threads that hinder each other in MPI.
std::set<std::pair<CallPathId, LocationId>> diagnosed_calls(const Findings& findings) {
  std::set<std::pair<CallPathId, LocationId>> calls;
  if (find_diagnosis(findings, blame::Diagnosis::threads_in_mpi) == nullptr) return calls;
  for (const blame::FoundSharedCalls& row : findings.shared_calls) {
    calls.insert({row.callpath, row.location});
  }
  return calls;
}

std::vector<blame::Share> sorted(const std::map<LocationId, double>& sums) {
  std::vector<blame::Share> shares;
  for (const auto& [location, time_s] : sums) shares.push_back({location, time_s});
  std::stable_sort(shares.begin(), shares.end(), [](const blame::Share& a, const blame::Share& b) {
    return a.time_s > b.time_s;
  });
  return shares;
}

std::string_view words_of(Tile tile) {
  switch (tile) {
    case Tile::useful:
      return "useful";
    case Tile::waiting:
      return "waiting";
    case Tile::polling:
      return "polling";
    case Tile::mpi:
      return "MPI itself";
    case Tile::io:
      return "I/O";
    case Tile::blocked:
      return "sleep in calls of the system";
    case Tile::spinning:
      return "in loops that wait for memory to change";
    case Tile::overhead:
      return "OpenMP's overhead";
    case Tile::start_up:
      return "start-up and shutdown";
    case Tile::absent:
      return "time before threads began or after they ended";
  }
  return "";
}

/// For spinning threads the place is a function.
std::string place_of(const Audit& audit, const Findings& findings, const PageNames& names) {
  const CallPathId parent = findings.callpaths[audit.callpath.index()].parent;
  return names.region(audit.spins && parent.valid() ? parent : audit.callpath);
}

}  // namespace

Audit audit(const Findings& findings) {
  const std::map<uint32_t, double> core = with_core(findings);
  const auto diagnosed = diagnosed_calls(findings);
  std::map<CallPathId, double> by_path;
  std::map<CallPathId, std::map<LocationId, double>> places;
  double all_s = 0;
  const FoundUnexplained* largest = nullptr;
  for (const FoundUnexplained& row : findings.unexplained) {
    const bool start_up = row.callpath.valid() && findings.callpaths[row.callpath.index()].start_up;
    if (start_up || diagnosed.contains({row.callpath, row.location})) continue;
    const auto part = core.find(findings.locations[row.location.index()].rank);
    const double time_s = row.time_s * (part == core.end() ? 1 : part->second);
    by_path[row.callpath] += time_s;
    places[row.callpath][row.location] += time_s;
    all_s += time_s;
  }
  Audit audit;
  const Amount<OwnAllocation> whole = blame::own_allocation(findings);
  audit.unexplained = Proportion::of(std::min(Amount<OwnAllocation>(all_s), whole), whole);
  if (by_path.empty()) return audit;
  const auto most =
      std::max_element(by_path.begin(), by_path.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  audit.callpath = most->first;
  audit.shares = sorted(places[most->first]);
  audit.is_most = most->second >= kNearlyAll * all_s;
  for (const FoundUnexplained& row : findings.unexplained) {
    if (row.callpath != audit.callpath || row.location != audit.shares.front().location) continue;
    if (largest == nullptr || row.time_s > largest->time_s) largest = &row;
  }
  audit.begin_s = largest->begin_s;
  audit.end_s = largest->end_s;
  audit.spins = largest->kind == blame::Unexplained::spinning;
  if (audit.spins && largest->meanwhile_s >= kMostOfIt * largest->time_s) {
    audit.meanwhile = largest->meanwhile;
    audit.meanwhile_at = largest->meanwhile_at;
  }
  return audit;
}

std::string stretch_words(double begin_s, double end_s, const Findings& findings,
                          const TimeFormat& time) {
  const double wall_s = findings.run.wall_s;
  if (end_s - begin_s >= kMostOfTheRun * wall_s) return "";
  if (end_s >= (1 - kAtItsEdge) * wall_s) return fmt::format(" from {} on", time(begin_s));
  if (begin_s <= kAtItsEdge * wall_s) return fmt::format(" until {}", time(end_s));
  return fmt::format(" between {} and {}", time(begin_s), time(end_s));
}

std::string unexplained_sentence(const Audit& audit, const Findings& findings,
                                 const PageNames& names, const TimeFormat& time) {
  const std::string lost =
      fmt::format("{} of the time is lost{} in {} {}{}", rounded(audit.unexplained),
                  audit.is_most ? "" : ", most of it", place_of(audit, findings, names),
                  on_places(audit.shares, findings, names),
                  stretch_words(audit.begin_s, audit.end_s, findings, time));
  if (!audit.spins) return lost + ", unexplained.";
  if (!audit.meanwhile.valid()) return lost + ", looking again and again until memory changes.";
  return fmt::format(
      "{}, looking again and again until memory changes; meanwhile, {} was executed {}.", lost,
      names.region(audit.meanwhile), on_places({{audit.meanwhile_at, 1}}, findings, names));
}

std::string unexplained_warning(const Audit& audit, const Findings& findings,
                                const PageNames& names) {
  return fmt::format("{} of the time is not explained: {} {}; the page shows when.",
                     rounded(audit.unexplained), place_of(audit, findings, names),
                     on_places(audit.shares, findings, names));
}

std::vector<TileTotal> lost_tiles(const Findings& findings) {
  struct Sum {
    double time_s = 0;
    std::map<CallPathId, double> by_path;
    std::map<LocationId, double> by_location;
  };
  std::map<Tile, Sum> sums;
  for (const FoundTile& row : findings.tiles) {
    if (row.tile == Tile::useful || row.tile == Tile::waiting) continue;
    Sum& sum = sums[row.tile];
    sum.time_s += row.time_s;
    sum.by_path[row.callpath] += row.callpath_s;
    sum.by_location[row.location] += row.time_s;
  }
  std::vector<TileTotal> totals;
  for (const auto& [tile, sum] : sums) {
    const auto most =
        std::max_element(sum.by_path.begin(), sum.by_path.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    totals.push_back({tile, sum.time_s, most->first, sorted(sum.by_location)});
  }
  std::stable_sort(totals.begin(), totals.end(),
                   [](const TileTotal& a, const TileTotal& b) { return a.time_s > b.time_s; });
  return totals;
}

std::string tile_sentence(const TileTotal& total, const Findings& findings,
                          const PageNames& names) {
  const Proportion share =
      Proportion::of(Amount<OwnAllocation>(total.time_s), blame::own_allocation(findings));
  const bool nowhere = total.tile == Tile::absent || !total.callpath.valid();
  const bool may_wait = total.tile == Tile::mpi && blame::is_of_profile_alone(findings);
  std::string_view open;
  if (total.tile == Tile::blocked) open = "; what it waits for is not known";
  if (may_wait) open = "; how much of it is waiting, a profile does not know";
  return fmt::format("{} of the time is {}{} {}{}.", rounded(share),
                     may_wait ? "in MPI" : words_of(total.tile),
                     nowhere ? "," : fmt::format(", mostly {}", names.code(total.callpath)),
                     on_places(total.shares, findings, names), open);
}

}  // namespace culprit::report
