// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times that know of what they are a part, and proportions, which are made of two such times. A
// quotient of two scopes (all waiting by the waiting that start-up did not cause) reads like a
// share and is none: it can exceed one. It does not compile.
#pragma once

#include <compare>
#include <type_traits>

namespace culprit::blame {

// What times are counted in. Each names the wholes that it lies within, directly; a part of it is a
// part of those.
struct Run {};  ///< the run's wall-clock time
/// Wall-clock time of all locations.
struct Allocation {};
/// ... but start-up, shutdown, and the waiting that these cause.
struct OwnAllocation {
  static void within(Allocation);
};
struct Waiting {
  static void within(Allocation);
};
/// All waiting that start-up and shutdown do not cause: what the costs of delays are parts of.
struct OwnWaiting {
  static void within(Waiting);
  static void within(OwnAllocation);
};
/// Run time of all devices.
struct DeviceTime {};
/// Idle time of threads, but for start-up and shutdown.
struct OwnIdleness {
  static void within(OwnAllocation);
};
/// What the rows of one list or diagnosis, or what one row, are parts of: both from the same place.
struct Row {};

template <class Part, class Whole>
concept LiesWithin = requires { Part::within(Whole()); };

/// Whether every time in `Part` is also in `Whole`.
template <class Part, class Whole>
constexpr bool lies_within() {
  if constexpr (std::is_same_v<Part, Whole> || LiesWithin<Part, Whole>) {
    return true;
  } else if constexpr (LiesWithin<Part, Waiting> && LiesWithin<Waiting, Whole>) {
    return true;
  } else {
    return LiesWithin<Part, OwnAllocation> && LiesWithin<OwnAllocation, Whole>;
  }
}

/// Seconds of a whole.
template <class Whole>
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(double seconds) : seconds_(seconds) {}
  constexpr double seconds() const { return seconds_; }

  constexpr Amount& operator+=(Amount other) {
    seconds_ += other.seconds_;
    return *this;
  }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount(a.seconds_ - b.seconds_); }
  friend constexpr Amount operator*(double factor, Amount a) { return Amount(factor * a.seconds_); }
  friend constexpr auto operator<=>(Amount, Amount) = default;

 private:
  double seconds_ = 0;
};

/// A part by its whole.
class Proportion {
 public:
  constexpr Proportion() = default;  ///< unknown
  /// Of a whole of nothing there are no parts: unknown.
  template <class Part, class Whole>
    requires(lies_within<Part, Whole>())
  static constexpr Proportion of(Amount<Part> part, Amount<Whole> whole) {
    return whole.seconds() > 0 ? Proportion(part.seconds() / whole.seconds()) : Proportion();
  }
  /// What is a proportion by itself: an efficiency, a factor.
  static constexpr Proportion by_itself(double value) { return Proportion(value); }

  constexpr bool known() const { return known_; }
  constexpr double value() const { return value_; }  ///< 0 if it is not known

 private:
  constexpr explicit Proportion(double value) : known_(true), value_(value) {}
  bool known_ = false;
  double value_ = 0;
};

}  // namespace culprit::blame
