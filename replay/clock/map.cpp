// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/clock/map.h"

#include <algorithm>

namespace culprit::replay {

size_t ClockMap::piece_of(Time recorded) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), recorded,
                                      [](Time t, const Piece& piece) { return t < piece.begin; });
  return static_cast<size_t>(after - pieces_.begin());
}

/// The result is rounded down, so that a limit that holds at both ends of a piece holds inside it.
Time ClockMap::at(Time recorded, size_t number) const {
  if (number == 0) return recorded;
  const Piece& piece = pieces_[number - 1];
  Duration rise = piece.rise_begin;
  if (const Duration climb = piece.rise_end - piece.rise_begin; climb > Duration::zero()) {
    __extension__ using Wide = __int128;
    const Duration length = pieces_[number].begin - piece.begin;
    const Wide part = Wide{climb.nanos()} * (recorded - piece.begin).nanos() / length.nanos();
    rise += Duration::from_nanos(static_cast<int64_t>(part));
  }
  return recorded + fallen_back(piece.height, piece.since, recorded) + rise;
}

}  // namespace culprit::replay
