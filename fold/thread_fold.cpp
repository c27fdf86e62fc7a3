// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Walks over records and hands each to its handler, by a table that follows from the handlers'
// types.
#include "fold/thread_fold.h"

#include <atomic>

#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

using trace::RawHeader;

using Handler = void (*)(Folding& to, const Record& record);

template <class Fields>
void handle(Folding& to, const Record& record) {
  see(to, record.as<Fields>(), record);
}

struct Handlers {
  Handler of[256] = {};

  template <class... Fields>
  constexpr void add() {
    ((of[static_cast<size_t>(Fields::kKind)] = handle<Fields>), ...);
  }
};

constexpr Handlers all_handlers() {
  Handlers all;
  all.add<raw::mpi_enter, raw::mpi_leave, raw::mpi_tests, raw::mpi_send, raw::mpi_recv,
          raw::mpi_isend, raw::mpi_irecv, raw::mpi_collective, raw::mpi_icoll, raw::rma_op,
          raw::file_op_done>();
  all.add<raw::omp_thread_begin, raw::omp_thread_end, raw::omp_parallel_begin,
          raw::omp_parallel_end, raw::omp_implicit_begin, raw::omp_implicit_end>();
  all.add<raw::omp_work_begin, raw::omp_work_end, raw::omp_masked_begin, raw::omp_masked_end,
          raw::omp_reduction_begin, raw::omp_reduction_end, raw::omp_sync_begin, raw::omp_sync_end,
          raw::omp_wait_begin, raw::omp_wait_end, raw::omp_target_begin, raw::omp_target_end>();
  all.add<raw::omp_task_create, raw::omp_task_switch, raw::omp_task_fulfilled,
          raw::omp_mutex_acquired, raw::omp_mutex_released>();
  all.add<raw::path_def, raw::sample, raw::kernel_use, raw::blocked, raw::device_enter,
          raw::device_leave, raw::device_polls, raw::thread_begun, raw::thread_ended,
          raw::tool_begin, raw::tool_end, raw::cpu_time, raw::sampling_period, raw::recording_off,
          raw::recording_on, raw::counter_def, raw::counters>();
  all.add<raw::user_enter, raw::user_leave, raw::func_enter, raw::func_leave>();
  return all;
}

constexpr Handlers kHandlers = all_handlers();

/// Whether a record shows what a thread did after it wanted a mutex.
constexpr bool says_something(RawKind kind) {
  using trace::RawGroup;
  const RawGroup group = trace::facts_of(kind).group;
  return group != RawGroup::definitions && group != RawGroup::samples &&
         group != RawGroup::measurement;
}

void see_wanted(Folding& to, const Record& record) {
  if (record.kind == RawKind::omp_mutex_acquired &&
      record.as<raw::omp_mutex_acquired>().mutex == to.state.wanted.mutex) {
    return;
  }
  if (record.kind == RawKind::sample) open_mutex_wait(to);
  if (says_something(record.kind)) give_up_mutex(to);
}

void begin_log(Folding& to, uint64_t time) {
  to.log.begin = to.log.until = std::max<uint64_t>(std::max(time, to.log.origin), 1);
}

/// A record that is final, or of which `notes` moments are folded already. Returns how many are
/// now.
inline uint32_t fold_record(Folding& to, const Record& record, uint32_t notes) {
  if (record.kind == RawKind::omp_mutex_acquire) {
    const uint32_t now = see_acquire(to, record, notes);
    to.log.records += now - std::max<uint32_t>(notes, 1);
    return now;
  }
  const Handler handler = kHandlers.of[static_cast<size_t>(record.kind)];
  if (handler != nullptr) handler(to, record);
  return 0;
}

/// The record was not looked at before.
inline void begin_record(Folding& to, const Record& record) {
  if (to.state.notes != 0) return;
  if (to.log.begin == 0) [[unlikely]]
    begin_log(to, record.time);
  ++to.log.records;
  if (to.state.wanted.is_wanted) [[unlikely]]
    see_wanted(to, record);
}

