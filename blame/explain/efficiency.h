// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How well a run uses its allocated time, as factors that multiply: the hierarchy of the POP
// project (pop-coe.eu, "Standard metrics" and "Hybrid metrics", multiplicative form), in which
// "from MPI's point of view OpenMP is as useful as the computation". docs/efficiency.md has the
// formulas.
//
// Each thread's life is cut into eight kinds of time:
//
//     useful     in the program's own code
//     serial     idle outside of teams while the process is not in MPI
//     imbalance  waiting in OpenMP for another thread, likewise
//     runtime    overhead of OpenMP: barriers that all have reached, threads that wake up
//     device     waiting for a device's operations
//     mpi_wait   waiting in MPI, or idle while no thread of the team group works and one waits in
//     MPI
//     start_up   in what starts or ends the program (start_up.h) or waiting there, likewise; and
//                before the process has been started
//     mpi_rest   otherwise in MPI, likewise; in files, asleep or spinning, as far as that is known;
//     and
//                not alive while the run lasts
//
// A process p of n threads is outside of MPI for O(p) = (useful + serial + imbalance + runtime +
// device) / n, and would be done after I(p) = O(p) + mpi_wait / n if MPI transferred in no time.
// POP has the ideal run time from a simulation (Dimemas); here max I, which needs none, takes its
// place: it leaves out the time that a process spends in MPI without waiting for others. With N
// threads in all, of which each process weighs its own, and T the run time without the start-up
// that all processes have in common, min(start_up / n), so that what remains of a run of seconds is
// judged:
//
//     parallel       = useful / (N T)                     = mpi * omp * offload
//     mpi            = sum(n O) / (N T)                   = load balance * communication
//     load balance   = mean O / max O
//     communication  = max O / T                          = serialisation * transfer
//     serialisation  = max O / max I,   transfer = max I / T
//     offload        = A / sum(n O)                       with A = sum(n O) - device
//     omp            = useful / A                         = serial * load balance * runtime
//     omp.serial     = (A - serial) / A
//     omp.load_balance    = (A - serial - imbalance) / (A - serial)
//     omp.runtime    = useful / (A - serial - imbalance)
//
// All lie in [0, 1]. A factor of which both sides are 0 is 1.
#pragma once

#include <string_view>
#include <vector>

#include "blame/critical_path/critical_profile.h"
#include "blame/findings/findings.h"
#include "blame/idle/idle_blame.h"

namespace culprit::blame {

/// A process's threads' time by kind, in seconds.
struct ProcessTimes {
  double threads = 0;  ///< one that did not live as long as the run is a part of one
  double useful_s = 0, serial_s = 0, imbalance_s = 0, runtime_s = 0, mpi_wait_s = 0, mpi_rest_s = 0,
         device_s = 0, start_up_s = 0;

  double outside_mpi_s() const { return useful_s + serial_s + imbalance_s + runtime_s + device_s; }
};

/// By ProcessId. Processes without events have no threads, nor have those of other ranks.
std::vector<ProcessTimes> process_times(const replay::Run& run, const WaitSums& waits,
                                        const Profiles& profiles, const IdleBlame& idle);

/// Returns the start-up and shutdown time that all processes have in common: the minimum over
/// processes of the mean over threads.
double common_start_up(const std::vector<ProcessTimes>& processes);

/// Returns all factors, each after its product; `wall_s` is the run time. Empty if the run consists
/// of start-up only.
std::vector<FoundEfficiency> efficiencies(const std::vector<ProcessTimes>& processes, double wall_s,
                                          bool with_devices);

}  // namespace culprit::blame
