// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether two analyses of one trace came to the same: every table, row by row, every field. Sums
// may differ by what another order of adding makes of them (one part in 10^9); lists may differ in
// the order of rows between which such a difference decides, and lists of the costliest in what
// ties with the last of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "blame/findings/findings_fields.h"

namespace culprit::testing_support {

/// Finds the first difference.
class FindingsComparison {
 public:
  FindingsComparison(const blame::Findings& a, const blame::Findings& b) : a_(a), b_(b) {}

  /// A sentence; empty if there is no difference.
  std::string difference() {
    const auto compare_lists = [this](const auto& a, const auto& b) { compare(a, b); };
    blame::visit_lists_of<blame::Origin::first_rank>(compare_lists, a_, b_);
    blame::visit_lists_of<blame::Origin::each_rank>(compare_lists, a_, b_);
    compare_rows("run", row_of(a_.run), row_of(b_.run));
    compare_rows("identities", row_of(a_.identities), row_of(b_.identities));
    compare_rows("start_up", row_of(a_.start_up), row_of(b_.start_up));
    compare_violations();
    compare_losses();
    return std::move(difference_);
  }

 private:
  static bool agree(double a, double b) {
    return std::abs(a - b) <= 1e-12 + 1e-9 * std::max(std::abs(a), std::abs(b));
  }
  void expect(bool same, const std::string& what) {
    if (!same && difference_.empty()) difference_ = what;
  }
  void expect_near(double a, double b, const std::string& what) {
    expect(agree(a, b), fmt::format("{}: {} against {}", what, a, b));
  }

  /// What is no sum, as text, and the sums.
  struct Row {
    std::string key;
    std::vector<double> sums;
  };
  template <class Found>
  static Row row_of(const Found& found) {
    Row row;
    const Found plain = without_ties(found);
    blame::visit_fields(plain, [&](const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, double>) {
        row.sums.push_back(field);
      } else if constexpr (std::is_same_v<Field, std::string>) {
        row.key += field + "|";
      } else if constexpr (Word<Field>) {
        row.key.append(to_string(field)).append("|");
      } else if constexpr (std::is_arithmetic_v<Field>) {
        row.key += std::to_string(field) + "|";
      } else {
        row.key += (field.valid() ? std::to_string(field.index()) : "-") + "|";
      }
    });
    return row;
  }

  template <class Found>
  static const Found& without_ties(const Found& found) {
    return found;
  }
  /// Of ranks that have as much, sums in another order decide which is named.
  static blame::FoundRankSpread without_ties(blame::FoundRankSpread found) {
    found.least_rank = found.most_rank = 0;
    return found;
  }

  void compare_rows(const std::string& where, const Row& a, const Row& b) {
    expect(a.key == b.key, where + ": " + a.key + " against " + b.key);
    for (size_t i = 0; i < a.sums.size(); ++i) {
      expect_near(a.sums[i], b.sums[i], fmt::format("{} {} sum {}", where, a.key, i));
    }
  }

  /// By what a table is sorted, the largest first; the others have an order of their own.
  template <class Found>
  static double size_of(const Found& row) {
    if constexpr (std::is_same_v<Found, blame::FoundDelay>) {
      return row.short_s + row.long_s;
    } else if constexpr (std::is_same_v<Found, blame::FoundDistribution>) {
      return row.cost_s;
    } else if constexpr (std::is_same_v<Found, blame::FoundCount>) {
      return row.value;
    } else if constexpr (std::is_same_v<Found, blame::FoundRankSpread>) {
      return row.sum;
    } else if constexpr (std::is_same_v<Found, blame::FoundMessageUse>) {
      return row.waiting_empty_s + row.waiting_repeated_s;
    } else {
      return row.time_s;
    }
  }
  template <class Found>
  static constexpr bool is_sorted_by_size() {
    using namespace blame;
    return !std::is_same_v<Found, FoundLocation> && !std::is_same_v<Found, FoundCallPath> &&
           !std::is_same_v<Found, FoundSegment> && !std::is_same_v<Found, FoundEfficiency> &&
           !std::is_same_v<Found, FoundInstance> && !std::is_same_v<Found, FoundMetric> &&
           !std::is_same_v<Found, FoundStage> && !std::is_same_v<Found, FoundUnattributed> &&
           !std::is_same_v<Found, FoundDevice> && !std::is_same_v<Found, FoundDeviceTime> &&
           !std::is_same_v<Found, FoundGain> && !std::is_same_v<Found, FoundFunctionGain> &&
           !std::is_same_v<Found, FoundTopology> && !std::is_same_v<Found, FoundTopologyPlace> &&
           !std::is_same_v<Found, FoundKernelTime> && !std::is_same_v<Found, FoundParallelism> &&
           !std::is_same_v<Found, FoundArrival>;
  }

