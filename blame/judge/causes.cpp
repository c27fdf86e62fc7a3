// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Delays are summed by function at the outermost level of recursion; costs that a function only
// passed on are charged to the origin. Costs are moved, never dropped, but for those of devices
// that may not have been idle.
#include "blame/judge/causes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/shared_functions.h"
#include "blame/profile/start_up.h"
#include "replay/model/wait_patterns.h"
#include "trace/device_calls.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {
namespace {

/// The cost of a call that waited for at least this part of its time is passed on, ...
constexpr double kMostlyWaits = 0.5;
/// ... if the cause is known for at least this part of its waiting.
constexpr double kMostlyKnown = 0.5;
constexpr size_t kLongestChain = 8;  ///< of calls that wait for each other
/// A function is recursive if at least this part of its cost lies below second, nested calls of it.
constexpr double kRecurses = 0.5;
/// A function below a recursive one is named itself if it carries at least this part of its cost.
constexpr double kCarriesIt = 0.5;
constexpr double kHalf = 0.5;

using Place = std::pair<CallPathId, LocationId>;
/// A cost, and what is split and summed as it is.
struct Carried {
  double cost_s = 0;
  std::vector<double> values;

  Carried& operator+=(const Carried& other) {
    cost_s += other.cost_s;
    values.resize(std::max(values.size(), other.values.size()));
    for (size_t i = 0; i < other.values.size(); ++i) values[i] += other.values[i];
    return *this;
  }
  Carried part(double time_s, double of_s) const {
    Carried part{cost_s * time_s / of_s, values};
    for (double& value : part.values) value *= time_s / of_s;
    return part;
  }
};

/// Redirects costs of delays from calls that wait to the causes of those waits.
class RedirectedCosts {
 public:
  struct Part {
    Place place;
    Carried cost;
    CallPathId through;  ///< the first call on the way
  };

  /// Large runs have many rows, but few calls whose waits have known causes: only these are looked
  /// up.
  explicit RedirectedCosts(const Findings& findings) : findings_(findings) {
    find_waiting_calls();
    add_idle_devices();
  }
  /// `values`: by row of delays, or none.
  std::vector<Part> all(std::span<const std::vector<double>> values) {
    std::vector<Part> parts;
    Costs under_way, settled;
    for (size_t i = 0; i < findings_.delays.size(); ++i) {
      const FoundDelay& row = findings_.delays[i];
      if (is_of_start_up(findings_, row) || is_in_doubt(row)) continue;
      const Place place{row.callpath, row.location};
      Carried cost{row.short_s + row.long_s, values.empty() ? std::vector<double>() : values[i]};
      if (calls_.contains(place)) {
        under_way[{place, CallPathId()}] += cost;
      } else {
        parts.push_back({place, std::move(cost), {}});
      }
    }
    for (size_t step = 0; step < kLongestChain && !under_way.empty(); ++step) {
      under_way = go_on(under_way, settled);
    }
    for (const auto& [at, cost] : under_way)
      settled[at] += cost;  // calls that wait for each other in a circle
    for (const auto& [at, cost] : settled) parts.push_back({at.first, cost, at.second});
    return parts;
  }

 private:
  bool is_in_doubt(const FoundDelay& row) const {
    if (!device_operations_are_missing(findings_)) return false;
    const size_t pattern = replay::find_pattern(row.pattern);
    return replay::is_of_idle_device(static_cast<replay::Pattern>(pattern));
  }

  /// A call that waited, the causes of its waits, and its time.
  struct Call {
    struct Behind {
      Place place;
      double time_s;
    };
    std::vector<Behind> behind;
    double known_s = 0, waited_s = 0, spent_s = 0;
  };
  /// Costs by place, and by the first call on the way there.
  using Costs = std::map<std::pair<Place, CallPathId>, Carried>;

