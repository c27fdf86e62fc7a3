// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads the collector's files (trace/raw/raw.h): process folders, and the records of each thread.
// It assumes nothing about how the program ended: a log stops at its first unwritten record.
// Windows whose checksum is wrong are counted, and those of their records are used that can be true
// (salvage.h). A record returned has at least the words that its kind promises, so that no later
// code checks sizes again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/losses.h"
#include "trace/raw/records.h"

namespace culprit::assemble {

namespace raw = trace::raw;

struct RawRecord {
  uint64_t ticks = 0;
  uint32_t arg = 0;
  uint16_t flags = 0;
  uint8_t words = 0;
  trace::RawKind kind = trace::RawKind::none;
  const uint64_t* w = nullptr;  ///< `words` of them
  bool noted = false;           ///< in another record, so that it takes no room of its own

  /// The record's fields. Kinds that begin with the same fields may be read as each other's.
  template <class Record>
  Record as() const {
    return raw::unpack<Record>(arg, flags, w, words);
  }
  /// The call path that it takes; 0: none.
  uint32_t path() const { return trace::facts_of(kind).takes_path ? arg : 0; }
  /// The words behind the fields of such a record.
  template <class Record>
  std::span<const uint64_t> rest_of() const {
    constexpr unsigned kFields = raw::words_of_fields<Record>();
    return words > kFields ? std::span(w + kFields, words - kFields) : std::span<const uint64_t>();
  }
};

/// Bytes of `words` as text: `length` of them, from `offset` on, or as many as are there.
inline std::string_view text_in(std::span<const uint64_t> words, size_t length, size_t offset = 0) {
  const std::string_view all(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return all.substr(std::min(offset, all.size()), length);
}

/// Appends `count` ranks, which are packed two a word; false if fewer are there.
inline bool append_ranks(std::span<const uint64_t> words, uint64_t count,
                         std::vector<uint32_t>& ranks) {
  const size_t taken = std::min<size_t>(count, words.size() * 2);
  const size_t begin = ranks.size();
  ranks.resize(begin + taken);
  if (taken > 0) std::memcpy(ranks.data() + begin, words.data(), taken * sizeof(uint32_t));
  return taken == count;
}

/// Time in ticks at which it began.
inline uint64_t began_to_block(const raw::blocked& blocked, uint64_t ticks) {
  return blocked.begun != 0 ? std::min(blocked.begun, ticks) : ticks;
}

/// The damage of a log, or of several.
struct LogDamage {
  uint64_t windows = 0;  ///< windows whose checksum is wrong
  uint64_t cut = 0;      ///< logs whose end, or whose beginning, is missing
  uint64_t refused = 0;  ///< records of such windows that cannot be true
};

/// Which records of a damaged window can be true.
struct RecordBounds {
  uint64_t begin = 0;         ///< ticks: none was made before
  uint64_t known = 0;         ///< ticks: the process is known to have lived until then
  uint64_t end = UINT64_MAX;  ///< none was made after
};

/// One thread's records: windows unpacked, and its tail mapped behind them. MT: cursors are
/// independent of each other.
class RawLog {
 public:
  /// Part of a log, in bytes. Of one that is not sound the records at `good` are used.
  struct Stretch {
    size_t begin = 0;
    size_t end = 0;
    bool sound = true;
    bool unsealed = false;            ///< the last record, which the checksum does not cover yet
    std::vector<uint32_t> good = {};  ///< bytes from the stretch's begin, ascending
  };

  /// A walk over the records; pads are skipped, and later moments noted in a record come as records
  /// of their own. The thread's open states come behind all others, with the time at which they
  /// began. Copy the cursor to look ahead.
  class Cursor {
   public:
    explicit Cursor(const RawLog& log) : log_(&log) {}
    /// False at the end, and for ever after.
    bool next(RawRecord& record);
    /// True if the walk met something that is no record.
    bool damaged() const { return damaged_; }
    /// Records left out because they are shorter than their kind, or of no known kind.
    uint64_t skipped() const { return skipped_; }

   private:
    bool next_noted(RawRecord& record);
    void be_lone_task(RawRecord& record);
    bool find_next(size_t& at);
    bool next_open(RawRecord& record);
    void leave_stretch();

    const RawLog* log_;
    size_t stretch_ = 0;
    size_t offset_ = 0;      ///< in the stretch; of one that is not sound, in its `good`
    size_t open_ = 0;        ///< next open state, behind all stretches
    RawRecord noted_;        ///< the newest record, which may note later moments
    unsigned later_ = 0;     ///< how many of those moments have come
    uint64_t lone_[2] = {};  ///< words of an implicit task so noted
    uint64_t skipped_ = 0;
    bool damaged_ = false;
  };

  /// The log of a thread of the process with this folder that began at `start_ticks`, its checksums
  /// checked; `written_behind`: it wrote its files rather than map them; `has_bursts`: logs have
  /// the whole part of the run alone (trace/raw/bursts.h). None if there are no files, or nothing
  /// was ever written to them.
  static std::optional<RawLog> map(const GuardedPath& folder, uint32_t thread, uint64_t start_ticks,
                                   bool written_behind = false, bool has_bursts = false);
  /// The tail of a log whose earlier windows were dropped, if it is this window.
  static std::optional<RawLog> map_tail(const GuardedPath& folder, uint32_t thread,
                                        uint64_t start_ticks, uint64_t window);
  /// A log of whole records that lie in memory.
  static RawLog of(uint32_t thread, std::vector<uint64_t> records);

  /// From now on cursors do not find this record, neither of this log nor of its copies.
  void leave_out(const RawRecord& record);
  /// Nor do they find records after this moment.
  void end_at(uint64_t ticks) { last_ticks_ = ticks; }
  /// Whether windows of it may have been dropped (trace/raw/bursts.h).
  bool has_gap() const { return has_gap_; }
  /// The thread's number in its first team, where this log does not say it.
  std::optional<uint32_t> team_number;

  Cursor cursor() const { return Cursor(*this); }
  uint32_t thread() const { return thread_; }
  const LogDamage& damage() const { return damage_; }
  /// When the last of the records that are sound was made; 0: there are none.
  uint64_t newest_ticks() const;
  bool is_sound() const;
  /// Until this is called, stretches that are not sound are not used.
  void salvage(const RecordBounds& bounds);

 private:
  friend class LogCheck;
  uint64_t newest_of(const Stretch& stretch) const;
  uint64_t oldest_of(const Stretch& stretch) const;
  void check_open(const RecordBounds& bounds);

  std::shared_ptr<const std::byte> data_;
  uint64_t last_ticks_ = UINT64_MAX;
  std::vector<Stretch> stretches_;
  std::vector<trace::RawOpen> open_;
  LogDamage damage_;
  uint32_t thread_ = 0;
  bool has_gap_ = false;
};

inline constexpr int kUnknownKind = -1;
/// Minimum number of words of a record of this kind.
int words_of(trace::RawKind kind);

struct RawProcessFolder {
  GuardedPath folder;
  trace::RawProcess process{};
  std::vector<RawLog> logs;         ///< by thread number
  std::vector<RawLog> device_logs;  ///< logs of no thread: activity of devices
  std::vector<RawLog> watch_logs;   ///< logs of no thread: where threads were seen to sleep
  std::vector<GuardedPath> maps;    ///< the most complete first

  /// It recorded, and has not come to its end: it was killed, or goes on.
  bool was_cut() const {
    return !logs.empty() && process.ended == 0 && process.stopped_at_limit == 0;
  }
};

/// Logs of which no record is there. Of those of long runs there may be a profile.
enum class LogsWithout : uint8_t { left_out, kept };

/// The processes under `raw`, in order of their start; checked on `threads` threads (0: all cores).
/// Unreadable parts are counted and left out.
std::vector<RawProcessFolder> read_raw(const GuardedPath& raw, Losses& losses, unsigned threads = 1,
                                       LogsWithout empty = LogsWithout::left_out);

// Its two parts, for those who read some of the processes only.

/// All processes without their logs, in order of their start.
std::vector<RawProcessFolder> read_processes(const GuardedPath& raw, Losses& losses);
/// The names under `raw` under which there may be a process.
std::vector<std::string> process_names(const GuardedPath& raw);
/// The process under this name without its logs; none, and counted, if it is unreadable.
std::optional<RawProcessFolder> read_process_folder(const GuardedPath& raw, const std::string& name,
                                                    Losses& losses);
/// In an order that does not depend on who read them.
void sort_by_start(std::vector<RawProcessFolder>& folders);
/// Reads the logs of these processes.
void read_logs(const std::vector<RawProcessFolder*>& folders, Losses& losses, unsigned threads,
               LogsWithout empty);

}  // namespace culprit::assemble
