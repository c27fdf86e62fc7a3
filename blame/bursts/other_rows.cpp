// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The type of a row decides by what it is scaled up: by the waits that it belongs to, by its call
// path, or by the time of the windows.

#include "blame/bursts/other_rows.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "blame/algebra/sum_rows.h"

namespace culprit::blame {
namespace {

class Joining {
 public:
  Joining(const CommonRun& run, const WaitStrata& places, const PathStrata& paths, Findings& joined)
      : run_(run),
        places_(places),
        paths_(paths),
        visits_(run, PathStrata::Measure::visits),
        joined_(joined) {}

  void join() {
    visit_lists_of<Origin::each_rank>(
        [&](auto& to, const auto& of_profile, const auto& of_whole) {
          join_list(to, of_profile, of_whole);
        },
        joined_, run_.parts.profile, run_.parts.whole);
    join_list(joined_.critical_callpaths, run_.parts.profile.critical_callpaths,
              run_.parts.whole.critical_callpaths);
    join_list(joined_.arrivals, run_.parts.profile.arrivals, run_.parts.whole.arrivals);
    join_list(joined_.refills, run_.parts.profile.refills, run_.parts.whole.refills);
    join_list(joined_.message_use, run_.parts.profile.message_use, run_.parts.whole.message_use);
    fit_receivers();
  }

 private:
  /// Waits and delays are scaled up elsewhere, and the intervals of the run are none of a window.
  template <class Row>
  static constexpr bool kLeftAlone =
      std::is_same_v<Row, FoundWait> || std::is_same_v<Row, FoundDelay> ||
      std::is_same_v<Row, FoundLocationTime> || std::is_same_v<Row, FoundCallPathTime>;

  template <class Row>
  void join_list(std::vector<Row>& to, const std::vector<Row>& of_profile,
                 const std::vector<Row>& of_whole) {
    if constexpr (!kLeftAlone<Row>) {
      // Blame for locks adds up to the waits for them, which are scaled up.
      if (!of_profile.empty() && !std::is_same_v<Row, FoundLockBlame>) {
        to = of_profile;
        return;
      }
      Rows<Row> rows;
      for (const Row& row : of_whole) rows.add(row, SameIds(), 1);
      for (const TracedWindow& window : run_.sample()) {
        for (const Row& row : list_of<Row>(window.findings)) {
          rows.add(row, SameIds(), factor_of(row));
        }
      }
      to = rows.take();
    }
  }

  /// Processes are the same in all parts: their number is not scaled up, and which of them got no
  /// data at all is known least badly by the part in which the fewest got none.
  void fit_receivers() {
    using Sender = std::pair<CallPathId, LocationId>;
    std::map<Sender, std::pair<uint64_t, uint64_t>> known;  // receivers, silent ones
    const auto see = [&](const Findings& part) {
      for (const FoundMessageUse& row : part.message_use) {
        const auto [at, fresh] =
            known.try_emplace({row.callpath, row.location}, row.receivers, row.silent_receivers);
        if (fresh) continue;
        at->second.first = std::max(at->second.first, row.receivers);
        at->second.second = std::min(at->second.second, row.silent_receivers);
      }
    };
    see(run_.parts.whole);
    for (const TracedWindow& window : run_.sample()) see(window.findings);
    for (FoundMessageUse& row : joined_.message_use) {
      const auto at = known.find({row.callpath, row.location});
      if (at == known.end()) continue;
      std::tie(row.receivers, row.silent_receivers) = at->second;
    }
  }

  template <class Row>
  static const std::vector<Row>& list_of(const Findings& findings) {
    const std::vector<Row>* found = nullptr;
    visit_lists(
        [&](const auto& list) {
          using Each = typename std::remove_cvref_t<decltype(list)>::value_type;
          if constexpr (std::is_same_v<Each, Row>) found = &list;
        },
        findings);
    return *found;
  }

