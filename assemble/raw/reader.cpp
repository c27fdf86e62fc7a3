// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files are mapped, and records are returned in place. Windows are in the order in which they were
// taken; within one a record's size follows from its kind and its count of words.
#include "assemble/raw/reader.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "assemble/names/address_map.h"
#include "assemble/raw/process.h"
#include "base/fnv.h"
#include "base/parallel.h"
#include "trace/raw/bursts.h"
#include "trace/raw/packed.h"

namespace culprit::assemble {
namespace {

using trace::RawHeader;
using trace::RawKind;
using trace::RawProcess;

constexpr std::string_view kTail = ".tail";

}  // namespace

int words_of(RawKind kind) {
  const trace::RawKindFacts& facts = trace::facts_of(kind);
  const bool tells =
      facts.group != trace::RawGroup::unknown && facts.group != trace::RawGroup::structure;
  return tells ? static_cast<int>(facts.words) : kUnknownKind;
}

namespace {

std::optional<uint32_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

RawKind first_kind(const RawLog& log) {
  RawRecord record;
  return log.cursor().next(record) ? record.kind : RawKind::none;
}

/// The content of a folder, by name.
struct Listing {
  std::set<uint32_t> logs;
  std::map<uint32_t, GuardedPath, std::greater<>> maps;
};

Listing list_files(const GuardedPath& folder) {
  Listing found;
  for (std::string& name : folder.list()) {
    if (const auto number = number_after(name, "maps.")) found.maps[*number] = folder / name;
    for (const std::string_view part : {kTail, std::string_view(trace::kRawPackedSuffix)}) {
      if (name.ends_with(part)) name.resize(name.size() - part.size());
    }
    if (const auto thread = number_after(name, "events.")) found.logs.insert(*thread);
  }
  return found;
}

/// Whether the last line agrees with the lines before.
bool is_whole_copy(const GuardedPath& maps) {
  const std::string text = maps.read(kLargestMaps).value_or("");
  const size_t mark = text.rfind("# ");
  if (mark == std::string::npos) return false;
  return text.substr(mark) ==
         fmt::format("# {:x}\n", fnv1a(std::string_view(text).substr(0, mark)));
}

/// A log that is to be checked.
struct Job {
  RawProcessFolder* folder;
  uint32_t thread;
  std::optional<RawLog> log;
};

void find_logs(RawProcessFolder& folder, std::vector<Job>& jobs, Losses& losses) {
  Listing found = list_files(folder.folder);
  for (const uint32_t thread : found.logs) jobs.push_back({&folder, thread, std::nullopt});
  uint64_t whole = 0;
  for (auto& [number, path] : found.maps) {
    whole += is_whole_copy(path) ? 1 : 0;
    folder.maps.push_back(std::move(path));
  }
  losses.add(LossKind::damaged_maps, folder.process.maps - std::min(folder.process.maps, whole));
}

/// The time in which the process is known to have lived. Threads may record a little longer than
/// its record says; for a killed process only the records show it.
RecordBounds bounds_of(const RawProcess& process, uint64_t newest) {
  constexpr uint64_t kSlack = 16;                   // this part of its life
  constexpr uint64_t kForever = uint64_t{1} << 45;  // ticks: hours, whatever the clock
  RecordBounds bounds;
  bounds.begin = process.start_ticks;
  if (process.end_ticks > process.start_ticks) {
    bounds.end = process.end_ticks + (process.end_ticks - process.start_ticks) / kSlack;
    bounds.known = bounds.end;
  } else {
    bounds.known = std::max({newest, process.last.ticks, process.start_ticks});
    bounds.end = bounds.known + kForever;
  }
  return bounds;
}

void add_log(RawLog log, LogsWithout empty, RawProcessFolder& folder) {
  const RawKind first = first_kind(log);
  if (first == RawKind::none && empty == LogsWithout::left_out) return;
  const trace::RawGroup group = trace::facts_of(first).group;
  auto& logs = group == trace::RawGroup::device_log  ? folder.device_logs
               : group == trace::RawGroup::watch_log ? folder.watch_logs
                                                     : folder.logs;
  logs.push_back(std::move(log));
}

void count_damage(const LogDamage& damage, uint64_t missing, Losses& losses) {
  losses.add(LossKind::damaged_records, damage.windows);
  losses.add(LossKind::refused_records, damage.refused);
  losses.add(LossKind::missing_records, damage.cut + missing);
}

/// Takes the logs of its folder from `jobs`, and counts their damage.
void take_logs(RawProcessFolder& folder, std::span<Job> jobs, LogsWithout empty, Losses& losses) {
  uint64_t newest = 0;
  const bool sound = std::all_of(jobs.begin(), jobs.end(),
                                 [](const Job& job) { return !job.log || job.log->is_sound(); });
  for (const Job& job : jobs) {
    if (!sound && job.log) newest = std::max(newest, job.log->newest_ticks());
  }
  const RecordBounds bounds = bounds_of(folder.process, newest);
  LogDamage damage;
  uint64_t there = 0;
  for (Job& job : jobs) {
    // Records that a thread could not write at all are among the dropped ones.
    if (job.log || folder.process.dropped_records > 0) ++there;
    if (!job.log) continue;
    job.log->salvage(bounds);
    damage.windows += job.log->damage().windows;
    damage.cut += job.log->damage().cut;
    damage.refused += job.log->damage().refused;
    add_log(std::move(*job.log), empty, folder);
  }
  // A thread that began behind the whole part of a run has no file.
  const uint64_t expected = folder.process.whole_end != 0 ? there : folder.process.logs;
  count_damage(damage, expected - std::min(expected, there), losses);
}

}  // namespace

/// The next moment noted in a record. They come in order: a mutex is acquired before it is
/// released.
bool RawLog::Cursor::next_noted(RawRecord& record) {
  const auto& notes = trace::notes_of(noted_.kind);
  if (later_ == notes.size() || noted_.words <= notes[later_].word) return false;
  const trace::RawNote& note = notes[later_];
  if (note.of == RawKind::none) return false;
  const uint64_t moments = noted_.w[note.word];
  const auto before = static_cast<uint32_t>(note.half == 0 ? 0 : moments);
  const auto ticks = static_cast<uint32_t>(moments >> (32 * note.half));
  if (ticks == 0 || ticks < before) return false;
  ++later_;
  record = noted_;
  record.kind = note.of;
  record.noted = true;
  record.ticks += ticks;
  if (record.kind == RawKind::omp_implicit_begin) be_lone_task(record);
  return true;
}

/// In a team of one.
void RawLog::Cursor::be_lone_task(RawRecord& record) {
  const raw::Packed<raw::omp_implicit_begin> task(
      {.region = record.as<raw::omp_parallel_begin>().region, .team_size = 1});
  std::copy_n(task.words, std::size(lone_), lone_);
  record.arg = task.argument;
  record.words = static_cast<uint8_t>(task.count);
  record.w = lone_;
}

void RawLog::Cursor::leave_stretch() {
  ++stretch_;
  offset_ = 0;
}

/// Where the next record of the stretch at hand begins, or of a later one.
bool RawLog::Cursor::find_next(size_t& at) {
  for (; stretch_ < log_->stretches_.size(); leave_stretch()) {
    const Stretch& stretch = log_->stretches_[stretch_];
    if (!stretch.sound) {
      if (offset_ == stretch.good.size()) continue;
      at = stretch.begin + stretch.good[offset_++];
      return true;
    }
    at = stretch.begin + offset_;
    if (at + sizeof(RawHeader) > stretch.end) continue;
    RawHeader header;
    std::memcpy(&header, log_->data_.get() + at, sizeof header);
    if (header.kind == RawKind::none) continue;
    const size_t bytes = sizeof header + size_t{header.words} * sizeof(uint64_t);
    damaged_ = damaged_ || at + bytes > stretch.end;
    if (at + bytes > stretch.end) continue;
    offset_ += bytes;
    return true;
  }
  return false;
}

bool RawLog::Cursor::next(RawRecord& record) {
  if (next_noted(record)) return true;
  for (size_t at = 0; find_next(at);) {
    RawHeader header;
    std::memcpy(&header, log_->data_.get() + at, sizeof header);
    if (header.kind == RawKind::pad || header.kind == RawKind::seal) continue;
    if (header.time > log_->last_ticks_) continue;
    const int wanted = words_of(header.kind);
    if (wanted == kUnknownKind || header.words < wanted) {
      ++skipped_;
      continue;
    }
    const std::byte* payload = log_->data_.get() + at + sizeof header;
    record = {header.time,  header.arg,  header.flags,
              header.words, header.kind, reinterpret_cast<const uint64_t*>(payload)};
    later_ = 0;
    noted_ = record;
    return true;
  }
  return next_open(record);
}

bool RawLog::Cursor::next_open(RawRecord& record) {
  if (open_ == log_->open_.size() || log_->last_ticks_ != UINT64_MAX) return false;
  const trace::RawOpen& open = log_->open_[open_++];
  const RawHeader& header = open.header;
  record = {header.time, header.arg, header.flags, header.words, header.kind, open.words};
  noted_ = {};
  return true;
}

RawLog RawLog::of(uint32_t thread, std::vector<uint64_t> records) {
  RawLog log;
  log.thread_ = thread;
  const size_t bytes = records.size() * sizeof(uint64_t);
  const auto kept = std::make_shared<std::vector<uint64_t>>(std::move(records));
  log.data_ = {kept, reinterpret_cast<const std::byte*>(kept->data())};
  log.stretches_.push_back({0, bytes});
  return log;
}

/// Its memory is a vector of our own (of()), or a private mapping of a file.
void RawLog::leave_out(const RawRecord& record) {
  auto* const at =
      const_cast<std::byte*>(reinterpret_cast<const std::byte*>(record.w)) - sizeof(RawHeader);
  constexpr RawKind kNothing = RawKind::pad;
  std::byte* const kind = at + offsetof(RawHeader, kind);
  static const auto kPage = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const page = kind - reinterpret_cast<uintptr_t>(kind) % kPage;
  if (mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(kind, &kNothing, sizeof kNothing);
}

std::vector<std::string> process_names(const GuardedPath& raw) {
  std::vector<std::string> names = raw.list();
  std::erase_if(names, [&](const std::string& name) {
    return name == trace::kRawBurstsFolder || !(raw / name).is_folder();
  });
  return names;
}

std::optional<RawProcessFolder> read_process_folder(const GuardedPath& raw, const std::string& name,
                                                    Losses& losses) {
  const auto record = read_process(raw / name / "process");
  losses.add(LossKind::unreadable_processes, record ? 0 : 1);
  losses.add(LossKind::damaged_processes, record && record->damaged ? 1 : 0);
  if (!record) return std::nullopt;
  RawProcessFolder folder;
  folder.folder = raw / name;
  folder.process = record->process;
  return folder;
}

void sort_by_start(std::vector<RawProcessFolder>& folders) {
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    const auto& p = a.process;
    const auto& q = b.process;
    return std::tie(p.first.realtime_ns, p.start_ticks, a.folder.path()) <
           std::tie(q.first.realtime_ns, q.start_ticks, b.folder.path());
  });
}

