// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The meaning of the numbers in OpenMP records. They are OMPT's (OpenMP 5.2, section 19.4.4), which
// raw records carry unchanged; newer and deprecated kinds are all accepted.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "trace/events.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

// Ids by which constructs are found on a timeline: kinds and addresses, kept apart.
inline constexpr uint64_t kMaskedId = 0x1000;
inline constexpr uint64_t kReductionId = 0x1001;
inline constexpr uint64_t kWorkIds = 0x2000;
inline constexpr uint64_t kTargetIds = 0x4000;
inline constexpr uint64_t kLockIds = 0x8000;
inline constexpr uint64_t kDependenceWaitIds = uint64_t{1} << 63;  ///< and the task's number

// --- ompt_work_t ---

struct WorkName {
  std::string_view name;
  bool inside_work = false;  ///< may lie inside another worksharing construct
};

/// None for records that are no work of this thread: a `single` that another one executes.
inline std::optional<WorkName> work_name(uint16_t kind) {
  switch (kind) {
    case 2:
      return WorkName{"sections"};
    case 3:
      return WorkName{"single"};
    case 4:
      return std::nullopt;
    case 5:
      return WorkName{"workshare"};
    case 6:
      return WorkName{"distribute"};
    case 7:
      return WorkName{"taskloop", true};
    case 8:
      return WorkName{"scope"};
    default:
      return WorkName{"for"};  // loops of any schedule
  }
}

/// The schedule in the form of Fact::schedule; 0 for other constructs, or a loop of an older
/// runtime.
inline uint64_t loop_schedule(uint16_t kind) {
  return kind >= 10 && kind <= 13 ? kind - 9u : 0;
}

// --- ompt_sync_region_t ---

enum class SyncClass : uint8_t { other, barrier, taskwait, taskgroup };

inline SyncClass sync_class(uint16_t kind) {
  switch (kind) {
    case 5:
      return SyncClass::taskwait;
    case 6:
      return SyncClass::taskgroup;
    case 7:  // reduction: part of the construct that it belongs to
      return SyncClass::other;
    default:
      return SyncClass::barrier;
  }
}

/// A barrier at the end of a region, for certain.
inline bool is_region_end(uint16_t kind) {
  return kind == 9 || kind == 10;
}
/// A barrier that may be any: barrier, barrier_implicit, barrier_implementation.
inline bool is_unclear(uint16_t kind) {
  return kind == 1 || kind == 2 || kind == 4;
}
/// A barrier at the end of some construct.
inline bool is_implicit(uint16_t kind) {
  return kind == 2 || kind == 8;
}

// --- ompt_mutex_t ---

struct MutexName {
  std::string_view name;
  trace::MutexKind kind = trace::MutexKind::other;
  bool is_call = false;  ///< a library call, which ends when the lock is held
  bool is_test = false;  ///< it may fail
};

inline MutexName mutex_name(uint16_t kind) {
  using trace::MutexKind;
  switch (kind) {
    case 1:
      return {"omp_set_lock", MutexKind::lock, true, false};
    case 2:
      return {"omp_test_lock", MutexKind::lock, true, true};
    case 3:
      return {"omp_set_nest_lock", MutexKind::nest_lock, true, false};
    case 4:
      return {"omp_test_nest_lock", MutexKind::nest_lock, true, true};
    case 5:
      return {"critical", MutexKind::critical, false, false};
    case 6:
      return {"atomic", MutexKind::atomic, false, false};
    case 7:
      return {"ordered", MutexKind::ordered, false, false};
    default:
      return {"mutex", MutexKind::other, false, false};
  }
}

// --- ompt_task_flag_t ---

/// A taskwait with dependences.
inline bool is_taskwait(uint32_t flags) {
  return (flags & 0x10) != 0;
}

// --- ompt_task_status_t ---

/// The task that is left has ended: complete, cancel.
inline bool is_task_end(uint16_t status) {
  return status == 1 || status == 3;
}
/// The task that is left never comes back: that, or detached.
inline bool is_task_left(uint16_t status) {
  return is_task_end(status) || status == 4;
}
/// early_fulfill, late_fulfill
inline bool is_detached_event(uint16_t status) {
  return status == 5 || status == 6;
}
/// late_fulfill; taskwait_complete, which ends the task that stands for a taskwait with
/// dependences.
inline bool ends_without_being_left(uint16_t status) {
  return status == 6 || status == 8;
}

// --- ompt_dependence_type_t ---

inline std::optional<trace::Fact> dependence(uint64_t type) {
  using trace::Fact;
  switch (type) {
    case 1:
      return Fact::depend_in;
    case 2:
      return Fact::depend_out;
    case 3:
      return Fact::depend_inout;
    case 4:
      return Fact::depend_mutexinoutset;
    case 5:
      return Fact::depend_source;
    case 6:
      return Fact::depend_sink;
    case 7:
      return Fact::depend_inoutset;
    case 34:
    case 35:
      return Fact::depend_all_memory;
    default:
      return std::nullopt;
  }
}

// --- ompt_target_t, ompt_target_data_op_t ---

inline trace::RawTarget target_class(uint16_t flags) {
  return static_cast<trace::RawTarget>(flags >> 8);
}

inline std::string_view target_name(uint16_t flags) {
  const unsigned code = flags & 0xff;
  if (target_class(flags) == trace::RawTarget::submit) return "target kernel";
  if (target_class(flags) == trace::RawTarget::data) {
    constexpr std::string_view kOperations[] = {
        "target data", "target alloc",     "target copy in",     "target copy out",
        "target free", "target associate", "target disassociate"};
    const unsigned operation = code & 0xf;  // asynchronous ones have 16 added
    return kOperations[operation < std::size(kOperations) ? operation : 0];
  }
  switch (code & 7) {  // 8 is added for nowait
    case 2:
      return "target enter data";
    case 3:
      return "target exit data";
    case 4:
      return "target update";
    default:
      return "target";
  }
}

/// False for records that say nothing about a thread's next activity: waiting belongs to the
/// construct that it is in.
inline bool says_something(trace::RawKind kind) {
  using trace::RawGroup;
  using trace::RawKind;
  const RawGroup group = trace::facts_of(kind).group;
  return group != RawGroup::definitions && group != RawGroup::samples &&
         group != RawGroup::measurement && kind != RawKind::omp_wait_begin &&
         kind != RawKind::omp_wait_end;
}

}  // namespace culprit::assemble
