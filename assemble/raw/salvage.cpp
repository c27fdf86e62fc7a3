// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates are looked for word by word. The longest row of times in order is found by patience
// sorting, in n log n.
#include "assemble/raw/salvage.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace culprit::assemble {
namespace {

using trace::RawHeader;
using trace::RawKind;

constexpr size_t kWord = sizeof(uint64_t);
/// A last record may lie this part of the known life beyond it.
constexpr uint64_t kFarther = 16;

/// Their times are those of the record before, if any.
bool has_time_of_the_last(RawKind kind) {
  return kind == RawKind::path_def || kind == RawKind::string_def || kind == RawKind::python_code;
}

struct Candidate {
  uint32_t at = 0;
  uint64_t ticks = 0;
  uint64_t later = 0;  ///< a later moment noted in it
  RawKind kind = RawKind::none;
};

/// Gathers the latest moment noted in a record besides its time.
struct LatestMoment {
  uint64_t time;
  uint64_t latest = 0;
  void moment(uint64_t ticks) { latest = std::max(latest, ticks == 0 ? time : ticks); }
  void note(uint32_t ticks) { latest = std::max(latest, time + ticks); }
};

/// The latest moment noted in a record; its own time if there is none.
uint64_t later_moment(const RawHeader& header, const uint64_t* words) {
  LatestMoment found{header.time};
  switch (header.kind) {
#define RECORD(kind, number, group, kept, meaning) \
  case RawKind::kind: {                            \
    [[maybe_unused]] const auto record =           \
        raw::unpack<raw::kind>(header.arg, header.flags, words, header.words);
#define MOMENT(name, meaning) found.moment(record.name);
#define NOTED_LOW(name, kind, meaning) found.note(record.name);
#define NOTED_HIGH(name, kind, meaning) found.note(record.name);
#define END \
  break;    \
  }
#include "trace/raw/records.def"
  }
  return found.latest != 0 ? found.latest : header.time;
}

class Salvager {
 public:
  Salvager(std::span<const std::byte> window, const RecordBounds& bounds)
      : window_(window), bounds_(bounds) {}

  Salvaged salvage() {
    look_for_records();
    const size_t found = candidates_.size();
    keep_in_order();
    drop_far_ends();
    drop_overlong();
    Salvaged result;
    result.refused = refused_ + (found - candidates_.size());
    for (const Candidate& one : candidates_) {
      result.good.push_back(one.at);
      if (!has_time_of_the_last(one.kind)) result.newest = one.ticks;
    }
    return result;
  }

 private:
  RawHeader header_at(size_t at) const {
    RawHeader header;
    std::memcpy(&header, window_.data() + at, sizeof header);
    return header;
  }

  bool is_within(uint64_t ticks) const { return ticks >= bounds_.begin && ticks <= bounds_.end; }

  /// Size of the record that begins here, if it may be one. `strictly`: without a neighbour to
  /// confirm it, more must match.
  std::optional<size_t> record_at(size_t at, bool strictly) const {
    if (at + sizeof(RawHeader) > window_.size()) return std::nullopt;
    const RawHeader header = header_at(at);
    const size_t bytes = sizeof header + header.words * kWord;
    if (header.kind == RawKind::none || at + bytes > window_.size()) return std::nullopt;
    if (header.kind == RawKind::pad || header.kind == RawKind::seal) {
      return strictly ? std::nullopt : std::optional(bytes);
    }
    const int wanted = words_of(header.kind);
    if (wanted == kUnknownKind || header.words < wanted) return std::nullopt;
    const bool early = has_time_of_the_last(header.kind) && !strictly && header.time <= bounds_.end;
    if (!early && !is_within(header.time)) return std::nullopt;
    const auto* words = reinterpret_cast<const uint64_t*>(window_.data() + at + sizeof header);
    const uint64_t later = later_moment(header, words);
    if (later > bounds_.end || later < std::min(header.time, bounds_.begin)) return std::nullopt;
    return bytes;
  }

  void look_for_records() {
    bool lost = false;
    for (size_t at = 0; at + sizeof(RawHeader) <= window_.size();) {
      const auto bytes = record_at(at, lost);
      if (!bytes) {
        const bool nothing = header_at(at).kind == RawKind::none;
        refused_ += lost || nothing ? 0 : 1;
        lost = true;
        at += kWord;
        continue;
      }
      lost = false;
      add(at);
      at += *bytes;
    }
  }

  void add(size_t at) {
    const RawHeader header = header_at(at);
    if (header.kind == RawKind::pad || header.kind == RawKind::seal) return;
    if (header.kind == RawKind::clock_met) {
      ++refused_;
    } else {
      const auto* words = reinterpret_cast<const uint64_t*>(window_.data() + at + sizeof header);
      candidates_.push_back(
          {static_cast<uint32_t>(at), header.time, later_moment(header, words), header.kind});
    }
  }

  /// The longest part of the records whose times do not decrease; definitions stay.
  void keep_in_order() {
    std::vector<size_t> ends;  // of rows by their length - 1: the record with the least last time
    std::vector<size_t> before(candidates_.size(), SIZE_MAX);
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (has_time_of_the_last(candidates_[i].kind)) continue;
      const auto place = std::upper_bound(
          ends.begin(), ends.end(), candidates_[i].ticks,
          [&](uint64_t ticks, size_t other) { return ticks < candidates_[other].ticks; });
      if (place != ends.begin()) before[i] = *(place - 1);
      if (place == ends.end()) {
        ends.push_back(i);
      } else {
        *place = i;
      }
    }
    std::vector<bool> kept(candidates_.size(), false);
    for (size_t i = ends.empty() ? SIZE_MAX : ends.back(); i != SIZE_MAX; i = before[i]) {
      kept[i] = true;
    }
    size_t i = 0;
    std::erase_if(candidates_, [&](const Candidate& one) {
      return !kept[i++] && !has_time_of_the_last(one.kind);
    });
  }

  /// A time that is far too late has no later record that would contradict it.
  void drop_far_ends() {
    for (size_t i = candidates_.size(); i-- > 0;) {
      if (has_time_of_the_last(candidates_[i].kind)) continue;
      size_t previous = i;
      while (previous > 0 && has_time_of_the_last(candidates_[previous - 1].kind)) --previous;
      const uint64_t before = previous > 0 ? candidates_[previous - 1].ticks : bounds_.begin;
      const uint64_t known = std::max(before, bounds_.known);
      if (candidates_[i].ticks <= known + (known - bounds_.begin) / kFarther) return;
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// Moments noted in a record lie before the next record is made.
  void drop_overlong() {
    uint64_t next = bounds_.known;
    for (size_t i = candidates_.size(); i-- > 0;) {
      const Candidate& one = candidates_[i];
      if (has_time_of_the_last(one.kind)) continue;
      if (one.later > std::max(next, one.ticks)) {
        candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        next = one.ticks;
      }
    }
  }

  std::span<const std::byte> window_;
  RecordBounds bounds_;
  std::vector<Candidate> candidates_;
  uint64_t refused_ = 0;
};

}  // namespace

Salvaged salvage(std::span<const std::byte> window, const RecordBounds& bounds) {
  return Salvager(window, bounds).salvage();
}

}  // namespace culprit::assemble
