// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "raw_files.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

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
  const size_t window = tail.size() - sizeof after;
  memcpy(&after, tail.data() + window, sizeof after);
  const size_t begin = after.window * window;
  if (bytes.size() >= begin + window) return bytes;
  bytes.resize(begin);
  bytes.insert(bytes.end(), tail.begin(), tail.end() - sizeof after);
  return bytes;
}

void check(bool good, const char* what, const std::filesystem::path& file, size_t at) {
  if (!good) throw std::runtime_error(file.string() + ": " + what + " at " + std::to_string(at));
}

bool uses_path(RawKind kind) {
  return kind == RawKind::mpi_enter || kind == RawKind::omp_parallel_begin ||
         kind == RawKind::sample || kind == RawKind::user_enter;
}

/// What the newest record notes of later moments, as the records that it stands for.
void add_lone_task(RawThread& thread, uint64_t& last_time) {
  const RawRecord begin = thread.records.back();
  const uint64_t ticks = begin.words.at(2);
  if (ticks == 0) return;
  last_time = begin.header.time + ticks;
  RawRecord task;
  task.header = {last_time, 0, 0, 2, RawKind::omp_implicit_begin};
  task.words = {begin.words.at(0), trace::kRawTeamOfOne};
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
    check(!uses_path(record.kind()) || record.header.arg <= last_path, "undefined path", file, at);
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
    if (!std::filesystem::exists(file)) continue;  // the loading thread's, if it never recorded
    RawThread thread = read_thread(file);
    if (!thread.records.empty()) run.threads[n] = std::move(thread);
  }
  while (std::filesystem::exists(folder / ("maps." + std::to_string(run.maps)))) ++run.maps;
  return run;
}