  void find_waiting_calls() {
    for (const FoundVictim& row : findings_.victims) {
      if (is_of_start_up(findings_, row.delay_callpath, row.pattern)) continue;
      if (row.time_s <= 0) continue;
      if (!waits_for_others(findings_.callpaths[row.wait_callpath.index()])) continue;
      Call& call = calls_[{row.wait_callpath, row.wait_location}];
      call.behind.push_back({{row.delay_callpath, row.delay_location}, row.time_s});
      call.known_s += row.time_s;
    }
    if (calls_.empty()) return;
    for (const FoundWait& row : findings_.waits) {
      const auto call = calls_.find({row.callpath, row.location});
      if (call != calls_.end()) call->second.waited_s += row.time_s;
    }
    for (const FoundProfile& row : findings_.profile) {
      const auto call = calls_.find({row.callpath, row.location});
      if (call != calls_.end()) call->second.spent_s += row.time_s;
    }
    std::erase_if(calls_, [](const auto& entry) {
      const Call& call = entry.second;
      return call.spent_s <= 0 || call.waited_s < kMostlyWaits * call.spent_s ||
             call.known_s < kMostlyKnown * call.waited_s;
    });
  }

  /// Whose delay is that of a device with nothing to do: behind it is what its hosts executed.
  void add_idle_devices() {
    for (const FoundDelay& row : findings_.delays) {
      const Place place{row.callpath, row.location};
      if (findings_.callpaths[row.callpath.index()].region != trace::pseudo::device_idle) continue;
      const auto [call, is_new] = calls_.try_emplace(place);
      if (!is_new) continue;
      const uint32_t rank = findings_.locations[row.location.index()].rank;
      for (const FoundDeviceBlame& host : findings_.device_blame) {
        if (host.kind != DeviceBlameKind::idle_device || host.time_s <= 0) continue;
        if (!host.callpath.valid() || findings_.callpaths[host.callpath.index()].start_up) continue;
        if (findings_.locations[host.location.index()].rank != rank) continue;
        call->second.behind.push_back({{host.callpath, host.location}, host.time_s});
        call->second.known_s += host.time_s;
      }
      if (call->second.behind.empty()) calls_.erase(call);
    }
  }

  /// Makes one step; costs that can go no further are added to `settled`.
  Costs go_on(const Costs& costs, Costs& settled) const {
    Costs next;
    for (const auto& [at, cost] : costs) {
      const auto& [place, through] = at;
      const auto call = calls_.find(place);
      if (call == calls_.end()) {
        settled[at] += cost;
        continue;
      }
      for (const Call::Behind& behind : call->second.behind) {
        next[{behind.place, through.valid() ? through : place.first}] +=
            cost.part(behind.time_s, call->second.known_s);
      }
    }
    return next;
  }

  const Findings& findings_;
  std::map<Place, Call> calls_;
};

/// The outermost call of a recursive function on each call path that costs something.
class Recursions {
 public:
  Recursions(const Findings& findings, const Functions& functions,
             const std::vector<RedirectedCosts::Part>& parts)
      : outermost_(findings.callpaths.size()) {
    const std::set<FunctionNumber> recursive = recursive_functions(findings, functions, parts);
    if (recursive.empty()) return;
    for (size_t i = 0; i < outermost_.size(); ++i) {  // parents come first
      const CallPathId path(i), parent = functions.parent(path);
      if (parent.valid()) outermost_[i] = outermost_[parent.index()];
      if (!outermost_[i].valid() && recursive.contains(functions.of(path))) outermost_[i] = path;
    }
  }
  /// None if there is no recursion above.
  CallPathId outermost(CallPathId path) const { return outermost_[path.index()]; }

 private:
  /// Returns functions with at least half of their cost below nested calls. Otherwise a driver that
  /// is occasionally called once more would be charged with the whole program.
  static std::set<FunctionNumber> recursive_functions(
      const Findings& findings, const Functions& functions,
      const std::vector<RedirectedCosts::Part>& parts) {
    std::vector<double> costs(findings.callpaths.size());
    for (const RedirectedCosts::Part& part : parts)
      costs[part.place.first.index()] += part.cost.cost_s;
    struct Below {
      double once_s = 0, again_s = 0;
    };
    std::map<FunctionNumber, Below> below;
    for (size_t i = 0; i < costs.size(); ++i) {
      if (costs[i] == 0) continue;
      std::map<FunctionNumber, unsigned> calls;
      for (CallPathId at(i); at.valid(); at = functions.parent(at)) {
        if (is_function(findings.callpaths[at.index()])) ++calls[functions.of(at)];
      }
      for (const auto& [function, count] : calls) {
        (count > 1 ? below[function].again_s : below[function].once_s) += costs[i];
      }
    }
    std::set<FunctionNumber> recursive;
    for (const auto& [function, cost] : below) {
      const double all_s = cost.once_s + cost.again_s;
      if (cost.again_s > 0 && cost.again_s >= kRecurses * all_s) recursive.insert(function);
    }
    return recursive;
  }

