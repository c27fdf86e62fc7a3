// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "raw_files.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace culprit::tests {

using trace::RawHeader;
using trace::RawKind;

namespace {

std::vector<char> read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The log of a thread: the events file and what its tail adds to it.
std::vector<char> read_log(const std::filesystem::path& file) {
  std::vector<char> bytes = read_bytes(file);
  const std::filesystem::path tail_file = file.string() + ".tail";
  if (!std::filesystem::exists(tail_file)) return bytes;
  const std::vector<char> tail = read_bytes(tail_file);
  trace::RawTail after;
  memcpy(&after, tail.data() + trace::kRawWindow, sizeof after);
  const size_t begin = after.window * trace::kRawWindow;
  if (bytes.size() >= begin + trace::kRawWindow) return bytes;
  bytes.resize(begin);
  bytes.insert(bytes.end(), tail.begin(), tail.begin() + trace::kRawWindow);
  return bytes;
}

void check(bool good, const char* what, const std::filesystem::path& file, size_t at) {
  if (!good) throw std::runtime_error(file.string() + ": " + what + " at " + std::to_string(at));
}

bool uses_path(RawKind kind) {
  return kind == RawKind::mpi_enter || kind == RawKind::omp_parallel_begin ||
         kind == RawKind::sample;
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
    memcpy(record.words.data(), bytes.data() + at + sizeof(RawHeader), record.words.size() * 8);
    at = end;
    if (record.kind() == RawKind::pad) {
      ++thread.pads;
      continue;
    }
    check(record.header.time >= last_time, "time decreases", file, at);
    last_time = record.header.time;
    if (record.kind() == RawKind::path_def) {
      check(record.header.arg == last_path + 1 && record.words.at(0) <= last_path,
            "path out of order", file, at);
      last_path = record.header.arg;
    }
    check(!uses_path(record.kind()) || record.header.arg <= last_path, "undefined path", file, at);
    thread.records.push_back(std::move(record));
  }
  return thread;
}

RawRun read_run(const std::filesystem::path& folder) {
  RawRun run;
  run.folder = folder;
  const std::vector<char> bytes = read_bytes(folder / "process");
  check(bytes.size() == sizeof run.process, "size of process", folder, bytes.size());
  memcpy(&run.process, bytes.data(), sizeof run.process);
  check(run.process.magic == trace::kRawMagic, "magic", folder, 0);
  for (unsigned n = 0; n < run.process.thread_count; ++n) {
    const std::filesystem::path file = folder / ("events." + std::to_string(n));
    if (!std::filesystem::exists(file)) continue;  // the loading thread's, if it never recorded
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
    runs.push_back(read_run(entry.path()));
  }
  return runs;
}

std::string to_string(RawKind kind) {
  switch (kind) {
    case RawKind::none:
      return "none";
    case RawKind::pad:
      return "pad";
    case RawKind::path_def:
      return "path_def";
    case RawKind::string_def:
      return "string_def";
    case RawKind::mpi_enter:
      return "mpi_enter";
    case RawKind::mpi_leave:
      return "mpi_leave";
    case RawKind::mpi_send:
      return "mpi_send";
    case RawKind::mpi_recv:
      return "mpi_recv";
    case RawKind::mpi_isend:
      return "mpi_isend";
    case RawKind::mpi_isend_done:
      return "mpi_isend_done";
    case RawKind::mpi_irecv_post:
      return "mpi_irecv_post";
    case RawKind::mpi_irecv:
      return "mpi_irecv";
    case RawKind::mpi_tests:
      return "mpi_tests";
    case RawKind::mpi_cancelled:
      return "mpi_cancelled";
    case RawKind::mpi_collective:
      return "mpi_collective";
    case RawKind::mpi_icoll_post:
      return "mpi_icoll_post";
    case RawKind::mpi_icoll:
      return "mpi_icoll";
    case RawKind::mpi_comm_def:
      return "mpi_comm_def";
    case RawKind::mpi_comm_free:
      return "mpi_comm_free";
    case RawKind::mpi_comm_more:
      return "mpi_comm_more";
    case RawKind::mpi_init_done:
      return "mpi_init_done";
    case RawKind::mpi_finalized:
      return "mpi_finalized";
    case RawKind::omp_thread_begin:
      return "omp_thread_begin";
    case RawKind::omp_thread_end:
      return "omp_thread_end";
    case RawKind::omp_parallel_begin:
      return "omp_parallel_begin";
    case RawKind::omp_parallel_end:
      return "omp_parallel_end";
    case RawKind::omp_implicit_begin:
      return "omp_implicit_begin";
    case RawKind::omp_implicit_end:
      return "omp_implicit_end";
    case RawKind::omp_work_begin:
      return "omp_work_begin";
    case RawKind::omp_work_end:
      return "omp_work_end";
    case RawKind::omp_sync_begin:
      return "omp_sync_begin";
    case RawKind::omp_sync_end:
      return "omp_sync_end";
    case RawKind::omp_wait_begin:
      return "omp_wait_begin";
    case RawKind::omp_wait_end:
      return "omp_wait_end";
    case RawKind::omp_mutex_acquire:
      return "omp_mutex_acquire";
    case RawKind::omp_mutex_acquired:
      return "omp_mutex_acquired";
    case RawKind::omp_mutex_released:
      return "omp_mutex_released";
    case RawKind::omp_task_create:
      return "omp_task_create";
    case RawKind::omp_task_switch:
      return "omp_task_switch";
    case RawKind::omp_masked_begin:
      return "omp_masked_begin";
    case RawKind::omp_masked_end:
      return "omp_masked_end";
    case RawKind::sample:
      return "sample";
    case RawKind::tool_begin:
      return "tool_begin";
    case RawKind::tool_end:
      return "tool_end";
    case RawKind::process_end:
      return "process_end";
  }
  return "kind " + std::to_string(static_cast<unsigned>(kind));
}

}  // namespace culprit::tests