  /// Victims and holders of locks stand for what the waits do that they belong to.
  double factor_of(const FoundVictim& row) const {
    return wait_factor(row.wait_callpath, row.wait_location);
  }
  double factor_of(const FoundLockBlame& row) const {
    return wait_factor(row.callpath, row.holder);
  }
  /// As many messages are sent as calls are made, however long these take.
  double factor_of(const FoundMessageUse& row) const {
    return visits_.strata().factor(visits_.of(row.callpath));
  }
  template <class Row>
  double factor_of(const Row& row) const {
    CallPathId path;
    visit_fields(row, [&](const auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, CallPathId>) {
        if (!path.valid()) path = field;
      }
    });
    if (path.valid()) return paths_.strata().factor(paths_.of(path));
    return run_.seen_s > 0 ? run_.rest_s / run_.seen_s : 1;
  }
  double wait_factor(CallPathId path, LocationId location) const {
    return places_.strata().factor(places_.of(path, location));
  }

  const CommonRun& run_;
  const WaitStrata& places_;
  const PathStrata& paths_;
  const PathStrata visits_;
  Findings& joined_;
};

/// What waiting MPI's calls turned out to be is no work there. The classes of a thread's time stay
/// as long as its life.
void fit_tiles(Findings& joined) {
  std::map<LocationId, double> waiting_s;
  for (const FoundWait& row : joined.waits) {
    const bool start_up = row.callpath.valid() && joined.callpaths[row.callpath.index()].start_up;
    if (!start_up) waiting_s[row.location] += row.time_s;
  }
  std::map<std::pair<LocationId, Tile>, FoundTile*> tiles;
  for (FoundTile& row : joined.tiles) tiles[{row.location, row.tile}] = &row;
  std::vector<FoundTile> made;
  for (const auto& [location, time_s] : waiting_s) {
    const auto waiting = tiles.find({location, Tile::waiting});
    double lacks_s = time_s - (waiting == tiles.end() ? 0 : waiting->second->time_s);
    double moved_s = 0;
    for (const Tile from : {Tile::mpi, Tile::overhead}) {
      const auto tile = tiles.find({location, from});
      if (tile == tiles.end() || lacks_s <= moved_s) continue;
      const double part_s = std::min(tile->second->time_s, lacks_s - moved_s);
      tile->second->time_s -= part_s;
      tile->second->callpath_s = std::min(tile->second->callpath_s, tile->second->time_s);
      moved_s += part_s;
    }
    if (moved_s <= 0) continue;
    if (waiting != tiles.end()) {
      waiting->second->time_s += moved_s;
    } else {
      made.push_back({Tile::waiting, location, moved_s, {}, 0});
    }
  }
  joined.tiles.insert(joined.tiles.end(), made.begin(), made.end());
}

/// The critical path is as long as the run. Of start-up all was traced; how long the rest is, is
/// an estimate.
void fit_critical_path(Findings& joined) {
  const auto is_exact = [&](const auto& row) {
    return row.callpath.valid() && joined.callpaths[row.callpath.index()].start_up;
  };
  const auto factor_for = [&](const auto& rows) {
    double exact_s = 0, sum_s = 0;
    for (const auto& row : rows) (is_exact(row) ? exact_s : sum_s) += row.time_s;
    return sum_s > 0 ? std::max(0.0, joined.run.wall_s - exact_s) / sum_s : 1.0;
  };
  const double of_path = factor_for(joined.critical_path);
  for (FoundCriticalPath& row : joined.critical_path) {
    if (!is_exact(row)) row.time_s *= of_path;
  }
  const double of_callpaths = factor_for(joined.critical_callpaths);
  for (FoundCriticalCallPath& row : joined.critical_callpaths) {
    if (is_exact(row)) continue;
    row.time_s *= of_callpaths;
    row.imbalance_s *= of_callpaths;
  }
}

}  // namespace

void add_other_rows(const CommonRun& run, const WaitStrata& places, const PathStrata& paths,
                    Findings& joined) {
  Joining(run, places, paths, joined).join();
  fit_critical_path(joined);
  fit_tiles(joined);
}

}  // namespace culprit::blame