/// Only what an acquire of a mutex notes is final before the record is.
void fold_growing(Folding& to, const std::byte* at) {
  const GrowingRecord copy(at);
  const Record record = copy.record();
  if (record.kind != RawKind::omp_mutex_acquire) return;
  begin_record(to, record);
  to.state.notes = fold_record(to, record, to.state.notes);
}

constexpr bool is_structure(RawKind kind) {
  return kind == RawKind::pad || kind == RawKind::seal;
}

/// Marks a region as changing, for those who copy it.
class Changing {
 public:
  explicit Changing(ProfileLog& log) : version_(log.version) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Changing() {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;

 private:
  std::atomic_ref<uint64_t> version_;
};

FoldState& state_of(std::byte* region) {
  const auto& log = *reinterpret_cast<const ProfileLog*>(region);
  return *reinterpret_cast<FoldState*>(region + RegionLayout(log.bytes).state_at);
}

}  // namespace

ThreadFold ThreadFold::begin(std::span<std::byte> memory, uint32_t log, uint64_t origin) {
  const RegionLayout layout(memory.size());
  auto& head = *reinterpret_cast<ProfileLog*>(memory.data());
  head.log = log;
  head.bytes = memory.size();
  head.origin = origin;
  head.rows_at = layout.rows_at;
  head.row_capacity = layout.rows;
  head.row_count = 1;
  head.series.shift = trace::ProfileSeries::kFirstShift;
  const Folding folding(memory.data(), nullptr);
  for (unsigned i = 0; i < trace::kProfileStates; ++i) {
    folding.rows.of({0, Rows::kRoot, static_cast<uint16_t>(i), ProfileKind::stretch});
  }
  std::atomic_ref<uint32_t>(head.magic).store(trace::kProfileMagic, std::memory_order_release);
  return ThreadFold(memory.data());
}

ThreadFold ThreadFold::resume(std::span<std::byte> memory) {
  return ThreadFold(memory.data());
}

bool ThreadFold::fold(uint64_t number, std::span<const std::byte> window, size_t end, bool grows,
                      ChangeList* changes) {
  Folding folding(region_, changes);
  FoldState& state = folding.state;
  if (number < state.window) return true;
  const Changing changing(folding.log);
  if (state.window != number) {
    state.window = number;
    state.bytes = 0;
    state.notes = 0;
  }
  size_t at = state.bytes;
  bool has_room = true;
  while (at + sizeof(RawHeader) <= end) {
    const Record record = record_at(window.data() + at);
    const size_t next = at + sizeof(RawHeader) + size_t{record.words} * sizeof(uint64_t);
    if (record.kind == RawKind::none || next > end) break;
    if (is_structure(record.kind)) {
      at = next;
      continue;
    }
    has_room = changes == nullptr || changes->has_room();
    if (!has_room) break;
    const bool is_final = !grows || next < end || !trace::may_grow(record.kind);
    if (!is_final) {
      fold_growing(folding, window.data() + at);
      break;
    }
    begin_record(folding, record);
    fold_record(folding, record, state.notes);
    state.notes = 0;
    at = next;
    if (state.wants_join && folding.log.records >= state.join_from) folding.join_rows();
  }
  state.bytes = at;
  folding.log.now_row = folding.around();
  folding.log.now_state = folding.now();
  return has_room;
}

const ProfileLog& ThreadFold::log() const {
  return *reinterpret_cast<const ProfileLog*>(region_);
}

uint64_t ThreadFold::window() const {
  return state_of(region_).window;
}

size_t ThreadFold::bytes_of_window() const {
  return state_of(region_).bytes;
}

uint32_t ThreadFold::row_of_path(uint32_t path) const {
  return Folding(region_, nullptr).frame_of(path);
}

}  // namespace culprit::fold
