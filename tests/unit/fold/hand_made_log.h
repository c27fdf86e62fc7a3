// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's log made by hand, in windows of any size as the collector makes them, and its profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fold/thread_fold.h"
#include "trace/raw/records.h"

namespace culprit::fold {

namespace raw = trace::raw;

class HandMadeLog {
 public:
  template <class Fields>
  void put(uint64_t time, const Fields& record, const std::vector<uint64_t>& rest = {}) {
    const raw::Packed<Fields> packed(record);
    const auto words = static_cast<uint8_t>(packed.count + rest.size());
    std::vector<uint64_t> all = {
        time, trace::raw_second_half(Fields::kKind, packed.flag_bits, packed.argument, words)};
    all.insert(all.end(), packed.words, packed.words + packed.count);
    all.insert(all.end(), rest.begin(), rest.end());
    records_.push_back(all);
  }
  size_t count() const { return records_.size(); }

  /// The log's windows; the last one is as long as the others, and its rest is zero.
  std::vector<std::vector<std::byte>> windows(size_t bytes) const;

 private:
  std::vector<std::vector<uint64_t>> records_;
};

/// A region in memory of its own, as it is when the log has been folded.
class Profile {
 public:
  static constexpr size_t kQuota = size_t{1} << 20;
  explicit Profile(size_t quota = kQuota, uint32_t log = 1, uint64_t origin = 0)
      : memory_(quota / sizeof(Page)), fold_(ThreadFold::begin(bytes(), log, origin)) {}
  Profile(const Profile& other) : memory_(other.memory_), fold_(ThreadFold::resume(bytes())) {}
  Profile& operator=(const Profile&) = delete;

  /// Window by window, each in pieces of at most `piece` bytes (0: at once).
  void fold(const HandMadeLog& log, size_t window, size_t piece = 0, ChangeList* changes = nullptr);

  ThreadFold& operator*() { return fold_; }
  ThreadFold* operator->() { return &fold_; }
  const ProfileLog& log() const { return fold_.log(); }
  const ProfileRow& operator[](uint32_t row) const { return trace::rows_of(log())[row]; }

  /// The row of this kind with these ancestors, innermost first, which are numbers of rows.
  uint32_t find(ProfileKind kind, uint32_t parent, uint64_t place, uint16_t detail = 0) const;
  /// Ticks of all stretches in this state.
  uint64_t ticks_in(ProfileState state) const;
  uint64_t visits_of(ProfileKind kind) const;
  uint64_t amount_of(ProfileKind kind) const;

  /// All bytes but for those that count slices and windows.
  std::vector<std::byte> comparable();

 private:
  struct alignas(64) Page {
    std::byte bytes[trace::kProfilePage];
  };
  std::span<std::byte> bytes() {
    return {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * sizeof(Page)};
  }
  std::vector<Page> memory_;
  ThreadFold fold_;
};

/// What holds of every profile.
void expect_consistent(const Profile& profile);

}  // namespace culprit::fold
