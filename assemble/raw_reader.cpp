// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/raw_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

namespace culprit::assemble {
namespace {

using trace::RawHeader;
using trace::RawKind;
using trace::RawProcess;

constexpr int kUnknownKind = -1;
constexpr unsigned kLaterWord = 2;  // of omp_mutex_acquire

int words_of_openmp(RawKind kind) {
  switch (kind) {
    case RawKind::omp_thread_begin:
    case RawKind::omp_thread_end:
    case RawKind::omp_work_end:
    case RawKind::omp_masked_end:
    case RawKind::omp_reduction_end:
    case RawKind::omp_target_end:
      return 0;
    case RawKind::omp_parallel_end:
    case RawKind::omp_implicit_end:
    case RawKind::omp_work_begin:
    case RawKind::omp_masked_begin:
    case RawKind::omp_task_depends:
    case RawKind::omp_task_fulfilled:
    case RawKind::omp_cancel:
    case RawKind::omp_reduction_begin:
      return 1;
    case RawKind::omp_parallel_begin:
    case RawKind::omp_implicit_begin:
    case RawKind::omp_sync_begin:
    case RawKind::omp_sync_end:
    case RawKind::omp_wait_begin:
    case RawKind::omp_wait_end:
    case RawKind::omp_mutex_acquire:
    case RawKind::omp_mutex_acquired:
    case RawKind::omp_mutex_released:
    case RawKind::omp_task_create:
    case RawKind::omp_task_switch:
    case RawKind::omp_task_edge:
    case RawKind::omp_nest_lock:
    case RawKind::omp_lock_init:
    case RawKind::omp_lock_destroy:
    case RawKind::omp_target_begin:
      return 2;
    default:
      return kUnknownKind;
  }
}

/// Words that a record of this kind has at least.
/// What probes of devices record.
int words_of_device(RawKind kind) {
  switch (kind) {
    case RawKind::device_enter:
    case RawKind::device_leave:
    case RawKind::device_after:
    case RawKind::device_runtime:
      return 0;
    case RawKind::device_launch:
    case RawKind::device_wait:
    case RawKind::device_def:
    case RawKind::device_lost:
    case RawKind::device_overhead:
      return 1;
    case RawKind::device_queue_def:
      return 2;
    case RawKind::device_clock:
    case RawKind::device_point:
      return 3;
    case RawKind::device_op:
      return 7;
    default:
      return words_of_openmp(kind);
  }
}
int words_of(RawKind kind) {
  switch (kind) {
    case RawKind::string_def:
    case RawKind::mpi_enter:
    case RawKind::mpi_leave:
    case RawKind::mpi_comm_free:
    case RawKind::mpi_init_done:
    case RawKind::mpi_finalized:
    case RawKind::sample:
    case RawKind::tool_begin:
    case RawKind::tool_end:
    case RawKind::process_end:
    case RawKind::thread_ended:
    case RawKind::rma_win_free:
    case RawKind::rma_fence:
    case RawKind::file_close:
    case RawKind::file_op_issued:
    case RawKind::user_leave:
      return 0;
    case RawKind::func_leave:
    case RawKind::recording_off:
    case RawKind::recording_on:
    case RawKind::mpi_isend_done:
    case RawKind::mpi_irecv_post:
    case RawKind::mpi_cancelled:
    case RawKind::mpi_icoll_post:
    case RawKind::mpi_comm_more:
    case RawKind::mpi_rank_set:
    case RawKind::mpi_rank_set_more:
    case RawKind::mpi_part_ready:
    case RawKind::counter_def:
    case RawKind::counter_refused:
    case RawKind::counters:
    case RawKind::rma_win_def:
    case RawKind::rma_op_done:
    case RawKind::rma_epoch:
    case RawKind::rma_lock:
    case RawKind::rma_sync:
    case RawKind::file_def:
    case RawKind::file_op:
    case RawKind::file_op_done:
    case RawKind::sampling_period:
    case RawKind::blocked:
    case RawKind::thread_begun:
      return 1;
    case RawKind::user_enter:
    case RawKind::func_enter:
    case RawKind::path_def:
    case RawKind::cpu_time:
    case RawKind::mpi_send:
    case RawKind::mpi_recv:
    case RawKind::mpi_comm_def:
      return 2;
    case RawKind::mpi_isend:
    case RawKind::mpi_irecv:
    case RawKind::mpi_probe:
    case RawKind::mpi_part_init:
    case RawKind::mpi_tests:
    case RawKind::mpi_collective:
    case RawKind::mpi_comm_link:
    case RawKind::rma_op:
    case RawKind::clock_met:
      return 3;
    case RawKind::mpi_icoll:
      return 4;
    default:
      return words_of_device(kind);
  }
}

std::optional<uint32_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

template <size_t size>
void terminate(char (&text)[size]) {
  text[size - 1] = '\0';
}

std::optional<RawProcess> read_process(const std::filesystem::path& file) {
  RawProcess process{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(&process), sizeof process)) return std::nullopt;
  if (process.magic != trace::kRawMagic || process.version != trace::kRawVersion) {
    return std::nullopt;
  }
  terminate(process.gomp_lacking);
  terminate(process.host);
  terminate(process.boot_id);
  terminate(process.executable);
  terminate(process.command);
  terminate(process.mpi_library);
  terminate(process.omp_runtime);
  terminate(process.job);
  return process;
}

constexpr size_t kPage = 4096;

/// A file to be mapped; one that is not there has no bytes.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (file_ >= 0 && fstat(file_, &status) == 0) size_ = static_cast<size_t>(status.st_size);
  }
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  size_t size() const { return size_; }

  /// Puts the file's first bytes in place of the memory at `place`.
  bool map_at(void* place, size_t bytes) const {
    return bytes == 0 ||
           mmap(place, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file_, 0) != MAP_FAILED;
  }

  /// Of a tail: bytes of its window, which are whole pages. 0: it is none.
  size_t window() const {
    const size_t window = size_ < sizeof(trace::RawTail) ? 0 : size_ - sizeof(trace::RawTail);
    return std::has_single_bit(window) && window >= kPage && window <= trace::kRawWindow ? window
                                                                                         : 0;
  }

  std::optional<trace::RawTail> tail() const {
    trace::RawTail tail;
    if (window() == 0) return std::nullopt;
    const auto got = pread(file_, &tail, sizeof tail, static_cast<off_t>(window()));
    return got == static_cast<ssize_t>(sizeof tail) ? std::optional(tail) : std::nullopt;
  }

 private:
  int file_;
  size_t size_ = 0;
};

