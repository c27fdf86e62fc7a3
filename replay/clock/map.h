// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The correction of one clock: from times as recorded to times as repaired (repair.h makes it). It
// moves times only forward, and is monotone and continuous: no two events change places, and no gap
// opens between neighbouring events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"

namespace culprit::replay {

/// A clock that was put forward loses 1/kFallBack of the elapsed time until it shows its recorded
/// time again: it runs 1 % slow meanwhile. (Rabenseifner's gamma is 1 - 1/kFallBack.) The ramp
/// ahead of the event that demands the step is at least as steep.
inline constexpr int64_t kFallBack = 100;

class ClockMap {
 public:
  /// A piece is valid from its `begin` to the begin of the next piece.
  struct Piece {
    Time begin;
    /// The clock was put forward by this at `since`, and has been falling back since then.
    Duration height;
    Time since;
    /// Added to that: the ramp up to the next height, from here to the begin of the next piece.
    Duration rise_begin, rise_end;
  };

  ClockMap() = default;
  /// `pieces` in order of time.
  explicit ClockMap(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  /// True if it changes nothing.
  bool identity() const { return pieces_.empty(); }
  Time operator()(Time recorded) const { return at(recorded, piece_of(recorded)); }

  /// Maps times that come nearly in order: remembers the piece of the last one.
  class Cursor {
   public:
    explicit Cursor(const ClockMap& map) : map_(map) {}
    Time operator()(Time recorded) {
      if (!map_.holds(piece_, recorded)) piece_ = map_.piece_of(recorded);
      return map_.at(recorded, piece_);
    }

   private:
    const ClockMap& map_;
    size_t piece_ = 0;
  };

 private:
  /// Returns 1 + the index of the piece that holds a time; 0 before the first piece.
  size_t piece_of(Time recorded) const;
  bool holds(size_t piece, Time recorded) const {
    return (piece == 0 || pieces_[piece - 1].begin <= recorded) &&
           (piece == pieces_.size() || recorded < pieces_[piece].begin);
  }
  Time at(Time recorded, size_t piece) const;

  std::vector<Piece> pieces_;
};

/// Returns how far a clock that was put forward by `height` at `since` is still ahead at `now`.
inline Duration fallen_back(Duration height, Time since, Time now) {
  const Duration left = height - Duration::from_nanos((now - since).nanos() / kFallBack);
  return left > Duration::zero() ? left : Duration::zero();
}

/// Returns how long the ramp for a step of `rise` takes. At most 73 years: damaged traces ask for
/// more.
inline Duration way_up(Duration rise) {
  constexpr int64_t kLongest = int64_t{1} << 61;
  return Duration::from_nanos(std::min(rise.nanos(), kLongest / kFallBack) * kFallBack);
}

}  // namespace culprit::replay