  std::vector<CallPathId> outermost_;  // by CallPathId
};

/// A cause to which parts are still being added.
struct Sum {
  Cause cause;
  Carried all;
  std::map<CallPathId, double> by_path, by_call, by_callee;
  std::map<LocationId, double> by_location;

  void add(const RedirectedCosts::Part& part) {
    const double cost_s = part.cost.cost_s;
    all += part.cost;
    by_path[part.place.first] += cost_s;
    by_location[part.place.second] += cost_s;
    if (!part.through.valid()) return;
    cause.through_s += cost_s;
    by_call[part.through] += cost_s;
  }

  Cause finish() {
    cause.cost_s = all.cost_s;
    cause.values = std::move(all.values);
    const auto largest = [](const std::map<CallPathId, double>& sums) {
      return std::max_element(sums.begin(), sums.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    std::tie(cause.costliest, cause.costliest_s) = *largest(by_path);
    for (const auto& [path, time_s] : by_path) cause.callpaths.push_back(path);
    if (!cause.example.valid()) cause.example = cause.costliest;
    if (!by_call.empty()) cause.through = largest(by_call)->first;
    if (!by_callee.empty()) {
      const auto callee = largest(by_callee);
      if (callee->second >= kCarriesIt * cause.cost_s) cause.callee = callee->first;
    }
    for (const auto& [location, time_s] : by_location) cause.shares.push_back({location, time_s});
    std::stable_sort(cause.shares.begin(), cause.shares.end(),
                     [](const Share& a, const Share& b) { return a.time_s > b.time_s; });
    return std::move(cause);
  }
};

/// Largest first.
template <class Key>
std::vector<Cause> finish(std::map<Key, Sum>& sums) {
  std::vector<Cause> list;
  for (auto& [key, sum] : sums) list.push_back(sum.finish());
  std::stable_sort(list.begin(), list.end(),
                   [](const Cause& a, const Cause& b) { return a.cost_s > b.cost_s; });
  return list;
}

class Grouping {
 public:
  explicit Grouping(const Findings& findings, std::span<const std::vector<double>> values = {})
      : functions_(findings),
        parts_(RedirectedCosts(findings).all(values)),
        recursions_(findings, functions_, parts_),
        answerable_(answerable_paths(findings, functions_, costs_by_path(findings))) {}

  std::vector<Cause> group() {
    find_carriers();
    for (const RedirectedCosts::Part& part : parts_) {
      const CallPathId outermost = recursions_.outermost(part.place.first);
      const FunctionNumber leaf = functions_.of(part.place.first);
      if (!outermost.valid()) {
        add_to_answerable(part);
        continue;
      }
      if (carriers_.contains({functions_.of(outermost), leaf})) {
        sums_[{leaf, false}].add(part);
        continue;
      }
      Sum& sum = sums_[{functions_.of(outermost), true}];
      sum.add(part);
      sum.cause.with_callees |= leaf != functions_.of(outermost);
      if (!sum.cause.example.valid()) sum.cause.example = outermost;
    }
    return finish(sums_);
  }

 private:
  std::vector<double> costs_by_path(const Findings& findings) const {
    std::vector<double> costs(findings.callpaths.size());
    for (const RedirectedCosts::Part& part : parts_) {
      costs[part.place.first.index()] += part.cost.cost_s;
    }
    return costs;
  }

  void add_to_answerable(const RedirectedCosts::Part& part) {
    const CallPathId path = part.place.first, answerable = answerable_[path.index()];
    Sum& sum = sums_[{functions_.of(answerable), false}];
    sum.add(part);
    if (functions_.of(answerable) == functions_.of(path)) return;
    sum.by_callee[functions_.own_path(path)] += part.cost.cost_s;
    if (!sum.cause.example.valid()) sum.cause.example = answerable;
  }

  /// Finds functions that carry the greater part of the cost below a recursive one.
  void find_carriers() {
    std::map<FunctionNumber, double> whole;
    std::map<std::pair<FunctionNumber, FunctionNumber>, double> by_leaf;
    for (const RedirectedCosts::Part& part : parts_) {
      const CallPathId outermost = recursions_.outermost(part.place.first);
      if (!outermost.valid()) continue;
      const FunctionNumber top = functions_.of(outermost), leaf = functions_.of(part.place.first);
      whole[top] += part.cost.cost_s;
      if (leaf != top) by_leaf[{top, leaf}] += part.cost.cost_s;
    }
    for (const auto& [pair, cost_s] : by_leaf) {
      if (cost_s >= kCarriesIt * whole[pair.first]) carriers_.insert(pair);
    }
  }

  const Functions functions_;
  const std::vector<RedirectedCosts::Part> parts_;
  const Recursions recursions_;
  const std::vector<CallPathId> answerable_;  ///< by CallPathId
  std::set<std::pair<FunctionNumber, FunctionNumber>> carriers_;
  std::map<std::pair<FunctionNumber, bool>, Sum> sums_;
};

}  // namespace

std::vector<Cause> causes(const Findings& findings) {
  return Grouping(findings).group();
}

std::vector<Cause> causes(const Findings& findings,
                          std::span<const std::vector<double>> values_of_delays) {
  return Grouping(findings, values_of_delays).group();
}

std::vector<Cause> causes_of(const Findings& findings, std::string_view pattern) {
  const Functions functions(findings);
  std::map<FunctionNumber, Sum> sums;
  for (const FoundDelay& row : findings.delays) {
    if (row.pattern != pattern) continue;
    sums[functions.of(row.callpath)].add(
        {{row.callpath, row.location}, {row.short_s + row.long_s, {}}, {}});
  }
  return finish(sums);
}

std::vector<std::vector<CallPathId>> callpaths_of_causes(const Findings& findings) {
  std::vector<std::vector<CallPathId>> list;
  for (Cause& cause : causes(findings)) list.push_back(std::move(cause.callpaths));
  return list;
}

CommonCaller common_caller(const Findings& findings) {
  const Functions functions(findings);
  struct Inclusive {
    double cost_s = 0;
    size_t depth = 0;
    CallPathId example;
  };
  std::map<FunctionNumber, Inclusive> sums;
  std::vector<double> costs(findings.callpaths.size());
  double all_s = 0;
  for (const FoundDelay& row : findings.delays) {
    if (is_of_start_up(findings, row)) continue;
    costs[row.callpath.index()] += row.short_s + row.long_s;
    all_s += row.short_s + row.long_s;
  }
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] <= 0) continue;
    std::vector<CallPathId> chain;
    for (CallPathId at(i); at.valid(); at = functions.parent(at)) chain.push_back(at);
    std::set<FunctionNumber> seen;
    for (size_t above = 0; above + 1 < chain.size(); ++above) {  // but for the root
      const FunctionNumber function = functions.of(chain[above]);
      if (!seen.insert(function).second) continue;
      Inclusive& sum = sums[function];
      sum.cost_s += costs[i];
      const size_t depth = chain.size() - above;
      if (depth > sum.depth) sum.depth = depth, sum.example = chain[above];
    }
  }
  const Inclusive* best = nullptr;
  for (const auto& [function, sum] : sums) {
    if (sum.cost_s < kHalf * all_s) continue;
    if (best == nullptr || sum.depth > best->depth ||
        (sum.depth == best->depth && sum.cost_s > best->cost_s)) {
      best = &sum;
    }
  }
  return best == nullptr ? CommonCaller{} : CommonCaller{best->example, best->cost_s};
}

bool waits_for_others(const FoundCallPath& path) {
  if (is_of(path, trace::Paradigm::mpi)) return true;
  if (is_team_barrier(path) || is_task_wait(path)) return true;
  return is_of_device(path) && trace::waits_for_devices(path.region);
}

}  // namespace culprit::blame
