// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What becomes of a log's records besides their place in its file: they are folded into the
// profile, in slices of a window; and once the whole part of the run is over, definitions and what
// lies in bursts are kept of each window, before the rest is dropped. Works on records that do not
// change any more. MT: the log's thread. Async-signal-safe, but for its effect on `errno`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/bursts/governor.h"
#include "collector/bursts/log_fold.h"
#include "collector/bursts/moments.h"
#include "collector/bursts/store.h"

namespace culprit::collector {

/// A window is folded in slices of this size: its records are then still in the caches, and the
/// thread pauses for some ten microseconds at a time.
inline constexpr uint32_t kSlice = uint32_t{64} << 10;

class Digest {
 public:
  /// For log `number` of the process whose files are in `folder`, and which began at `start_ticks`.
  /// Its first window is `records`, of `bytes`; `busy`, `last_time`: the log's.
  void begin(const char* folder, uint32_t number, uint64_t start_ticks, const char* records,
             size_t bytes, const std::atomic<bool>& busy, const uint64_t& last_time);
  /// After finish(), instead of release().
  void end();

  // A thread that cuts reads other threads' windows: these may not change, but for records that are
  // added, unless hold() or try_hold() has succeeded, until release().
  bool try_hold() { return fold_ == nullptr || fold_->try_hold(); }
  bool hold() { return fold_ == nullptr || fold_->hold(LogFold::kForLong); }
  void release() {
    if (fold_ != nullptr) fold_->release();
  }

  /// The window that is filled from now on. Not while another thread may read it.
  void begin_window(const char* records, size_t bytes, uint64_t number) {
    if (fold_ != nullptr) fold_->begin_window(records, bytes, number);
  }
  /// Whether there is a profile in a file, which has what is not kept otherwise.
  bool has_profile() {
    show_profile();
    return fold_ != nullptr && fold_->is_in_file();
  }
  /// Time of the newest record before the window at hand.
  uint64_t window_begin() const { return last_time_; }
  /// Folds the window's first `used` bytes, as far as they are not folded yet. `is_all`: no others
  /// follow in this window.
  void fold(size_t used, bool is_all);

  /// All records of a window, the newest of which is of `last_time`. If the whole part is over,
  /// `is_kept` says whether its file has them. May be called again for the same window.
  void finish(uint64_t window, const char* records, size_t used, uint64_t last_time, bool is_kept);

  /// What the log's thread spends on it.
  Account& account() { return account_; }

  /// Whether a window that is not kept goes on behind a slice, as its records are those of a burst.
  static bool goes_on(uint64_t last_time);

 private:
  bool cut_and_fold(size_t used, bool is_folded);
  void carry_on(size_t until);
  void show_profile();
  void show_state();
  const char* path_of(const char* file);
  void keep_definitions();
  void keep_bursts();
  void keep(const Burst& burst);
  void write_preamble(trace::RawBurst& place, uint64_t slot, uint64_t begin);
  size_t first_at(uint64_t time, size_t from) const;

  /// The window at hand.
  struct {
    uint64_t number = 0;
    const char* records = nullptr;
    size_t used = 0;
    uint64_t begin = 0;  ///< time of the newest record before it
    uint64_t end = 0;    ///< of its own
  } at_;
  struct State;
  State* state_ = nullptr;        ///< nullptr: there was no memory
  bool state_was_shown_ = false;  ///< it is in a file, if one could be mapped
  LogFold* fold_ = nullptr;       ///< nullptr: there was no memory
  bool is_cut_ = false;           ///< cuts have it, and destroy it
  size_t carried_ = 0;            ///< bytes of the window over which the state was carried
  uint64_t finished_ = 0;         ///< windows that were
  uint64_t last_time_ = 0;        ///< of the windows before
  const char* folder_ = nullptr;
  uint32_t number_ = 0;
  uint64_t start_ticks_ = 0;
  size_t folded_ = 0;  ///< bytes of the window that were, as far as the account knows
  Account account_;
  Store store_;
  // The threads that need it may have next to no stack.
  alignas(uint64_t) char buffer_[size_t{8} << 10] = {};
};

}  // namespace culprit::collector
