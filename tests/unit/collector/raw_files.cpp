// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "raw_files.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "trace/raw/bursts.h"
#include "trace/raw/packed.h"

namespace culprit::tests {

using trace::RawHeader;
using trace::RawKind;

namespace {

std::vector<char> read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Windows {
  std::vector<char> bytes;
  size_t count = 0;
};

/// The windows of a log; a window that was not appended in full does not count.
Windows read_windows(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  Windows read;
  std::vector<char>& bytes = read.bytes;
  std::vector<char> packed = read_bytes(file);
  const size_t end = packed.size();
  packed.resize(end + trace::kRawUnpackSlack);
  const auto model = std::make_unique<trace::RawModel>();
  size_t whole = 0;
  for (size_t at = 0; at + sizeof(trace::RawBlock) <= end;) {
    trace::RawBlock block;
    memcpy(&block, packed.data() + at, sizeof block);
    at += sizeof block;
    if (block.magic != trace::kRawBlockMagic || at + block.packed > end) break;
    const size_t from = bytes.size();
    bytes.resize(from + block.records);
    if (!trace::raw_unpack(*model, {packed.data() + at, block.packed},
                           {bytes.data() + from, block.records})) {
      throw std::runtime_error("damaged block in " + file.string());
    }
    if (block.is_last != 0) whole = bytes.size(), ++read.count;
    at += trace::raw_whole_words(block.packed);
  }
  bytes.resize(whole);
  return read;
}

/// The log of a thread: its windows and what its tail adds to them.
std::vector<char> read_log(const std::filesystem::path& file) {
  auto [bytes, windows] = read_windows(file.string() + trace::kRawPackedSuffix);
  const std::filesystem::path tail_file = file.string() + ".tail";
  if (!std::filesystem::exists(tail_file)) return bytes;
  const std::vector<char> tail = read_bytes(tail_file);
  trace::RawTail after;
  memcpy(&after, tail.data() + tail.size() - sizeof after, sizeof after);
  if (after.kept != 0 && after.window + 1 > after.kept) return bytes;  // windows were dropped
  if (after.window < windows) return bytes;
  if (after.window > windows) throw std::runtime_error("missing windows of " + file.string());
  bytes.insert(bytes.end(), tail.begin(), tail.end() - sizeof after);
  return bytes;
}

void check(bool good, const char* what, const std::filesystem::path& file, size_t at) {
  if (!good) throw std::runtime_error(file.string() + ": " + what + " at " + std::to_string(at));
}

/// What the newest record notes of later moments, as the records that it stands for.
void add_lone_task(RawThread& thread, uint64_t& last_time) {
  const RawRecord begin = thread.records.back();
  const uint64_t ticks = begin.words.at(2);
  if (ticks == 0) return;
  last_time = begin.header.time + ticks;
  RawRecord task;
  task.header = {last_time, 0, 0, 2, RawKind::omp_implicit_begin};
  task.words = {begin.words.at(0), 1};
  thread.records.push_back(task);
}

void add_later(RawThread& thread, uint64_t& last_time) {
  if (thread.records.back().kind() == RawKind::omp_parallel_begin) {
    return add_lone_task(thread, last_time);
  }
  if (thread.records.back().kind() != RawKind::omp_mutex_acquire) return;
  RawRecord later = thread.records.back();
  const uint64_t begin = later.header.time;
  const uint64_t moments = later.words.at(2);
  later.words.resize(2);
  later.header.words = 2;
  for (const auto& [kind, ticks] : {std::pair(RawKind::omp_mutex_acquired, moments & UINT32_MAX),
                                    std::pair(RawKind::omp_mutex_released, moments >> 32)}) {
    if (ticks == 0) return;
    later.header.kind = kind;
    later.header.time = begin + ticks;
    if (later.header.time < last_time) throw std::runtime_error("released before acquired");
    last_time = later.header.time;
    thread.records.push_back(later);
  }
}

RawThread read_thread(const std::filesystem::path& file) {
  const std::vector<char> bytes = read_log(file);
  RawThread thread;
  uint64_t last_time = 0;
  uint32_t last_path = 0;
  size_t at = 0;
  while (at + sizeof(RawHeader) <= bytes.size()) {
    RawRecord record;
    memcpy(&record.header, bytes.data() + at, sizeof(RawHeader));
    if (record.kind() == RawKind::none) break;
    const size_t end = at + sizeof(RawHeader) + size_t{record.header.words} * 8;
    check(end <= bytes.size() && at / trace::kRawWindow == (end - 1) / trace::kRawWindow,
          "record crosses a window's end", file, at);
    record.words.resize(record.header.words);
    if (record.header.words > 0) {
      memcpy(record.words.data(), bytes.data() + at + sizeof(RawHeader), record.words.size() * 8);
    }
    at = end;
    if (record.kind() == RawKind::pad) {
      ++thread.pads;
      continue;
    }
    if (record.kind() == RawKind::seal) continue;
    check(record.header.time >= last_time, "time decreases", file, at);
    last_time = record.header.time;
    if (record.kind() == RawKind::path_def) {
      check(record.header.arg == last_path + 1 && record.words.at(0) <= last_path,
            "path out of order", file, at);
      last_path = record.header.arg;
    }
    check(!trace::facts_of(record.kind()).takes_path || record.header.arg <= last_path,
          "undefined path", file, at);
    thread.records.push_back(std::move(record));
    add_later(thread, last_time);
  }
  return thread;
}

RawRun read_run(const std::filesystem::path& folder) {
  RawRun run;
  run.folder = folder;
  const std::vector<char> bytes = read_bytes(folder / "process");
  check(bytes.size() == sizeof(trace::RawProcessFile), "size of process", folder, bytes.size());
  memcpy(&run.process, bytes.data(), sizeof run.process);
  check(run.process.magic == trace::kRawMagic, "magic", folder, 0);
  for (unsigned n = 0; n < run.process.thread_count; ++n) {
    const std::filesystem::path file = folder / ("events." + std::to_string(n));
    RawThread thread = read_thread(file);
    if (!thread.records.empty()) run.threads[n] = std::move(thread);
  }
  while (std::filesystem::exists(folder / ("maps." + std::to_string(run.maps)))) ++run.maps;
  return run;
}

}  // namespace

std::vector<const RawRecord*> RawThread::of(RawKind kind) const {
  std::vector<const RawRecord*> found;
  for (const RawRecord& record : records) {
    if (record.kind() == kind) found.push_back(&record);
  }
  return found;
}

std::vector<uint64_t> RawThread::path(uint32_t id) const {
  std::vector<uint64_t> addresses;
  const auto definitions = of(RawKind::path_def);
  while (id != 0) {
    addresses.push_back(definitions.at(id - 1)->words.at(1));
    id = static_cast<uint32_t>(definitions.at(id - 1)->words.at(0));
  }
  return addresses;
}

std::string RawThread::string(uint32_t id) const {
  for (const RawRecord* record : of(RawKind::string_def)) {
    if (record->header.arg != id) continue;
    return {reinterpret_cast<const char*>(record->words.data()), record->header.flags};
  }
  return {};
}

size_t RawRun::count(RawKind kind) const {
  size_t count = 0;
  for (const auto& [number, thread] : threads) count += thread.count(kind);
  return count;
}

std::vector<RawRun> read_raw(const std::filesystem::path& experiment) {
  std::vector<RawRun> runs;
  if (!std::filesystem::exists(experiment / "raw")) return runs;
  for (const auto& entry : std::filesystem::directory_iterator(experiment / "raw")) {
    if (!entry.is_directory() || entry.path().filename() == trace::kRawBurstsFolder) continue;
    runs.push_back(read_run(entry.path()));
  }
  return runs;
}

std::string to_string(RawKind kind) {
  const trace::RawKindFacts& facts = trace::facts_of(kind);
  if (facts.group == trace::RawGroup::unknown) {
    return "kind " + std::to_string(static_cast<unsigned>(kind));
  }
  return std::string(facts.name);
}

}  // namespace culprit::tests
