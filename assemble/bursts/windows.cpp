// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Definitions are collected once, log by log, in the order in which they were made: a window's logs
// begin with those of before it.
#include "assemble/bursts/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <span>

#include "base/parallel.h"
#include "fold/carry.h"

namespace culprit::assemble {
namespace {

using trace::RawExtent;
using trace::RawGroup;
using trace::RawHeader;
using trace::RawKind;

constexpr size_t kHeaderWords = sizeof(RawHeader) / sizeof(uint64_t);

/// Logs of a file's name: "defines.<n>".
std::optional<uint32_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// Words of the records before a moment.
size_t words_before(std::span<const uint64_t> records, uint64_t ticks) {
  size_t at = 0;
  while (at + kHeaderWords <= records.size() && records[at] < ticks) {
    RawHeader header;
    std::memcpy(&header, records.data() + at, sizeof header);
    at += kHeaderWords + header.words;
  }
  return std::min(at, records.size());
}

}  // namespace

WindowReader::WindowReader(const GuardedPath& raw, Losses& losses, unsigned threads)
    : raw_(raw),
      threads_(threads),
      folders_(read_raw(raw, losses, threads)),
      nodes_(read_pages(raw)) {
  for (const NodeBursts& node : nodes_) {
    if (node.page.whole_end != 0) whole_end_ = node.page.whole_end;
  }
  if (!any()) return;
  find_slots();
  read_definitions(threads);
}

const NodeBursts* WindowReader::node_of(size_t folder) const {
  const trace::RawProcess& process = folders_[folder].process;
  const std::string name = fmt::format("{}.{:x}", process.host, process.node);
  const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const NodeBursts& each) { return each.node == name; });
  return node != nodes_.end() ? &*node : nullptr;
}

std::optional<size_t> WindowReader::folder_of(const RawExtent& extent) const {
  for (size_t i = 0; i < folders_.size(); ++i) {
    const trace::RawProcess& process = folders_[i].process;
    if (process.start_ticks == extent.start_ticks && process.pid == extent.pid) return i;
  }
  return std::nullopt;
}

// --- Definitions ---

void WindowReader::define(const RawLog& log, Definitions& known) const {
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.noted) continue;
    WindowLog& begin = known.begin;
    if (begin.first_group == RawGroup::unknown)
      begin.first_group = trace::facts_of(record.kind).group;
    if (!known.born) known.born = record.ticks;
    if (record.kind == RawKind::omp_implicit_begin && !begin.team_number) {
      const auto joined = record.as<raw::omp_implicit_begin>();
      if (joined.team_size > 1) begin.team_number = joined.index;
    }
    if (record.kind == RawKind::thread_ended || record.kind == RawKind::omp_thread_end) {
      known.ended = record.ticks;
    }
    if (record.kind == RawKind::thread_begun) known.ended.reset();
    if (!holds_in_windows(record.kind)) continue;
    append_record(record, begin.definitions);
  }
}

void WindowReader::read_definitions(unsigned threads) {
  std::vector<std::pair<const RawLog*, Definitions*>> logs;
  for (size_t i = 0; i < folders_.size(); ++i) {
    const RawProcessFolder& folder = folders_[i];
    for (const auto* all : {&folder.logs, &folder.device_logs, &folder.watch_logs}) {
      for (const RawLog& log : *all) logs.emplace_back(&log, &definitions_[{i, log.thread()}]);
    }
  }
  parallel_for(logs.size(), threads, [&](size_t i) { define(*logs[i].first, *logs[i].second); });
  for (size_t i = 0; i < folders_.size(); ++i) {
    for (const std::string& name : folders_[i].folder.list()) {
      const auto log = number_after(name, "defines.");
      if (!log) continue;
      uint64_t holes = 0;
      std::vector<uint64_t> records;
      for (const ReadExtent& extent : read_extents(folders_[i].folder / name, holes)) {
        records.insert(records.end(), extent.records.begin(), extent.records.end());
      }
      define(RawLog::of(*log, std::move(records)), definitions_[{i, *log}]);
    }
  }
  for (auto& [id, known] : definitions_) known.begin.thread = id.log;
}