  template <class Found>
  void compare(const std::vector<Found>& a, const std::vector<Found>& b) {
    constexpr std::string_view name = blame::Table<Found>::kName;
    if constexpr (is_sorted_by_size<Found>()) {
      compare_sorted(a, b);
    } else {
      expect(a.size() == b.size(), fmt::format("{}: {} rows and {}", name, a.size(), b.size()));
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        compare_rows(fmt::format("{} {}", name, i), row_of(a[i]), row_of(b[i]));
      }
    }
  }

  template <class Found>
  void compare_sorted(const std::vector<Found>& a, const std::vector<Found>& b) {
    constexpr std::string_view name = blame::Table<Found>::kName;
    std::map<std::string, size_t> in_a, in_b;
    for (size_t i = 0; i < a.size(); ++i) in_a[row_of(a[i]).key] = i;
    for (size_t i = 0; i < b.size(); ++i) in_b[row_of(b[i]).key] = i;
    expect(in_a.size() == a.size() && in_b.size() == b.size(),
           fmt::format("{}: a row comes twice", name));
    for (const auto& [key, at] : in_b) {
      expect(in_a.contains(key) || ties_with_last(b_, b[at]),
             fmt::format("{}: {} is new", name, key));
    }
    const bool same_rows = std::all_of(in_b.begin(), in_b.end(),
                                       [&](const auto& row) { return in_a.contains(row.first); });
    for (const auto& [key, at] : in_a) {
      const auto other = in_b.find(key);
      if (other == in_b.end()) {
        expect(ties_with_last(a_, a[at]), fmt::format("{}: {} is missing", name, key));
        continue;
      }
      compare_rows(std::string(name), row_of(a[at]), row_of(b[other->second]));
      if (same_rows && a.size() == b.size()) {
        expect(agree(size_of(a[at]), size_of(b[at])),
               fmt::format("{}: {} stands at {}, and not at {}", name, key, other->second, at));
      }
    }
  }

  template <class Found>
  static bool ties_with_last(const blame::Findings&, const Found&) {
    return false;
  }
  static bool ties_with_last(const blame::Findings& found, const blame::FoundDistribution& row) {
    return agree(row.cost_s, found.distributions.back().cost_s);
  }
  /// Victims are those of the costliest delays.
  static bool ties_with_last(const blame::Findings& found, const blame::FoundVictim& row) {
    std::map<std::pair<LocationId, CallPathId>, double> costs;
    for (const auto& delay : found.delays) {
      costs.try_emplace({delay.location, delay.callpath}, delay.short_s + delay.long_s);
    }
    double last = INFINITY;
    for (const auto& victim : found.victims) {
      last = std::min(last, costs[{victim.delay_location, victim.delay_callpath}]);
    }
    return agree(costs[{row.delay_location, row.delay_callpath}], last);
  }

  void compare_violations() {
    const auto &a = a_.identities.violations, &b = b_.identities.violations;
    expect(a == b, b.empty() ? "a violation is missing" : "violation: " + b.front());
  }

  void compare_losses() {
    for (const auto& [name, loss] : a_.losses.all()) {
      const auto other = b_.losses.all().find(name);
      const uint64_t count = other == b_.losses.all().end() ? 0 : other->second.count;
      expect(count == loss.count, fmt::format("loss {}: {} against {}", name, loss.count, count));
    }
    expect(a_.losses.all().size() == b_.losses.all().size(), "there is another loss");
  }

  const blame::Findings &a_, &b_;
  std::string difference_;
};

inline std::string difference(const blame::Findings& a, const blame::Findings& b) {
  return FindingsComparison(a, b).difference();
}

}  // namespace culprit::testing_support
