// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The windows of a long run: parts of it of which all records are there. Number 0 is the whole
// part, from the run's begin; the others are bursts. Each becomes folders of records like those of
// a whole run, whose processes begin and end with the window: what their logs have recorded of what
// goes on then stands at the window's begin (fold/preamble.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "assemble/bursts/burst_files.h"
#include "assemble/bursts/window_log.h"
#include "assemble/raw/reader.h"
#include "base/files/guarded_path.h"
#include "base/losses.h"

namespace culprit::assemble {

inline constexpr uint64_t kWholePart = 0;

/// A window's records. Folders are those of the run, in their order.
struct WindowRecords {
  uint64_t number = kWholePart;
  std::vector<RawProcessFolder> folders;
  /// The processes as they were, and their logs of the whole part: clocks and ranks are the same in
  /// all windows.
  std::vector<RawProcessFolder> run;
  std::vector<bool> known;  ///< by folder: the state of all its logs at the begin is there
};

class WindowReader {
 public:
  /// Reads what all windows need. `losses`: of the whole run.
  WindowReader(const GuardedPath& raw, Losses& losses, unsigned threads);

  /// Whether the run is in windows: its records did not fit into the budget.
  bool any() const { return whole_end_ != 0; }
  /// Windows are numbered in order of time; bursts that only some nodes have are left out.
  uint64_t count() const { return slots_.size() + 1; }
  /// Where a window lies in a process's ticks, with the margins for clocks that differ.
  TickSpan span(uint64_t number, size_t folder) const;
  /// The run's folders: of their logs the whole part is there.
  const std::vector<RawProcessFolder>& folders() const { return folders_; }

  /// Nothing if less than half of the burst is there. `losses` are those of this window.
  std::optional<WindowRecords> read(uint64_t number, Losses& losses) const;

 private:
  struct LogId {
    size_t folder;
    uint32_t log;
    auto operator<=>(const LogId&) const = default;
  };
  /// What a log has defined, in order.
  struct Definitions {
    WindowLog begin;                      ///< `definitions` are all that the run has
    std::optional<uint64_t> born, ended;  ///< ticks
  };
  struct BurstPart {
    WindowLog log;
    bool known = false;
    uint64_t until = 0;  ///< it is covered up to there
  };

  void read_definitions(unsigned threads);
  void define(const RawLog& log, Definitions& known) const;
  WindowRecords whole_part() const;
  void find_slots();
  std::optional<WindowRecords> burst(uint64_t number, Losses& losses) const;
  std::map<LogId, BurstPart> parts_of(uint64_t slot, Losses& losses) const;
  const RawLog* log_of(const LogId& id) const;
  void complete(const LogId& id, const TickSpan& span, BurstPart& part) const;
  void add_tail(const LogId& id, const TickSpan& span, BurstPart& part) const;
  std::optional<size_t> folder_of(const trace::RawExtent& extent) const;
  const trace::RawBurst* burst_on(const NodeBursts& node, uint64_t slot) const;
  const NodeBursts* node_of(size_t folder) const;

  GuardedPath raw_;
  unsigned threads_;
  std::vector<RawProcessFolder> folders_;
  std::vector<NodeBursts> nodes_;
  std::vector<uint64_t> slots_;  ///< of windows 1, 2, ...
  uint64_t whole_end_ = 0;       ///< ticks of the first node; 0: the whole part never ended
  std::map<LogId, Definitions> definitions_;
};

}  // namespace culprit::assemble
