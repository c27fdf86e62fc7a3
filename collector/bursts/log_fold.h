// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a log's records are folded into: its region of the profile, and the lists of changes that
// the cuts of its process merge (collector/bursts/cuts.h). The log's own thread folds when a slice
// of its window is full, and whoever cuts folds what others have put since. So all of it belongs to
// who holds it. Nobody waits for long: the thread goes on with its window while another one holds
// it, and who cuts leaves out a log that is held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fold/change.h"
#include "fold/potential/change_reader.h"
#include "fold/potential/ledger.h"
#include "trace/raw/profile.h"

namespace culprit::collector {

/// Zeroed memory of its own, beside the log that it is of.
class LogFold {
 public:
  /// nullptr if there is no memory. `busy`, `last_time`: the log's; they have to live until
  /// close().
  static LogFold* make(uint32_t number, uint64_t start_ticks, const std::atomic<bool>& busy,
                       const uint64_t& last_time);
  void destroy();

  // --- Any thread ---

  bool try_hold();
  /// Waits while another thread holds it, but no longer than kAWhile (some milliseconds) or
  /// kForLong (most of a second): that one may have lost its core.
  bool hold(uint64_t longest);
  static constexpr uint64_t kAWhile = uint64_t{1} << 22, kForLong = uint64_t{1} << 30;  ///< ticks
  void release() { held_.store(false, std::memory_order_release); }

  // --- Who holds it ---

  /// The window that the thread fills from now on, and its number in the log.
  void begin_window(const char* records, size_t bytes, uint64_t number);
  /// Folds and lists the window's records up to `end`, which do not change any more. False if
  /// lists are full.
  bool fold(size_t end);
  /// The same, of what the log's thread has put so far, without waiting for it.
  bool fold_what_is_there();
  /// The same as fold(), but changes for which there is no room are lost.
  void fold_anyway(size_t end);
  /// No change comes any more that is earlier; at most `until`.
  uint64_t settled(uint64_t until) const;
  /// The moment of the last change before what could not be listed for want of room.
  uint64_t newest_listed() const;
  /// What is earlier from now on has happened then.
  void begin_at(uint64_t time);

  /// The thread has ended.
  void close(uint64_t time);
  bool is_closed() const { return is_closed_; }
  /// Moves the region into the process's profile, once.
  void show(const char* path, uint64_t start_ticks);
  bool is_in_file() const { return is_in_file_; }

  uint32_t number() const { return number_; }
  bool is_filling() const { return stretches_.is_filling() || changes_.is_filling(); }
  bool is_empty() const { return stretches_.count() == 0 && changes_.count() == 0; }
  uint32_t unmerged() const { return stretches_.count() + changes_.count(); }
  uint64_t lost() const { return stretches_.lost() + changes_.lost(); }
  fold::ChangeList& stretches() { return stretches_; }
  fold::ChangeList& changes() { return changes_; }
  fold::Ledger ledger();
  /// Gives the rows what the thread has earned early, of which this is all.
  void share_early(fold::Wide all);

 private:
  static constexpr uint32_t kChanges = 4096;

  std::span<trace::ProfileRow> rows() const;
  bool read(size_t end, bool grows);
  size_t first_unread() const;
  struct Piece {
    size_t end;
    bool grows;   ///< its last record may
    bool is_all;  ///< nothing follows it
  };
  Piece records_from(size_t from) const;

  std::atomic<bool> held_;
  bool is_closed_, was_shown_, is_in_file_;
  uint32_t number_;
  std::byte* region_;
  size_t region_bytes_;
  const char* records_;  ///< nullptr: there is no window
  size_t window_bytes_;
  uint64_t window_;
  const std::atomic<bool>* busy_;
  const uint64_t* last_time_;
  fold::ChangeReader reader_;
  size_t listed_;  ///< bytes of the window whose changes are
  fold::ChangeList stretches_, changes_;
  fold::Wide early_;
  fold::Change stretches_memory_[kChanges], changes_memory_[kChanges];
};

}  // namespace culprit::collector