const std::pair<RawKind, const char*> kKindNames[] = {
    {RawKind::none, "none"},
    {RawKind::pad, "pad"},
    {RawKind::path_def, "path_def"},
    {RawKind::string_def, "string_def"},
    {RawKind::mpi_enter, "mpi_enter"},
    {RawKind::mpi_leave, "mpi_leave"},
    {RawKind::mpi_send, "mpi_send"},
    {RawKind::mpi_recv, "mpi_recv"},
    {RawKind::mpi_isend, "mpi_isend"},
    {RawKind::mpi_isend_done, "mpi_isend_done"},
    {RawKind::mpi_irecv_post, "mpi_irecv_post"},
    {RawKind::mpi_awaits, "mpi_awaits"},
    {RawKind::mpi_irecv, "mpi_irecv"},
    {RawKind::mpi_tests, "mpi_tests"},
    {RawKind::mpi_cancelled, "mpi_cancelled"},
    {RawKind::mpi_collective, "mpi_collective"},
    {RawKind::mpi_icoll_post, "mpi_icoll_post"},
    {RawKind::mpi_icoll, "mpi_icoll"},
    {RawKind::mpi_comm_def, "mpi_comm_def"},
    {RawKind::mpi_comm_free, "mpi_comm_free"},
    {RawKind::mpi_comm_more, "mpi_comm_more"},
    {RawKind::mpi_comm_link, "mpi_comm_link"},
    {RawKind::mpi_rank_set, "mpi_rank_set"},
    {RawKind::mpi_rank_set_more, "mpi_rank_set_more"},
    {RawKind::mpi_probe, "mpi_probe"},
    {RawKind::mpi_part_init, "mpi_part_init"},
    {RawKind::mpi_part_ready, "mpi_part_ready"},
    {RawKind::mpi_init_done, "mpi_init_done"},
    {RawKind::mpi_finalized, "mpi_finalized"},
    {RawKind::omp_thread_begin, "omp_thread_begin"},
    {RawKind::omp_thread_end, "omp_thread_end"},
    {RawKind::omp_parallel_begin, "omp_parallel_begin"},
    {RawKind::omp_parallel_end, "omp_parallel_end"},
    {RawKind::omp_implicit_begin, "omp_implicit_begin"},
    {RawKind::omp_implicit_end, "omp_implicit_end"},
    {RawKind::omp_work_begin, "omp_work_begin"},
    {RawKind::omp_work_end, "omp_work_end"},
    {RawKind::omp_sync_begin, "omp_sync_begin"},
    {RawKind::omp_sync_end, "omp_sync_end"},
    {RawKind::omp_wait_begin, "omp_wait_begin"},
    {RawKind::omp_wait_end, "omp_wait_end"},
    {RawKind::omp_mutex_acquire, "omp_mutex_acquire"},
    {RawKind::omp_mutex_acquired, "omp_mutex_acquired"},
    {RawKind::omp_mutex_released, "omp_mutex_released"},
    {RawKind::omp_task_create, "omp_task_create"},
    {RawKind::omp_task_switch, "omp_task_switch"},
    {RawKind::omp_masked_begin, "omp_masked_begin"},
    {RawKind::omp_masked_end, "omp_masked_end"},
    {RawKind::omp_task_depends, "omp_task_depends"},
    {RawKind::omp_task_edge, "omp_task_edge"},
    {RawKind::omp_task_fulfilled, "omp_task_fulfilled"},
    {RawKind::omp_nest_lock, "omp_nest_lock"},
    {RawKind::omp_lock_init, "omp_lock_init"},
    {RawKind::omp_lock_destroy, "omp_lock_destroy"},
    {RawKind::omp_cancel, "omp_cancel"},
    {RawKind::omp_reduction_begin, "omp_reduction_begin"},
    {RawKind::omp_reduction_end, "omp_reduction_end"},
    {RawKind::omp_target_begin, "omp_target_begin"},
    {RawKind::omp_target_end, "omp_target_end"},
    {RawKind::sample, "sample"},
    {RawKind::tool_begin, "tool_begin"},
    {RawKind::tool_end, "tool_end"},
    {RawKind::process_end, "process_end"},
    {RawKind::user_enter, "user_enter"},
    {RawKind::user_leave, "user_leave"},
    {RawKind::func_enter, "func_enter"},
    {RawKind::func_leave, "func_leave"},
    {RawKind::recording_off, "recording_off"},
    {RawKind::recording_on, "recording_on"},
    {RawKind::counter_def, "counter_def"},
    {RawKind::counter_refused, "counter_refused"},
    {RawKind::counters, "counters"},
    {RawKind::rma_win_def, "rma_win_def"},
    {RawKind::rma_win_free, "rma_win_free"},
    {RawKind::rma_op, "rma_op"},
    {RawKind::rma_op_done, "rma_op_done"},
    {RawKind::rma_fence, "rma_fence"},
    {RawKind::rma_epoch, "rma_epoch"},
    {RawKind::rma_lock, "rma_lock"},
    {RawKind::rma_sync, "rma_sync"},
    {RawKind::file_def, "file_def"},
    {RawKind::file_close, "file_close"},
    {RawKind::file_op, "file_op"},
    {RawKind::file_op_issued, "file_op_issued"},
    {RawKind::file_op_done, "file_op_done"},
    {RawKind::sampling_period, "sampling_period"},
    {RawKind::blocked, "blocked"},
    {RawKind::woke, "woke"},
    {RawKind::thread_begun, "thread_begun"},
    {RawKind::thread_ended, "thread_ended"},
    {RawKind::cpu_time, "cpu_time"},
    {RawKind::clock_met, "clock_met"},
    {RawKind::device_enter, "device_enter"},
    {RawKind::device_leave, "device_leave"},
    {RawKind::device_launch, "device_launch"},
    {RawKind::device_after, "device_after"},
    {RawKind::device_wait, "device_wait"},
    {RawKind::device_def, "device_def"},
    {RawKind::device_queue_def, "device_queue_def"},
    {RawKind::device_op, "device_op"},
    {RawKind::device_clock, "device_clock"},
    {RawKind::device_lost, "device_lost"},
    {RawKind::device_runtime, "device_runtime"},
    {RawKind::device_point, "device_point"},
    {RawKind::device_overhead, "device_overhead"},
};

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
    if (!entry.is_directory()) continue;
    runs.push_back(read_run(entry.path()));
  }
  return runs;
}

std::string to_string(RawKind kind) {
  for (const auto& [known, name] : kKindNames) {
    if (known == kind) return name;
  }
  return "kind " + std::to_string(static_cast<unsigned>(kind));
}

}  // namespace culprit::tests