// --- Windows ---

const trace::RawBurst* WindowReader::burst_on(const NodeBursts& node, uint64_t slot) const {
  for (const trace::RawBurst& burst : node.page.bursts) {
    const bool is_there = burst.slot == slot + 1 && burst.begin != 0 && burst.end > burst.begin &&
                          (burst.bytes & trace::kRawBurstGone) == 0;
    if (is_there) return &burst;
  }
  return nullptr;
}

void WindowReader::find_slots() {
  std::set<uint64_t> slots;
  std::set<const NodeBursts*> nodes;
  for (size_t i = 0; i < folders_.size(); ++i) {
    if (const NodeBursts* node = node_of(i)) nodes.insert(node);
  }
  for (const NodeBursts* node : nodes) {
    for (const trace::RawBurst& burst : node->page.bursts) {
      if (burst.slot != 0) slots.insert(burst.slot - 1);
    }
  }
  for (const uint64_t slot : slots) {
    const bool everywhere = std::all_of(nodes.begin(), nodes.end(), [&](const NodeBursts* node) {
      return burst_on(*node, slot) != nullptr;
    });
    if (everywhere) slots_.push_back(slot);
  }
}

TickSpan WindowReader::span(uint64_t number, size_t folder) const {
  const trace::RawProcess& process = folders_[folder].process;
  const NodeBursts* const node = node_of(folder);
  if (number == kWholePart) {
    const uint64_t end =
        node != nullptr && node->page.whole_end != 0 ? node->page.whole_end : whole_end_;
    const bool ended_before = process.end_ticks != 0 && process.end_ticks < end;
    return {process.start_ticks, ended_before ? process.end_ticks : end};
  }
  const trace::RawBurst* const burst =
      node != nullptr ? burst_on(*node, slots_[number - 1]) : nullptr;
  return burst != nullptr ? TickSpan{burst->begin, burst->end} : TickSpan{};
}

std::optional<WindowRecords> WindowReader::read(uint64_t number, Losses& losses) const {
  if (number == kWholePart) return whole_part();
  return burst(number, losses);
}

/// Its logs are those of a whole run, up to its end. They are read anew, since what crosses that
/// end is left out of them.
WindowRecords WindowReader::whole_part() const {
  WindowRecords window;
  Losses counted_before;
  window.run = folders_;
  window.folders = read_raw(raw_, counted_before, threads_);
  window.known.assign(folders_.size(), true);
  for (size_t i = 0; i < folders_.size(); ++i) {
    const TickSpan part = span(kWholePart, i);
    RawProcessFolder& folder = window.folders[i];
    folder.process = process_in(folder.process, part);
    for (auto* logs : {&folder.logs, &folder.device_logs, &folder.watch_logs}) {
      for (RawLog& log : *logs) log.end_at(part.end);
    }
  }
  return window;
}

std::map<WindowReader::LogId, WindowReader::BurstPart> WindowReader::parts_of(
    uint64_t slot, Losses& losses) const {
  std::map<LogId, BurstPart> parts;
  uint64_t holes = 0;
  for (const NodeBursts& node : nodes_) {
    const GuardedPath file = raw_ / trace::kRawBurstsFolder / node.node / fmt::format("{}", slot);
    for (ReadExtent& extent : read_extents(file, holes)) {
      const auto folder = folder_of(extent.header);
      if (!folder || extent.header.slot != slot) continue;
      BurstPart& part = parts[{*folder, extent.header.log}];
      std::vector<uint64_t>& preamble = part.log.preamble;
      preamble.insert(preamble.end(), extent.preamble.begin(), extent.preamble.end());
      part.known = part.known || !extent.preamble.empty();
      // What follows a gap cannot be understood.
      if (!part.known || (part.until != 0 && extent.header.from > part.until)) continue;
      part.until = std::max(part.until, extent.header.until);
      part.log.records.insert(part.log.records.end(), extent.records.begin(), extent.records.end());
    }
  }
  losses.add(LossKind::damaged_records, holes);
  return parts;
}

