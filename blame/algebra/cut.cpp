// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each call path gets a new place or none, and rows follow their call paths. Rows with a removed
// call path are removed, too: for example a delay's victims that waited elsewhere.

#include "blame/algebra/cut.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/glob.h"
#include "blame/findings/findings_fields.h"
#include "blame/profile/start_up.h"

namespace culprit::blame {
namespace {

std::vector<bool> fitting(const std::vector<FoundCallPath>& callpaths,
                          const std::vector<std::string>& globs) {
  std::vector<bool> fits(callpaths.size());
  for (size_t i = 0; i < callpaths.size(); ++i) {
    for (const std::string& glob : globs) {
      if (matches_callpath(glob, callpaths[i].name, callpaths[i].region)) fits[i] = true;
    }
  }
  return fits;
}

Result<void> check(const std::vector<FoundCallPath>& callpaths, const Cut& wanted) {
  for (const auto* globs : {&wanted.roots, &wanted.drops, &wanted.folded}) {
    for (const std::string& glob : *globs) {
      bool any = false;
      for (const FoundCallPath& path : callpaths)
        any |= matches_callpath(glob, path.name, path.region);
      if (!any) return Error{"no call path is like '" + glob + "'"};
    }
  }
  return {};
}

struct Places {
  std::vector<FoundCallPath> callpaths;
  std::vector<CallPathId> of;  ///< by the old id; none: gone
};

Places place(const std::vector<FoundCallPath>& callpaths, const Cut& wanted) {
  const std::vector<bool> roots = fitting(callpaths, wanted.roots);
  const std::vector<bool> drops = fitting(callpaths, wanted.drops);
  const std::vector<bool> folded = fitting(callpaths, wanted.folded);
  Places places;
  places.of.resize(callpaths.size());
  std::vector<bool> folds(callpaths.size());  // or lies in one that does
  std::vector<bool> gone(callpaths.size());   // dropped, or called by a dropped one
  for (size_t i = 0; i < callpaths.size(); ++i) {
    const CallPathId parent = callpaths[i].parent;
    gone[i] = drops[i] || (parent.valid() && gone[parent.index()]);
    const bool inside = parent.valid() && places.of[parent.index()].valid();
    const bool root = wanted.roots.empty() ? !parent.valid() : roots[i] && !inside;
    if (gone[i] || (!inside && !root)) continue;
    if (inside && folds[parent.index()]) {
      places.of[i] = places.of[parent.index()];
      folds[i] = true;
      continue;
    }
    FoundCallPath path = callpaths[i];
    path.parent = inside ? places.of[parent.index()] : CallPathId::none();
    path.name =
        inside ? places.callpaths[path.parent.index()].name + "/" + path.region : path.region;
    folds[i] = folded[i];
    places.of[i] = CallPathId(places.callpaths.size());
    places.callpaths.push_back(std::move(path));
  }
  return places;
}

/// Whether all of the row's call paths are still there.
template <class Row>
bool move(Row& row, const Places& places) {
  bool there = true;
  Table<Row>::columns(row, [&]<class Type>(const Column<Type>&, auto& field) {
    if constexpr (std::is_same_v<Type, column::CallPath>) {
      if (!field.valid()) return;
      field = places.of[field.index()];
      there &= field.valid();
    }
  });
  return there;
}

template <class Row>
constexpr bool has_callpath() {
  bool has = false;
  Row row{};
  Table<Row>::columns(row, [&]<class Type>(const Column<Type>&, auto&) {
    has |= std::is_same_v<Type, column::CallPath>;
  });
  return has;
}

/// Rows of call paths that were folded into one stay separate, because their sums are the same.
void sum_up(Findings& f) {
  f.run.allocation_s = 0;
  f.identities = {.violations = std::move(f.identities.violations)};
  for (FoundLocation& row : f.locations) row.life_s = row.waiting_s = 0;
  for (const FoundProfile& row : f.profile) {
    f.locations[row.location.index()].life_s += row.time_s;
    f.run.allocation_s += row.time_s;
  }
  for (const FoundWait& row : f.waits) {
    f.locations[row.location.index()].waiting_s += row.time_s;
    f.identities.waiting_s += row.time_s;
  }
  for (const FoundDelay& row : f.delays) f.identities.delay_costs_s += row.short_s + row.long_s;
  for (const FoundCriticalPath& row : f.critical_path) f.identities.critical_path_s += row.time_s;
  f.identities.wall_s = f.run.wall_s;
  f.start_up = sum_start_up(f);
}

/// Returns what locations did over time in the remaining call paths. These times exist per process
/// or group, and are stored at its first location, as in callpath_times.
std::vector<FoundLocationTime> location_times(const std::vector<FoundCallPathTime>& rows) {
  struct Sums {
    double time_s = 0, waiting_s = 0;
    std::map<CallPathId, double> by_path;
  };
  std::map<std::pair<LocationId, uint32_t>, Sums> sums;
  for (const FoundCallPathTime& row : rows) {
    Sums& of = sums[{row.location, row.interval}];
    of.time_s += row.time_s;
    of.waiting_s += row.waiting_s;
    of.by_path[row.callpath] += row.time_s;
  }
  std::vector<FoundLocationTime> times;
  for (const auto& [at, of] : sums) {
    const auto most =
        std::max_element(of.by_path.begin(), of.by_path.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    times.push_back({at.first, at.second, of.time_s, of.waiting_s, most->first});
  }
  return times;
}

}  // namespace

Result<Findings> cut(const Findings& findings, const Cut& wanted) {
  if (auto checked = check(findings.callpaths, wanted); !checked) return checked.error();
  const Places places = place(findings.callpaths, wanted);
  if (places.callpaths.empty()) {
    return Error{"nothing would be left: all call paths are dropped, or lie below one that is"};
  }
  Findings out = findings;
  visit_lists(
      [&](auto& rows) {
        using Row = typename std::remove_cvref_t<decltype(rows)>::value_type;
        if constexpr (!std::is_same_v<Row, FoundCallPath>) {
          if (has_callpath<Row>())
            std::erase_if(rows, [&](Row& row) { return !move(row, places); });
        }
      },
      out);
  out.callpaths = places.callpaths;
  out.efficiencies.clear();
  out.idle_nobody.clear();
  out.unattributed.clear();
  out.tiles.clear();
  out.unexplained.clear();
  out.shared_calls.clear();
  out.spare_threads.clear();
  out.estimates.clear();  // shares of the waiting of the whole run
  out.windows.clear();
  out.periods.clear();  // the periods belonged to series of the whole run
  out.location_times = location_times(out.callpath_times);
  sum_up(out);
  return out;
}

}  // namespace culprit::blame
