// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records by their groups; an unknown construct is passed over, not guessed.
#include "assemble/openmp/records.h"

namespace culprit::assemble {

using trace::RawKind;

void OpenmpRecords::see(const RawRecord& record, const RawLog::Cursor& ahead) {
  switch (record.kind) {
    case RawKind::omp_parallel_begin:
      return teams_.parallel_begin(record);
    case RawKind::omp_parallel_end:
      return teams_.parallel_end(record);
    case RawKind::omp_implicit_begin:
      return teams_.implicit_begin(record);
    case RawKind::omp_implicit_end:
      return teams_.implicit_end(record);
    case RawKind::omp_work_begin:
      return constructs_.work_begin(record);
    case RawKind::omp_work_end:
      return constructs_.work_end(record);
    case RawKind::omp_masked_begin:
      return constructs_.masked_begin(record);
    case RawKind::omp_masked_end:
      return constructs_.masked_end(record);
    case RawKind::omp_reduction_begin:
      return constructs_.reduction_begin(record);
    case RawKind::omp_reduction_end:
      return constructs_.reduction_end(record);
    case RawKind::omp_cancel:
      return constructs_.cancel(record);
    case RawKind::omp_sync_begin:
      return constructs_.sync_begin(record, ahead, false);
    case RawKind::omp_wait_begin:
      return constructs_.sync_begin(record, ahead, true);
    case RawKind::omp_sync_end:
      return constructs_.sync_end(record, false);
    case RawKind::omp_wait_end:
      return constructs_.sync_end(record, true);
    case RawKind::omp_target_begin:
      return targets_.begin(record);
    case RawKind::omp_target_end:
      return targets_.end(record);
    case RawKind::omp_thread_end:
      return finish(state_.time(record));
    default:
      see_task(record);
      see_mutex(record, ahead);
  }
}

void OpenmpRecords::see_task(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::omp_task_create:
      return tasks_.create(record);
    case RawKind::omp_task_depends:
      return tasks_.depends(record);
    case RawKind::omp_task_edge:
      return tasks_.edge(record);
    case RawKind::omp_task_switch:
      return tasks_.switched(record);
    case RawKind::omp_task_fulfilled:
      return tasks_.fulfilled(record);
    default:
      return;
  }
}

void OpenmpRecords::see_mutex(const RawRecord& record, const RawLog::Cursor& ahead) {
  switch (record.kind) {
    case RawKind::omp_mutex_acquire:
      return mutexes_.acquire(record, ahead);
    case RawKind::omp_mutex_acquired:
      return mutexes_.acquired(record);
    case RawKind::omp_mutex_released:
      return mutexes_.released(record);
    case RawKind::omp_nest_lock:
      return mutexes_.nested(record);
    case RawKind::omp_lock_init:
      return mutexes_.init(record);
    case RawKind::omp_lock_destroy:
      return mutexes_.destroy(record);
    default:
      return;
  }
}

}  // namespace culprit::assemble
