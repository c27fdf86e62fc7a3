// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The correction of one clock: from times as recorded to times as repaired (repair.h makes
// it). It only moves forward, never backwards, and is continuous: no two events change places, and
// none is torn from its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"

namespace culprit::replay {

/// A clock that was put forward falls back to what it showed by one part in so many: it runs 1 %
/// slow meanwhile. (Rabenseifner's gamma is 1 - 1/kFallBack.) As steeply, at least, it is put
/// forward ahead of the event that asks for it.
inline constexpr int64_t kFallBack = 100;

class ClockMap {
 public:
  /// From `begin` on, until the next piece's.
  struct Piece {
    Time begin;
    /// Put forward by this at `since`, and fallen back from it by now.
    Duration height;
    Time since;
    /// On top of that: the way up to the next height, from here to the next piece's begin.
    Duration rise_begin, rise_end;
  };

  ClockMap() = default;
  /// `pieces` in order of time.
  explicit ClockMap(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  /// True if it changes nothing.
  bool identity() const { return pieces_.empty(); }
  Time operator()(Time recorded) const { return at(recorded, piece_of(recorded)); }

  /// For times that come in order, nearly: remembers where it was.
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
  /// 1 + the index of the piece that holds a time; 0 before the first.
  size_t piece_of(Time recorded) const;
  bool holds(size_t piece, Time recorded) const {
    return (piece == 0 || pieces_[piece - 1].begin <= recorded) &&
           (piece == pieces_.size() || recorded < pieces_[piece].begin);
  }
  Time at(Time recorded, size_t piece) const;

  std::vector<Piece> pieces_;
};

/// By how much a clock is ahead at `now` that was put forward by `height` at `since`.
inline Duration fallen_back(Duration height, Time since, Time now) {
  const Duration left = height - Duration::from_nanos((now - since).nanos() / kFallBack);
  return left > Duration::zero() ? left : Duration::zero();
}

/// How long it takes to be put forward by `rise`. At most 73 years: damaged traces ask for more.
inline Duration way_up(Duration rise) {
  constexpr int64_t kLongest = int64_t{1} << 61;
  return Duration::from_nanos(std::min(rise.nanos(), kLongest / kFallBack) * kFallBack);
}

}  // namespace culprit::replay
