// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Puts the two files of a log one behind the other, and checks the checksums (trace/raw/raw.h).
// Windows are unpacked; those of former versions are mapped as they are.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "assemble/raw/log_part.h"
#include "assemble/raw/reader.h"
#include "assemble/raw/salvage.h"
#include "assemble/raw/unpacked.h"
#include "trace/raw/packed.h"
#include "trace/raw/seal.h"

namespace culprit::assemble {
namespace {

using trace::kRawSealBytes;
using trace::kRawWindow;
using trace::RawHeader;
using trace::RawKind;
using trace::RawOpen;
using trace::RawTail;

constexpr size_t kWord = sizeof(uint64_t);

}  // namespace

/// Finds out which stretches of a log are sound.
class LogCheck {
 public:
  /// `data`: the parts of the events file that are no holes. A log has no holes; a file that is
  /// nearly all hole must not make us read terabytes of zeros.
  LogCheck(RawLog& log, uint64_t start_ticks, bool written_behind, std::vector<Extent> data)
      : log_(log),
        start_ticks_(start_ticks),
        written_behind_(written_behind),
        data_(std::move(data)) {}

  /// `events_size` bytes of whole windows and maybe a part of one, the end of a thread that ended.
  /// `may_be_whole`: or all windows that were to be kept.
  void check_ended(size_t events_size, bool may_be_whole) {
    const size_t window = window_by_seals(events_size);
    const size_t rest = check_windows(events_size, window);
    const size_t begin = events_size - rest;
    if (rest >= kRawSealBytes && is_sealed(begin, rest, begin / window)) {
      log_.stretches_.push_back({begin, events_size - kRawSealBytes});
    } else if (rest > 0) {
      add_damaged(begin, events_size);
    }
    const bool is_whole = may_be_whole && rest == 0;
    if (!is_whole && !ends_in_order(events_size)) log_.damage_.cut = 1;
  }

  /// As many whole windows as fit into `events_size`.
  size_t check_windows(size_t events_size, size_t window) {
    const size_t whole = events_size / window;
    size_t next = 0;
    for (const Extent& extent : data_) {
      const size_t first = std::min(std::max<size_t>(next, extent.begin / window), whole);
      log_.damage_.windows += first - next;
      next = std::max(first, std::min(whole, rounded_up(extent.end, window) / window));
      for (size_t i = first; i < next; ++i) check_window(i, window);
    }
    log_.damage_.windows += whole - next;
    return events_size % window;
  }

  /// Of windows that were unpacked, and the tail that may follow them. False if there is nothing,
  /// or no memory.
  bool join(Unpacked& windows, const LogPart& tail_file, bool has_bursts) {
    const std::optional<RawTail> tail = tail_file.tail();
    if (!tail && windows.file_bytes == 0) return false;
    log_.open_ = tail_file.slots();
    if (!tail) {
      end(windows, has_bursts);
    } else if (tail->kept != 0 && tail->window + 1 > tail->kept) {
      // Windows between those that are kept and the tail were dropped.
      log_.has_gap_ = true;
      take(windows, windows.last_is_whole || windows.windows < tail->kept);
      if (windows.windows + 1 < tail->kept) log_.damage_.cut = 1;
    } else if (!add_tail(windows, tail_file, *tail)) {
      return false;
    }
    return !log_.stretches_.empty() || log_.damage_.cut + log_.damage_.windows > 0 ||
           (tail && tail->kept != 0);
  }

  void check_tail(size_t begin, size_t window, const RawTail& tail) {
    const size_t words = trace::words_of_seal(tail.seal);
    if (words * kWord > window || seal_of(begin, words, tail.window) != tail.seal) {
      // Nothing was ever written: the thread was about to begin a window when it was killed.
      const bool blank = tail.seal == 0 && kind_at(begin) == RawKind::none;
      return blank ? void() : add_damaged(begin, begin + window);
    }
    const size_t sealed = begin + words * kWord;
    log_.stretches_.push_back({begin, sealed});
    check_behind_seal(sealed, begin + window);
  }

  bool ends_in_order(size_t events_size) const {
    if (events_size < kRawSealBytes) return false;
    const RawHeader last = header_at(events_size - kRawSealBytes);
    return last.kind == RawKind::seal && last.flags == trace::kRawEndOfLog;
  }

 private:
  /// `last_counts`: so does what there is of the last window.
  void take(Unpacked& windows, bool last_counts) {
    log_.damage_.windows += windows.damaged;
    log_.stretches_ = std::move(windows.stretches);
    if (!last_counts) log_.stretches_.resize(windows.before_last);
    if (last_counts && windows.windows > 0 && !windows.last_is_whole) ++log_.damage_.windows;
  }

  /// The end of a thread that ended, or of the windows that were to be kept of it.
  void end(Unpacked& windows, bool has_bursts) {
    take(windows, true);
    const bool in_order = windows.last_is_whole && ends_in_order(windows.bytes);
    log_.has_gap_ = has_bursts && !in_order;
    if (!in_order && !(has_bursts && windows.last_is_full)) log_.damage_.cut = 1;
  }

