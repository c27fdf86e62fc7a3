// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time on the common axis of one experiment. A Time is a point, a Duration a distance; both count
// whole nanoseconds in 64 bits (292 years), so that sums and comparisons are exact. Costs, which
// are fractions of durations, are plain `double` seconds and say so in their names (`short_s`).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace culprit {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration from_nanos(int64_t ns) { return Duration(ns); }
  static constexpr Duration zero() { return Duration(0); }

  constexpr int64_t nanos() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration& operator+=(Duration o) { return ns_ += o.ns_, *this; }
  constexpr Duration& operator-=(Duration o) { return ns_ -= o.ns_, *this; }

 private:
  explicit constexpr Duration(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

class Time {
 public:
  constexpr Time() = default;
  /// Nanoseconds since the experiment's reference (for OTF2 archives: the global offset).
  static constexpr Time from_nanos(int64_t ns) { return Time(ns); }
  static constexpr Time min() { return Time(std::numeric_limits<int64_t>::min()); }
  static constexpr Time max() { return Time(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t nanos() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Duration operator-(Time o) const { return Duration::from_nanos(ns_ - o.ns_); }
  constexpr Time operator+(Duration d) const { return Time(ns_ + d.nanos()); }
  constexpr Time operator-(Duration d) const { return Time(ns_ - d.nanos()); }

 private:
  explicit constexpr Time(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

}  // namespace culprit
