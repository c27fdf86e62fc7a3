// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The audit: all allocated time is in one of few classes (tiles), and unexplained time is listed
// with its place and time. A verdict must consult it before it says that all is well.
#pragma once

#include <vector>

#include "blame/collect/collect.h"
#include "blame/profile/path_kinds.h"

namespace culprit::blame {

/// The class of time without waiting.
constexpr Tile tile_of(PathKind kind) {
  switch (kind) {
    case PathKind::work:
      return Tile::useful;
    case PathKind::runtime:
    case PathKind::waking:
      return Tile::overhead;
    case PathKind::mpi:
      return Tile::mpi;
    case PathKind::io:
      return Tile::io;
    case PathKind::start_up:
      return Tile::start_up;
    case PathKind::absent:
      return Tile::absent;
  }
  return Tile::useful;
}

/// The classes of time of each thread of this rank.
std::vector<FoundTile> find_tiles(const replay::Run& run, const Explanations& all,
                                  unsigned threads);

}  // namespace culprit::blame