  /// Unless its window is among the others. False if there is no memory.
  bool add_tail(Unpacked& windows, const LogPart& file, const RawTail& tail) {
    const uint64_t next = windows.windows;
    const bool was_appending = tail.window + 1 == next && !windows.last_is_whole;
    take(windows, !was_appending);
    if (tail.window + 1 == next && !was_appending) return true;
    if (tail.window != next && !was_appending) log_.damage_.cut = 1;
    if (tail.window + 1 < next) return true;
    const size_t begin = rounded_up(windows.bytes, kRawPage);
    if (!file.map_at(windows.data.get() + begin, file.window())) return false;
    check_tail(begin, file.window(), tail);
    return true;
  }

  void check_window(size_t index, size_t window) {
    const size_t begin = index * window;
    if (is_sealed(begin, window, index)) {
      log_.stretches_.push_back({begin, begin + window - kRawSealBytes});
    } else {
      add_damaged(begin, begin + window);
    }
  }

  const std::byte* at(size_t offset) const { return log_.data_.get() + offset; }

  RawHeader header_at(size_t offset) const {
    RawHeader header;
    std::memcpy(&header, at(offset), sizeof header);
    return header;
  }
  RawKind kind_at(size_t offset) const { return header_at(offset).kind; }

  uint64_t seal_of(size_t begin, size_t words, uint64_t window) const {
    return trace::raw_seal(trace::raw_sum(at(begin), words),
                           trace::raw_seed(start_ticks_, log_.thread_, window), words);
  }

  /// Whether the checksum that ends these bytes is right.
  bool is_sealed(size_t begin, size_t bytes, uint64_t window) const {
    const size_t before = bytes - kRawSealBytes;
    const RawHeader header = header_at(begin + before);
    if (header.kind != RawKind::seal || header.words != 1 || header.arg != before) return false;
    uint64_t seal = 0;
    std::memcpy(&seal, at(begin + before) + sizeof header, sizeof seal);
    return seal == seal_of(begin, before / kWord, window);
  }

  /// The size of windows, derived from the places of their checksums.
  size_t window_by_seals(size_t events_size) const {
    for (size_t window = kRawPage; window < kRawWindow; window *= 2) {
      for (const Extent& extent : data_) {
        const size_t last = std::min<size_t>(events_size, extent.end);
        for (size_t end = rounded_up(extent.begin + 1, window); end <= last; end += window) {
          const RawHeader header = header_at(end - kRawSealBytes);
          if (header.kind == RawKind::seal && header.arg == window - kRawSealBytes) return window;
        }
      }
    }
    return kRawWindow;
  }

  /// At most one record which the checksum does not cover yet, and the checksum of a thread that is
  /// ending.
  void check_behind_seal(size_t begin, size_t end) {
    size_t at = begin;
    unsigned records = 0;
    while (at + sizeof(RawHeader) <= end) {
      const RawHeader header = header_at(at);
      if (header.kind == RawKind::none) break;
      records += header.kind == RawKind::seal ? 0 : 1;
      at += sizeof header + header.words * kWord;
    }
    if (at == begin) return;
    // Records were written but not their part of the checksum: the disk was full.
    if (written_behind_) return;
    if (records > 1 || at > end) return add_damaged(begin, end);
    log_.stretches_.push_back({begin, at, false, true});
  }

  void add_damaged(size_t begin, size_t end) {
    ++log_.damage_.windows;
    log_.stretches_.push_back({begin, end, false});
  }

