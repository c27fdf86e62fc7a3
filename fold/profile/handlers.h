// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What each kind of record does to a profile: a function for each kind that says something about
// how its thread spends its time.
#pragma once

#include "fold/profile/folding.h"
#include "fold/record.h"

namespace culprit::fold {

// --- mpi.cpp ---
void see(Folding& to, const raw::mpi_enter& entered, const Record& record);
void see(Folding& to, const raw::mpi_leave& left, const Record& record);
void see(Folding& to, const raw::mpi_tests& tests, const Record& record);
void see(Folding& to, const raw::mpi_send& sent, const Record& record);
void see(Folding& to, const raw::mpi_recv& received, const Record& record);
void see(Folding& to, const raw::mpi_isend& sent, const Record& record);
void see(Folding& to, const raw::mpi_irecv& received, const Record& record);
void see(Folding& to, const raw::mpi_collective& operation, const Record& record);
void see(Folding& to, const raw::mpi_icoll& operation, const Record& record);
void see(Folding& to, const raw::rma_op& operation, const Record& record);
void see(Folding& to, const raw::file_op_done& operation, const Record& record);

// --- teams.cpp ---
void see(Folding& to, const raw::omp_thread_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_thread_end& ended, const Record& record);
void see(Folding& to, const raw::omp_parallel_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_parallel_end& ended, const Record& record);
void see(Folding& to, const raw::omp_implicit_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_implicit_end& ended, const Record& record);

// --- constructs.cpp ---
void see(Folding& to, const raw::omp_work_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_work_end& ended, const Record& record);
void see(Folding& to, const raw::omp_masked_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_masked_end& ended, const Record& record);
void see(Folding& to, const raw::omp_reduction_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_reduction_end& ended, const Record& record);
void see(Folding& to, const raw::omp_sync_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_sync_end& ended, const Record& record);
void see(Folding& to, const raw::omp_wait_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_wait_end& ended, const Record& record);
void see(Folding& to, const raw::omp_target_begin& begun, const Record& record);
void see(Folding& to, const raw::omp_target_end& ended, const Record& record);

// --- tasks.cpp ---
void see(Folding& to, const raw::omp_task_create& created, const Record& record);
void see(Folding& to, const raw::omp_task_switch& switched, const Record& record);
void see(Folding& to, const raw::omp_task_fulfilled& fulfilled, const Record& record);

// --- mutexes.cpp ---
void see(Folding& to, const raw::omp_mutex_acquired& acquired, const Record& record);
void see(Folding& to, const raw::omp_mutex_released& released, const Record& record);
/// An acquire notes the moments of its acquisition and release, which may come later: the first
/// `from` of these three are folded already. Returns how many are now.
uint32_t see_acquire(Folding& to, const Record& record, uint32_t from);
/// Another event than the acquisition of the mutex that the thread wanted has come: it has not got
/// it.
void give_up_mutex(Folding& to);
/// The thread waits for a mutex, and something else about it is known meanwhile.
void open_mutex_wait(Folding& to);

// --- thread.cpp ---
void see(Folding& to, const raw::path_def& path, const Record& record);
void see(Folding& to, const raw::sample& sample, const Record& record);
void see(Folding& to, const raw::kernel_use& use, const Record& record);
void see(Folding& to, const raw::blocked& blocked, const Record& record);
void see(Folding& to, const raw::device_enter& entered, const Record& record);
void see(Folding& to, const raw::device_leave& left, const Record& record);
void see(Folding& to, const raw::device_polls& polls, const Record& record);
void see(Folding& to, const raw::thread_begun& begun, const Record& record);
void see(Folding& to, const raw::thread_ended& ended, const Record& record);
void see(Folding& to, const raw::tool_begin& begun, const Record& record);
void see(Folding& to, const raw::tool_end& ended, const Record& record);
void see(Folding& to, const raw::cpu_time& time, const Record& record);
void see(Folding& to, const raw::sampling_period& period, const Record& record);
void see(Folding& to, const raw::recording_off& off, const Record& record);
void see(Folding& to, const raw::recording_on& on, const Record& record);
void see(Folding& to, const raw::counter_def& counter, const Record& record);
void see(Folding& to, const raw::counters& counters, const Record& record);

// --- user.cpp ---
void see(Folding& to, const raw::user_enter& entered, const Record& record);
void see(Folding& to, const raw::user_leave& left, const Record& record);
void see(Folding& to, const raw::func_enter& entered, const Record& record);
void see(Folding& to, const raw::func_leave& left, const Record& record);

}  // namespace culprit::fold
