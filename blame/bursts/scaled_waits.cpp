// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of all parts are gathered first: what windows saw of a row, and where. Then each is scaled
// up as a whole.

#include "blame/bursts/scaled_waits.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "blame/algebra/sum_rows.h"
#include "replay/model/wait_patterns.h"

namespace culprit::blame {
namespace {

bool is_waiting(const std::string& pattern) {
  const size_t known = replay::find_pattern(pattern);
  return known < replay::kPatterns.size() &&
         replay::counts_as_waiting(static_cast<replay::Pattern>(known));
}

double time_of(const FoundWait& row) {
  return row.time_s;
}
double time_of(const FoundDelay& row) {
  return row.short_s + row.long_s;
}
double time_of(const FoundUnattributed& row) {
  return row.time_s;
}

void multiply(FoundDelay& row, double factor) {
  row.short_s *= factor;
  row.long_s *= factor;
}
void multiply(FoundUnattributed& row, double factor) {
  row.time_s *= factor;
}

/// A row to which parts are still being added. Its sums are those of the part traced whole, and of
/// all that windows saw.
template <class Row>
struct Gathered {
  Row known, seen;
  RowSums known_sums, seen_sums;
  double known_s = 0;
  std::vector<double> seen_s;      ///< by window
  std::vector<SeenCost> placed;    ///< of it, where the stratum is known
  std::vector<double> unplaced_s;  ///< of it, where none is, by window
};

template <class Row>
class Gathering {
 public:
  explicit Gathering(size_t windows) : windows_(windows) {}

  void add_known(const Row& row) {
    Gathered<Row>& at = take(row);
    at.known_sums.add(at.known, row, 1);
    at.known_s += time_of(row);
  }
  Gathered<Row>& add_seen(const Row& row, size_t window) {
    Gathered<Row>& at = take(row);
    at.seen_sums.add(at.seen, row, 1);
    at.seen_s[window] += time_of(row);
    return at;
  }
  std::vector<Gathered<Row>>& all() { return all_; }

 private:
  Gathered<Row>& take(Row row) {
    const auto [at, fresh] = place_.try_emplace(translate(row, SameIds()), all_.size());
    if (fresh) {
      Gathered<Row>& made = all_.emplace_back();
      clear_sums(row);
      made.known = made.seen = row;
      made.seen_s.resize(windows_);
      made.unplaced_s.resize(windows_);
    }
    return all_[at->second];
  }

  size_t windows_;
  std::unordered_map<std::string, size_t> place_;
  std::vector<Gathered<Row>> all_;
};

/// Puts the known part and the scaled one together: each column of the latter as the time of the
/// row is.
template <class Row>
ScaledRow<Row> settled(Gathered<Row>& from, ScaledCost scaled) {
  ScaledRow<Row> result;
  result.known_s = from.known_s;
  from.known_sums.round_into(from.known);
  from.seen_sums.round_into(from.seen);
  const double seen_s = time_of(from.seen);
  RowSums sums;
  result.row = from.known;
  clear_sums(result.row);
  sums.add(result.row, from.known, 1);
  if (seen_s > 0) sums.add(result.row, from.seen, scaled.cost_s / seen_s);
  sums.round_into(result.row);
  result.scaled = std::move(scaled);
  return result;
}

/// All waits of a pattern.
struct PatternWaits {
  ScaledCost scaled;
  std::vector<double> seen_s;  ///< by window
};
using Patterns = std::map<std::string, PatternWaits>;

class WaitScaling {
 public:
  WaitScaling(const CommonRun& run, const WaitStrata& places)
      : run_(run), places_(places), windows_(run.sample().size()) {}

  ScaledWaits scale() {
    scale_up_waits();
    scale_up_delays();
    scale_up_unattributed();
    balance();
    return std::move(result_);
  }

 private:
  void scale_up_waits() {
    Gathering<FoundWait> gathering(windows_);
    for (const FoundWait& row : run_.parts.whole.waits) gathering.add_known(row);
    for (size_t j = 0; j < windows_; ++j) {
      for (const FoundWait& row : run_.sample()[j].findings.waits) {
        const size_t stratum = places_.of(row.callpath, row.location);
        gathering.add_seen(row, j).placed.push_back({stratum, j, row.time_s});
      }
    }
    for (Gathered<FoundWait>& each : gathering.all()) {
      ScaledRow<FoundWait> row = settled(each, scale_up(places_.strata(), each.placed));
      PatternWaits& all = patterns_[row.row.pattern];
      all.scaled += row.scaled;
      all.seen_s.resize(windows_);
      for (size_t j = 0; j < windows_; ++j) all.seen_s[j] += each.seen_s[j];
      result_.waits.push_back(std::move(row));
    }
  }

