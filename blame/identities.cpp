// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each identity is an expectation with a sentence that names its largest contribution, so that a
// violation points to a place. Sums of seconds may differ by rounding, and by no more.
#include "blame/identities.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "blame/profile/path_kinds.h"

namespace culprit::blame {

namespace {

constexpr double kSlack = 1e-9;

/// Returns false for NaN, too.
bool agree(double a, double b) {
  return std::abs(a - b) <= kSlack + kSlack * std::max(std::abs(a), std::abs(b));
}

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9f s", value);
  return text;
}

class Checker {
 public:
  explicit Checker(const Findings& findings) : found_(findings) {}

  std::vector<std::string> check(bool has_causes) {
    const Identities& sums = found_.identities;
    if (has_causes) check_causes();
    check_waits();
    expect(sums.idle_blame_s + sums.idle_nobody_s, sums.idle_s,
           "blame for idle threads does not add up to their idle time", worst_idle_blame());
    expect(sums.device_idle_blame_s, sums.device_idle_s,
           "blame for idle devices does not add up to their idle time", worst_device_blame());
    expect(sums.device_wait_blame_s, sums.device_wait_s,
           "blame for hosts that wait for devices does not add up to their waiting time",
           worst_device_blame());
    check_device_times();
    check_course();
    if (has_causes) check_lock_blame();
    check_lives();
    check_tiles();
    check_efficiencies();
    return std::move(violations_);
  }

 private:
  void check_causes() {
    const Identities& sums = found_.identities;
    expect(sums.delay_costs_s + sums.unattributed_s, sums.waiting_s,
           "delay costs and unattributed costs do not add up to the waiting time", worst_delay());
    expect(sums.critical_path_s, sums.wall_s,
           "the critical path is not as long as the wall-clock time", gap());
    expect(sums.imbalance_costs_s + sums.imbalance_unattributed_s, sums.waiting_s,
           "imbalance costs do not add up to the waiting time", worst_imbalance());
  }

  void expect(double a, double b, const std::string& sentence, const std::string& place) {
    if (agree(a, b)) return;
    violations_.push_back(sentence + " (" + seconds(a) + " against " + seconds(b) + ")" + place);
  }

  // --- places ---

  std::string at(LocationId location, CallPathId path) const {
    const bool known = location.valid() && location.index() < found_.locations.size();
    std::string text = known ? " on location " + found_.locations[location.index()].name
                             : " on an unknown location";
    if (path.valid() && path.index() < found_.callpaths.size()) {
      text += " at " + found_.callpaths[path.index()].name;
    }
    return text;
  }

  /// Returns the row with the largest `size`, or with a size of NaN.
  template <class Row, class Size>
  static const Row* most(const std::vector<Row>& rows, const Size& size) {
    const Row* worst = nullptr;
    for (const Row& row : rows) {
      if (std::isnan(size(row))) return &row;
      if (worst == nullptr || size(row) > size(*worst)) worst = &row;
    }
    return worst;
  }

  std::string worst_delay() const {
    const FoundDelay* row =
        most(found_.delays, [](const FoundDelay& d) { return std::abs(d.short_s + d.long_s); });
    if (row == nullptr) return "; there are no delays";
    return "; the largest delay is " + seconds(row->short_s + row->long_s) +
           at(row->location, row->callpath);
  }

  std::string worst_imbalance() const {
    const FoundCriticalCallPath* row =
        most(found_.critical_callpaths,
             [](const FoundCriticalCallPath& c) { return std::abs(c.intra_s + c.inter_s); });
    if (row == nullptr) return "; there is no critical path";
    const bool known = row->callpath.valid() && row->callpath.index() < found_.callpaths.size();
    return "; the largest cost is " + seconds(row->intra_s + row->inter_s) +
           (known ? " at " + found_.callpaths[row->callpath.index()].name : "");
  }

  std::string worst_idle_blame() const {
    const FoundIdleBlame* row =
        most(found_.idle_blame, [](const FoundIdleBlame& b) { return std::abs(b.time_s); });
    if (row == nullptr) return "; no thread is blamed";
    return "; the largest blame is " + seconds(row->time_s) + at(row->location, row->callpath);
  }

  std::string worst_device_blame() const {
    const FoundDeviceBlame* row =
        most(found_.device_blame, [](const FoundDeviceBlame& b) { return std::abs(b.time_s); });
    if (row == nullptr) return "; no thread is blamed";
    return "; the largest blame is " + seconds(row->time_s) + at(row->location, row->callpath);
  }

  /// Returns the place of the first gap between the path's segments.
  std::string gap() const {
    double reached = 0;
    for (const FoundSegment& segment : found_.segments) {
      if (!agree(segment.begin_s, reached) || segment.end_s < segment.begin_s) {
        return "; it breaks " + seconds(reached) +
               " after the start of the run, before the segment" +
               at(segment.location, segment.callpath);
      }
      reached = segment.end_s;
    }
    return "; it ends " + seconds(reached) + " after the start of the run";
  }

  // --- rows ---

  void check_waits() {
    for (const FoundWait& row : found_.waits) {
      check_part(row, row.indirect_s, "is more indirect than it is long");
      check_part(row, row.propagating_s, "propagates more than it is long");
    }
  }

