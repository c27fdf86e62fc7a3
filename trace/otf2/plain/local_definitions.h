// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a location's file of definitions says about its events: which global objects its references
// mean, and how far its clock is off.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/files/guarded_path.h"

namespace culprit::trace::plain {

/// References to objects of one kind. Those that it does not have mean themselves.
class IdMap {
 public:
  bool empty() const { return dense_.empty() && sparse_.empty(); }
  uint64_t global(uint64_t local) const {
    return local < dense_.size() ? dense_[local] : sparse_global(local);
  }

  static IdMap dense(std::vector<uint64_t> by_local);
  /// Of several for one reference, the last counts.
  static IdMap sparse(std::vector<std::pair<uint64_t, uint64_t>> pairs);

 private:
  uint64_t sparse_global(uint64_t local) const;

  std::vector<uint64_t> dense_;
  std::vector<std::pair<uint64_t, uint64_t>> sparse_;  ///< ordered
};

/// From one synchronisation of clocks to the next, what is to be added changes evenly.
struct ClockInterval {
  uint64_t begin, end;
  int64_t offset;
  double slope;

  uint64_t corrected(uint64_t time) const;
};

struct LocalDefinitions {
  std::array<IdMap, OTF2_MAPPING_MAX> maps;
  std::vector<ClockInterval> clock;  ///< in the order of time; the last one goes on

  template <class Ref>
  Ref global(OTF2_MappingType kind, Ref local) const {
    const IdMap& map = maps[kind];
    return map.empty() ? local : static_cast<Ref>(map.global(local));
  }
};

/// Times of a location's events, one after the other. They do not run backwards, so an interval is
/// left for good.
class LocalClock {
 public:
  explicit LocalClock(const std::vector<ClockInterval>& intervals) : intervals_(intervals) {}
  uint64_t corrected(uint64_t time) {
    if (intervals_.empty()) return time;
    while (now_ + 1 < intervals_.size() && time > intervals_[now_].end) ++now_;
    return intervals_[now_].corrected(time);
  }

 private:
  const std::vector<ClockInterval>& intervals_;
  size_t now_ = 0;
};

/// Nothing unless the file is one chunk, of at most `chunk_bytes`, and all that it defines is
/// sound: OTF2 has to judge then.
std::optional<LocalDefinitions> read_local_definitions(const RegularFile& file,
                                                       uint64_t chunk_bytes);

}  // namespace culprit::trace::plain