/// Where in the log the tail's window belongs, unless the events file has it already.
std::optional<size_t> where_tail_counts(const OpenFile& events, const OpenFile& tail_file) {
  const std::optional<trace::RawTail> tail = tail_file.tail();
  const size_t window = tail_file.window();
  if (!tail || tail->window > events.size() / window) return std::nullopt;
  const size_t begin = tail->window * window;
  return events.size() >= begin + window ? std::nullopt : std::optional(begin);
}

RawKind first_kind(const RawLog& log) {
  RawRecord record;
  return log.cursor().next(record) ? record.kind : RawKind::none;
}

void add_log(RawLog log, RawProcessFolder& folder) {
  const RawKind first = first_kind(log);
  if (first == RawKind::none) return;
  auto& logs = first >= RawKind::device_def ? folder.device_logs : folder.logs;
  logs.push_back(std::move(log));
}

void read_files(RawProcessFolder& folder) {
  std::vector<std::pair<uint32_t, std::filesystem::path>> maps;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path, ignored)) {
    const std::string name = entry.path().filename();
    if (const auto thread = number_after(name, "events.")) {
      auto log = RawLog::map(entry.path(), *thread);
      if (log) add_log(std::move(*log), folder);
    } else if (const auto number = number_after(name, "maps.")) {
      maps.emplace_back(*number, entry.path());
    }
  }
  std::sort(folder.logs.begin(), folder.logs.end(),
            [](const RawLog& a, const RawLog& b) { return a.thread() < b.thread(); });
  std::sort(maps.rbegin(), maps.rend());
  for (auto& [number, path] : maps) folder.maps.push_back(std::move(path));
}

}  // namespace