  void check_lock_blame() {
    double waiting = 0, blamed = 0;
    for (const FoundWait& row : found_.waits) {
      const size_t pattern = replay::find_pattern(row.pattern);
      if (pattern == replay::kPatterns.size()) continue;
      if (wait_kind(static_cast<replay::Pattern>(pattern)) == WaitKind::mutex)
        waiting += row.time_s;
    }
    for (const FoundLockBlame& row : found_.lock_blame) blamed += row.time_s;
    const FoundLockBlame* row =
        most(found_.lock_blame, [](const FoundLockBlame& b) { return std::abs(b.time_s); });
    expect(blamed, waiting, "blame for locks does not add up to the time spent waiting for them",
           row == nullptr
               ? "; no thread is blamed"
               : "; the largest blame is " + seconds(row->time_s) + at(row->holder, row->acquired));
  }

  void check_part(const FoundWait& row, double part_s, const char* what) {
    const double slack = kSlack + kSlack * row.time_s;
    if (part_s >= -slack && part_s <= row.time_s + slack) return;
    violations_.push_back("a wait " + std::string(what) + ": " + row.pattern +
                          at(row.location, row.callpath) + " (" + seconds(part_s) + " of " +
                          seconds(row.time_s) + ")");
  }

  /// Checks that the parts of a device's time add up to all of it.
  void check_device_times() {
    std::vector<FoundDevice> sums(found_.devices.size());
    for (const FoundDeviceTime& part : found_.device_times) {
      FoundDevice& sum = sums[part.device.index()];
      sum.busy_s += part.busy_s;
      sum.kernels_s += part.kernels_s;
      sum.late_s += part.late_s;
      sum.latency_s += part.latency_s;
      sum.unknown_s += part.unknown_s;
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const FoundDevice& device = found_.devices[i];
      const std::string place = " of " + device.name;
      expect(sums[i].busy_s, device.busy_s, "the intervals do not add up: busy", place);
      expect(sums[i].kernels_s, device.kernels_s, "the intervals do not add up: kernels", place);
      expect(sums[i].late_s, device.late_s, "the intervals do not add up: idle", place);
      expect(sums[i].latency_s, device.latency_s, "the intervals do not add up: latency", place);
      expect(sums[i].unknown_s, device.unknown_s, "the intervals do not add up: unknown", place);
    }
  }

  void check_course() {
    if (found_.run.intervals == 0) return;
    double life_s = 0;
    for (const FoundLocation& row : found_.locations) life_s += row.life_s;
    const auto check = [&](const auto& rows, const std::string& place) {
      double time_s = 0, waiting_s = 0;
      for (const auto& row : rows) time_s += row.time_s, waiting_s += row.waiting_s;
      expect(time_s, life_s, "the intervals do not add up: time", place);
      expect(waiting_s, found_.identities.waiting_s, "the intervals do not add up: waiting", place);
    };
    check(found_.location_times, " of locations");
    check(found_.callpath_times, " of call paths");
  }

  void check_lives() {
    std::vector<double> lives(found_.locations.size());
    std::vector<const FoundProfile*> longest(found_.locations.size());
    for (const FoundProfile& row : found_.profile) {
      lives[row.location.index()] += row.time_s;
      const FoundProfile*& top = longest[row.location.index()];
      if (top == nullptr || row.time_s > top->time_s) top = &row;
    }
    size_t wrong = 0, worst = 0;
    double largest = -1;
    for (size_t i = 0; i < lives.size(); ++i) {
      const double off = std::abs(lives[i] - found_.locations[i].life_s);
      if (agree(lives[i], found_.locations[i].life_s)) continue;
      ++wrong;
      if (off > largest || std::isnan(off)) {
        largest = off;
        worst = i;
      }
    }
    if (wrong == 0) return;
    violations_.push_back(
        "the activities of " + std::to_string(wrong) +
        " locations do not add up to their lifetimes (" + seconds(lives[worst]) + " against " +
        seconds(found_.locations[worst].life_s) + ")" +
        at(LocationId(worst), longest[worst] != nullptr ? longest[worst]->callpath : CallPathId()));
  }

  /// Checks the tiles of threads: a device's time is accounted for in separate tables.
  void check_tiles() {
    if (found_.tiles.empty()) return;
    double tiles_s = 0, lives_s = 0;
    for (const FoundTile& row : found_.tiles) tiles_s += row.time_s;
    for (const FoundLocation& row : found_.locations) {
      if (row.stream.empty()) lives_s += row.life_s;
    }
    expect(tiles_s, lives_s, "classes of time do not add up to the threads' lifetimes", "");
  }

  static std::string named(Factor factor) {
    return "the efficiency " + std::string(to_string(factor));
  }

  void check_efficiencies() {
    std::map<Factor, double> products;
    for (const FoundEfficiency& row : found_.efficiencies) {
      if (!(row.value >= -kSlack && row.value <= 1 + kSlack)) {
        violations_.push_back(named(row.name) + " is not between 0 and 1");
      }
      if (row.parent == Factor::none) continue;
      products.try_emplace(row.parent, 1.0).first->second *= row.value;
    }
    for (const FoundEfficiency& row : found_.efficiencies) {
      const auto product = products.find(row.name);
      if (product == products.end() || agree(product->second, row.value)) continue;
      violations_.push_back(named(row.name) + " is not the product of its factors");
    }
  }

  const Findings& found_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> check_identities(const Findings& findings, bool has_causes) {
  return Checker(findings).check(has_causes);
}

}  // namespace culprit::blame