  RawLog& log_;
  const uint64_t start_ticks_;
  const bool written_behind_;  ///< only bytes that the checksum covers were to be written
  const std::vector<Extent> data_;
};

std::optional<RawLog> RawLog::map(const GuardedPath& folder, uint32_t thread, uint64_t start_ticks,
                                  bool written_behind, bool has_bursts) {
  const std::string name = fmt::format("events.{}", thread);
  const LogPart tail_file(folder / (name + ".tail"));
  const auto packed = (folder / (name + trace::kRawPackedSuffix)).open();
  const LogPart events(folder / name);
  if (packed || events.size() == 0) {
    auto windows = packed ? unpack_windows(*packed, start_ticks, thread) : no_windows();
    if (!windows) return std::nullopt;
    RawLog log;
    log.thread_ = thread;
    log.data_ = windows->data;
    LogCheck check(log, start_ticks, written_behind, {});
    return check.join(*windows, tail_file, has_bursts) ? std::optional(std::move(log))
                                                       : std::nullopt;
  }
  const std::optional<RawTail> tail = tail_file.tail();
  const size_t window = tail_file.window();
  // One stretch of addresses for both: windows are whole pages.
  const size_t room = rounded_up(events.size(), kRawWindow) + kRawWindow;
  void* data = mmap(nullptr, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return std::nullopt;
  RawLog log;
  log.thread_ = thread;
  log.data_ = {static_cast<const std::byte*>(data),
               [data, room](const std::byte*) { munmap(data, room); }};
  if (!events.map_at(data, events.size())) return std::nullopt;
  log.open_ = tail_file.slots();
  LogCheck check(log, start_ticks, written_behind, events.data());
  if (!tail) {
    check.check_ended(events.size(), has_bursts);
    log.has_gap_ = has_bursts && !check.ends_in_order(events.size());
    return log;
  }
  const size_t whole = events.size() / window;
  check.check_windows(events.size(), window);
  if (tail->kept != 0 && tail->window + 1 > tail->kept) {
    // Windows between those that are kept and the tail were dropped.
    log.has_gap_ = true;
    if (whole + 1 < tail->kept) log.damage_.cut = 1;
  } else if (tail->window == whole) {
    const size_t begin = whole * window;
    if (!tail_file.map_at(static_cast<char*>(data) + begin, window)) return std::nullopt;
    check.check_tail(begin, window, *tail);
  } else if (tail->window + 1 != whole || events.size() % window != 0) {
    // But for one that was just appended, it is about windows that are not there, or too many.
    log.damage_.cut = 1;
  }
  return log;
}

std::optional<RawLog> RawLog::map_tail(const GuardedPath& folder, uint32_t thread,
                                       uint64_t start_ticks, uint64_t window) {
  const LogPart file(folder / fmt::format("events.{}.tail", thread));
  const std::optional<RawTail> tail = file.tail();
  if (!tail || tail->window != window) return std::nullopt;
  void* data =
      mmap(nullptr, kRawWindow, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return std::nullopt;
  RawLog log;
  log.thread_ = thread;
  log.data_ = {static_cast<const std::byte*>(data),
               [data](const std::byte*) { munmap(data, kRawWindow); }};
  if (!file.map_at(data, file.window())) return std::nullopt;
  LogCheck(log, start_ticks, false, {}).check_tail(0, file.window(), *tail);
  log.salvage({.begin = start_ticks, .known = UINT64_MAX});
  return log;
}

/// Time of the last record of a sound stretch.
uint64_t RawLog::newest_of(const Stretch& stretch) const {
  RawHeader header;
  uint64_t newest = 0;
  for (size_t at = stretch.begin; at + sizeof(RawHeader) <= stretch.end;) {
    std::memcpy(&header, data_.get() + at, sizeof header);
    newest = std::max(newest, header.time);
    at += sizeof header + header.words * kWord;
  }
  return newest;
}

uint64_t RawLog::newest_ticks() const {
  uint64_t newest = 0;
  for (const Stretch& stretch : stretches_) {
    if (stretch.sound) newest = std::max(newest, newest_of(stretch));
  }
  return newest;
}

bool RawLog::is_sound() const {
  return std::all_of(stretches_.begin(), stretches_.end(),
                     [](const Stretch& stretch) { return stretch.sound; });
}

/// Time of the first record of a sound stretch that has one.
uint64_t RawLog::oldest_of(const Stretch& stretch) const {
  RawHeader header;
  for (size_t at = stretch.begin; at + sizeof(RawHeader) <= stretch.end;) {
    std::memcpy(&header, data_.get() + at, sizeof header);
    const trace::RawGroup group = trace::facts_of(header.kind).group;
    const bool tells = group != trace::RawGroup::structure && group != trace::RawGroup::definitions;
    if (tells) return header.time;
    at += sizeof header + header.words * kWord;
  }
  return UINT64_MAX;
}

/// An open state has no checksum, but it must look like a record, and lie within the process's
/// life.
void RawLog::check_open(const RecordBounds& bounds) {
  damage_.refused += std::erase_if(open_, [&](const RawOpen& open) {
    const int wanted = words_of(open.header.kind);
    const bool is_record = wanted != kUnknownKind && open.header.words >= wanted &&
                           open.header.words <= trace::kRawOpenWords;
    return !is_record || open.header.time < bounds.begin || open.header.time > bounds.end;
  });
}

/// Bounded by the records before and after: windows may have changed places.
void RawLog::salvage(const RecordBounds& bounds) {
  check_open(bounds);
  RecordBounds within = bounds;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    Stretch& stretch = stretches_[i];
    if (stretch.sound) {
      within.begin = std::max(within.begin, newest_of(stretch));
      continue;
    }
    within.end = bounds.end;
    for (size_t next = i + 1; next < stretches_.size(); ++next) {
      if (stretches_[next].sound) within.end = std::min(within.end, oldest_of(stretches_[next]));
    }
    // It is not damaged: for a killed process it may well be the last activity, long after all
    // others.
    within.known = stretch.unsealed ? within.end : std::min(bounds.known, within.end);
    const std::span bytes(data_.get() + stretch.begin, stretch.end - stretch.begin);
    Salvaged salvaged = assemble::salvage(bytes, within);
    stretch.good = std::move(salvaged.good);
    within.begin = std::max(within.begin, salvaged.newest);
    damage_.refused += salvaged.refused;
  }
}

}  // namespace culprit::assemble