void read_logs(const std::vector<RawProcessFolder*>& folders, Losses& losses, unsigned threads,
               LogsWithout empty) {
  std::vector<Job> jobs;
  std::vector<size_t> ends;
  for (RawProcessFolder* const folder : folders) {
    find_logs(*folder, jobs, losses);
    ends.push_back(jobs.size());
  }
  parallel_for(jobs.size(), threads, [&](size_t i) {
    Job& job = jobs[i];
    const trace::RawProcess& process = job.folder->process;
    job.log = RawLog::map(job.folder->folder, job.thread, process.start_ticks,
                          process.written_behind != 0, process.whole_end != 0);
  });
  size_t begin = 0;
  for (size_t i = 0; i < folders.size(); begin = ends[i++]) {
    take_logs(*folders[i], std::span(jobs).subspan(begin, ends[i] - begin), empty, losses);
  }
}

std::vector<RawProcessFolder> read_processes(const GuardedPath& raw, Losses& losses) {
  std::vector<RawProcessFolder> folders;
  for (const std::string& name : process_names(raw)) {
    if (auto folder = read_process_folder(raw, name, losses)) folders.push_back(std::move(*folder));
  }
  sort_by_start(folders);
  return folders;
}

std::vector<RawProcessFolder> read_raw(const GuardedPath& raw, Losses& losses, unsigned threads,
                                       LogsWithout empty) {
  std::vector<RawProcessFolder> folders = read_processes(raw, losses);
  std::vector<RawProcessFolder*> all;
  for (RawProcessFolder& folder : folders) all.push_back(&folder);
  read_logs(all, losses, threads, empty);
  return folders;
}

}  // namespace culprit::assemble
