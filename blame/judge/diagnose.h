// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Diagnoses from joined findings, besides delays: polling, devices that wait for their hosts, waits
// for nothing. Each diagnosis is a row with the numbers that it is based on, and whether they are
// large enough to matter; reports only put them into words. The thresholds are here, with their
// reasons.
#pragma once

#include <string>
#include <vector>

#include "blame/amount.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// Below this part of a run a report says nothing: the gain would not justify a change of the
/// program.
inline constexpr double kWorthALine = 0.01;

/// Fills findings.diagnoses from the joined rows, each of which is in its order.
void diagnose(Findings& findings);

/// Returns whether device operations are missing: then their activity is not diagnosed.
bool device_operations_are_missing(const Findings& findings);

/// The row of that kind, if it is there and matters; else null.
const FoundDiagnosis* find_diagnosis(const Findings& findings, Diagnosis kind);

/// Returns the name of the first loss by which records are missing or wrong; "" if there is none.
/// Unfinished work of a program that was killed is not missing from its records.
std::string lost_records(const Losses& losses);

/// A function's blame between devices and hosts, on all locations.
struct DeviceBlamed {
  CallPathId callpath;  ///< with most of it; the function's own, if none has half
  double time_s = 0;
  double alone_s = 0;
  double between_s = 0;
  double critical_s = 0;              ///< wall-clock time, on all locations
  std::vector<CallPathId> callpaths;  ///< all of them
};

/// Most first.
std::vector<DeviceBlamed> device_blamed(const Findings& findings, DeviceBlameKind kind);
/// The same for idle devices, without start-up and shutdown.
std::vector<DeviceBlamed> own_idle_device(const Findings& findings);

/// Returns a diagnosis's time as a part of its whole, which is in the same row.
Proportion proportion(const FoundDiagnosis& row);

// The wholes of a run. In a cut, own waiting is the total cost of its delays, wherever the waits
// are.
Amount<Run> run_time(const Findings& findings);
Amount<Allocation> allocation(const Findings& findings);
Amount<OwnAllocation> own_allocation(const Findings& findings);
Amount<Waiting> waiting(const Findings& findings);
Amount<OwnWaiting> own_waiting(const Findings& findings);

// The diagnoses, one function each; diagnose.cpp lists them.
void diagnose_start_up(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_polling(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_empty_messages(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_repeated_messages(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_small_messages(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_short_regions(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_page_faults(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_threads_in_mpi(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_locked_calls(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_idle_devices(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_device_advice(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_launch_bound_kernels(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_launch_bound_phases(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_redundant_waits(const Findings& findings, std::vector<FoundDiagnosis>& found);
void diagnose_pageable_copies(const Findings& findings, std::vector<FoundDiagnosis>& found);

}  // namespace culprit::blame