std::optional<RawLog> RawLog::map(const std::filesystem::path& file, uint32_t thread) {
  const OpenFile events(file);
  const OpenFile tail(file.string() + ".tail");
  const std::optional<size_t> tail_begin = where_tail_counts(events, tail);
  RawLog log;
  log.size_ = tail_begin ? *tail_begin + tail.window() : events.size();
  log.thread_ = thread;
  if (log.size_ == 0) return std::nullopt;
  // One stretch of addresses for both: windows are whole pages.
  void* data = mmap(nullptr, log.size_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return std::nullopt;
  log.data_ = {static_cast<const std::byte*>(data),
               [data, size = log.size_](const std::byte*) { munmap(data, size); }};
  const size_t events_size = tail_begin.value_or(events.size());
  if (!events.map_at(data, events_size)) return std::nullopt;
  if (tail_begin && !tail.map_at(static_cast<char*>(data) + *tail_begin, tail.window())) {
    return std::nullopt;
  }
  return log;
}

/// The next moment noted in an acquire. Released, it was acquired before.
bool RawLog::Cursor::next_later(RawRecord& record) {
  constexpr RawKind kKinds[] = {RawKind::omp_mutex_acquired, RawKind::omp_mutex_released};
  constexpr unsigned kMoments = 2, kBits = 32;
  if (acquire_.words <= kLaterWord || later_ == kMoments) return false;
  const uint64_t moments = acquire_.w[kLaterWord];
  const auto ticks = static_cast<uint32_t>(moments >> (kBits * later_));
  if (ticks == 0 || ticks < (later_ > 0 ? static_cast<uint32_t>(moments) : 0)) return false;
  record = acquire_;
  record.kind = kKinds[later_++];
  record.ticks += ticks;
  return true;
}

bool RawLog::Cursor::next(RawRecord& record) {
  if (next_later(record)) return true;
  while (!damaged_) {
    // The ends of smaller windows are ends of records all the more.
    const size_t window_end =
        std::min(log_->size_, (offset_ / trace::kRawWindow + 1) * trace::kRawWindow);
    if (window_end - offset_ < sizeof(RawHeader)) {
      // A rest too small even for a pad.
      if (window_end == log_->size_) return false;
      offset_ = window_end;
      continue;
    }
    RawHeader header;
    std::memcpy(&header, log_->data_.get() + offset_, sizeof header);
    if (header.kind == RawKind::none) return false;
    const size_t end = offset_ + sizeof header + size_t{header.words} * 8;
    if (end > window_end) {
      damaged_ = true;
      return false;
    }
    const std::byte* payload = log_->data_.get() + offset_ + sizeof header;
    offset_ = end;
    if (header.kind == RawKind::pad) continue;
    const int wanted = words_of(header.kind);
    if (wanted == kUnknownKind || header.words < wanted) {
      ++skipped_;
      continue;
    }
    record = {header.time,  header.arg,  header.flags,
              header.words, header.kind, reinterpret_cast<const uint64_t*>(payload)};
    later_ = 0;
    if (record.kind == RawKind::omp_mutex_acquire) {
      acquire_ = record;
    } else {
      acquire_.words = 0;
    }
    return true;
  }
  return false;
}

std::vector<RawProcessFolder> read_raw(const std::filesystem::path& raw, Losses& losses) {
  std::vector<RawProcessFolder> folders;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(raw, ignored)) {
    if (!entry.is_directory()) continue;
    const auto process = read_process(entry.path() / "process");
    if (!process) {
      losses.add("unreadable_processes", Severity::data_loss,
                 "The records of a process cannot be read; it is missing from the result.");
      continue;
    }
    RawProcessFolder folder;
    folder.path = entry.path();
    folder.process = *process;
    read_files(folder);
    folders.push_back(std::move(folder));
  }
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    const auto& p = a.process;
    const auto& q = b.process;
    return std::tie(p.first.realtime_ns, p.start_ticks, a.path) <
           std::tie(q.first.realtime_ns, q.start_ticks, b.path);
  });
  return folders;
}

}  // namespace culprit::assemble
