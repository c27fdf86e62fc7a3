// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times whose type says which whole they are parts of, and proportions of two such times. A
// quotient of times of different wholes (all waiting by the waiting that start-up did not cause)
// looks like a share but is none: it can exceed one. Here it does not compile.
#pragma once

#include <compare>
#include <type_traits>

namespace culprit::blame {

// The wholes of which times are parts. Each names the wholes that directly contain it; a part of it
// is a part of those.
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
/// All waiting that start-up and shutdown do not cause: the whole of the costs of delays.
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
/// The whole of the rows of one list or diagnosis, or of one row: part and whole come from the same
/// place.
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
  /// The proportion of an empty whole is unknown.
  template <class Part, class Whole>
    requires(lies_within<Part, Whole>())
  static constexpr Proportion of(Amount<Part> part, Amount<Whole> whole) {
    return whole.seconds() > 0 ? Proportion(part.seconds() / whole.seconds()) : Proportion();
  }
  /// A value that is a proportion by itself: an efficiency, a factor.
  static constexpr Proportion by_itself(double value) { return Proportion(value); }

  constexpr bool known() const { return known_; }
  constexpr double value() const { return value_; }  ///< 0 if it is not known

 private:
  constexpr explicit Proportion(double value) : known_(true), value_(value) {}
  bool known_ = false;
  double value_ = 0;
};

}  // namespace culprit::blame