  void scale_up_delays() {
    Gathering<FoundDelay> gathering(windows_);
    for (const FoundDelay& row : run_.parts.whole.delays) gathering.add_known(row);
    for (size_t j = 0; j < windows_; ++j) add_delays(j, gathering);
    for (Gathered<FoundDelay>& each : gathering.all()) {
      ScaledCost cost = scale_up(places_.strata(), each.placed);
      cost += share_of(each.known.pattern, each.unplaced_s);
      result_.delays.push_back(settled(each, std::move(cost)));
    }
  }

  /// Those of a window, each divided among the places where its victims waited.
  void add_delays(size_t window, Gathering<FoundDelay>& gathering) const {
    const Findings& findings = run_.sample()[window].findings;
    using Delay = std::tuple<std::string, CallPathId, LocationId>;
    std::map<Delay, std::vector<const FoundVictim*>> victims;
    for (const FoundVictim& row : findings.victims) {
      victims[{row.pattern, row.delay_callpath, row.delay_location}].push_back(&row);
    }
    for (const FoundDelay& row : findings.delays) {
      Gathered<FoundDelay>& at = gathering.add_seen(row, window);
      const auto known = victims.find({row.pattern, row.callpath, row.location});
      double victims_s = 0;
      if (known != victims.end()) {
        for (const FoundVictim* victim : known->second) victims_s += victim->time_s;
      }
      if (victims_s <= 0) {
        at.unplaced_s[window] += time_of(row);
        continue;
      }
      for (const FoundVictim* victim : known->second) {
        const size_t stratum = places_.of(victim->wait_callpath, victim->wait_location);
        at.placed.push_back({stratum, window, time_of(row) * victim->time_s / victims_s});
      }
    }
  }

  void scale_up_unattributed() {
    Gathering<FoundUnattributed> gathering(windows_);
    for (const FoundUnattributed& row : run_.parts.whole.unattributed) gathering.add_known(row);
    for (size_t j = 0; j < windows_; ++j) {
      for (const FoundUnattributed& row : run_.sample()[j].findings.unattributed) {
        gathering.add_seen(row, j).unplaced_s[j] += row.time_s;
      }
    }
    for (Gathered<FoundUnattributed>& each : gathering.all()) {
      result_.unattributed.push_back(settled(each, share_of(each.known.pattern, each.unplaced_s)));
    }
  }

  /// A part of the pattern's waits; of what is no waiting, of the windows' time.
  ScaledCost share_of(const std::string& pattern, const std::vector<double>& part_s) const {
    if (const auto known = patterns_.find(pattern); known != patterns_.end()) {
      return part_of(known->second.scaled, known->second.seen_s, part_s);
    }
    std::vector<double> lengths_s;
    for (const TracedWindow& window : run_.sample()) {
      lengths_s.push_back(window.end_s - window.counted_from_s);
    }
    ScaledCost all;
    all.cost_s = run_.rest_s;
    all.seen_s = run_.is_apart() ? 0 : run_.seen_s;
    all.residuals_s.resize(windows_);
    return part_of(all, lengths_s, part_s);
  }

  /// Costs and waiting without a cause add up to the waits of the pattern.
  void balance() {
    std::map<std::string, ScaledCost> sums;
    for (const auto& each : result_.delays) sums[each.row.pattern] += each.scaled;
    for (const auto& each : result_.unattributed) sums[each.row.pattern] += each.scaled;
    const auto bring = [&](auto& rows) {
      for (auto& each : rows) {
        const auto pattern = patterns_.find(each.row.pattern);
        const ScaledCost& sum = sums[each.row.pattern];
        if (pattern == patterns_.end() || sum.cost_s <= 0 || !is_waiting(each.row.pattern)) {
          continue;
        }
        const double before_s = each.known_s + each.scaled.cost_s;
        each.scaled = balanced(each.scaled, sum, pattern->second.scaled);
        if (before_s > 0) multiply(each.row, (each.known_s + each.scaled.cost_s) / before_s);
      }
    };
    bring(result_.delays);
    bring(result_.unattributed);
  }

  const CommonRun& run_;
  const WaitStrata& places_;
  const size_t windows_;
  Patterns patterns_;
  ScaledWaits result_;
};

}  // namespace

ScaledWaits scale_waits(const CommonRun& run, const WaitStrata& places) {
  return WaitScaling(run, places).scale();
}

}  // namespace culprit::blame