const RawLog* WindowReader::log_of(const LogId& id) const {
  const RawProcessFolder& folder = folders_[id.folder];
  for (const auto* all : {&folder.logs, &folder.device_logs, &folder.watch_logs}) {
    for (const RawLog& log : *all) {
      if (log.thread() == id.log) return &log;
    }
  }
  return nullptr;
}

/// A log that had not filled its first window has all its records, whatever the burst's file has.
void WindowReader::complete(const LogId& id, const TickSpan& span, BurstPart& part) const {
  const RawLog* const log = log_of(id);
  if (log == nullptr || log->has_gap()) return add_tail(id, span, part);
  cut(*log, span, part.log);
  part.known = true;
  part.until = span.end;
}

/// A thread that never ended its log has its newest records in its tail, and the state before them
/// in a file.
void WindowReader::add_tail(const LogId& id, const TickSpan& span, BurstPart& part) const {
  const GuardedPath& folder = folders_[id.folder].folder;
  const auto file = (folder / fmt::format("carry.{}", id.log)).open();
  struct State {
    trace::RawCarry at;
    fold::Carry carry;
  };
  const auto state = std::make_unique<State>();
  if (!file || file->read_at(0, state.get(), sizeof *state) != sizeof *state) return;
  if (state->at.window == trace::kRawCarryChanges) return;
  const auto tail =
      RawLog::map_tail(folder, id.log, folders_[id.folder].process.start_ticks, state->at.window);
  if (!tail) return;
  std::vector<uint64_t> records;
  auto cursor = tail->cursor();
  for (RawRecord record; cursor.next(record);) {
    if (!record.noted && record.ticks < span.end) append_record(record, records);
  }
  std::span<const uint64_t> rest(records);
  if (!part.known) {
    const size_t before = words_before(rest, span.begin);
    fold::carry(state->carry, records.data(), before * sizeof(uint64_t));
    part.log.preamble = preamble_of(state->carry, span.begin);
    part.known = true;
    rest = rest.subspan(before);
  }
  part.log.records.insert(part.log.records.end(), rest.begin(), rest.end());
  part.until = span.end;
}

std::optional<WindowRecords> WindowReader::burst(uint64_t number, Losses& losses) const {
  std::map<LogId, BurstPart> parts = parts_of(slots_[number - 1], losses);
  WindowRecords window;
  window.number = number;
  window.run = folders_;
  window.known.assign(folders_.size(), true);
  double covered = 1;  // the part of the burst that all logs have
  for (const auto& [id, known] : definitions_) {
    const TickSpan all = span(number, id.folder);
    const bool lives =
        (!known.ended || *known.ended >= all.begin) && (!known.born || *known.born < all.end);
    BurstPart& part = parts[id];
    if (lives && part.until < all.end) complete(id, all, part);
    if (lives && !part.known) window.known[id.folder] = false;
    if (!part.known || !lives || all.end <= all.begin) continue;
    const uint64_t until = std::max(part.until, all.begin);
    const bool ended = known.ended && *known.ended < all.end;
    if (until < all.end && !ended) {
      covered = std::min(covered, static_cast<double>(until - all.begin) /
                                      static_cast<double>(all.end - all.begin));
    }
  }
  constexpr double kLeast = 0.5;
  if (covered < kLeast) return std::nullopt;
  for (size_t i = 0; i < folders_.size(); ++i) {
    TickSpan part = span(number, i);
    part.end =
        part.begin + static_cast<uint64_t>(static_cast<double>(part.end - part.begin) * covered);
    RawProcessFolder& folder = window.folders.emplace_back();
    folder.folder = folders_[i].folder;
    folder.maps = folders_[i].maps;
    folder.process = process_in(folders_[i].process, part);
  }
  for (auto& [id, known] : definitions_) {
    WindowLog log = known.begin;
    RawProcessFolder& folder = window.folders[id.folder];
    const TickSpan part{folder.process.start_ticks, folder.process.end_ticks};
    log.definitions.resize(words_before(log.definitions, part.begin));
    log.preamble = std::move(parts[id].log.preamble);
    log.records = std::move(parts[id].log.records);
    add_window_log(std::move(log), part, folder);
  }
  return window;
}

}  // namespace culprit::assemble
