// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The list of diagnoses, and those that are not about devices. They read joined findings alone, so
// they hold for any number of analysis ranks.
#include "blame/judge/diagnose.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "blame/findings/function_id.h"
#include "blame/profile/start_up.h"

namespace culprit::blame {

namespace {

/// In a run of at least this length the verdict mentions start-up first if it dominates the
/// critical path: shorter runs always start longer than they work.
constexpr double kLongRun_s = 60;
constexpr double kStartUpDominates = 0.5;
/// Only the tests count, not the work between them, and they are no waiting: only much of it is
/// worth a sentence.
constexpr double kMuchPolling = 0.05;
/// Part of the cost with a known cause: a cause of less is not "mostly" the cause.
constexpr double kMostly = 0.5;
/// At least this part of waiting, or of as many messages as below, is worth a sentence.
constexpr double kMuchWaiting = 0.05;
constexpr double kMostMessages = 0.5;
constexpr uint64_t kManyMessages = 100;

/// None: a function of no name.
FunctionId function_at(const Findings& findings, CallPathId path) {
  return path.valid() ? function_of(findings.callpaths[path.index()]) : FunctionId{};
}

}  // namespace

const FoundDiagnosis* find_diagnosis(const Findings& findings, Diagnosis kind) {
  for (const FoundDiagnosis& row : findings.diagnoses) {
    if (row.kind == kind && row.matters) return &row;
  }
  return nullptr;
}

std::string lost_records(const Losses& losses) {
  const bool early = losses.contains(LossKind::early_ends);
  const auto is_of_early_end = [](std::string_view loss) {
    return loss == text(LossKind::incomplete_collectives).id ||
           loss == text(LossKind::unmatched_receives).id;
  };
  for (const auto& [name, loss] : losses.all()) {
    if (loss.severity == Severity::data_loss && !(early && is_of_early_end(name))) return name;
  }
  return "";
}

/// Returns the delay costs without start-up. In a cut, delays keep their whole costs, including
/// those of waits at removed call paths.
static double own_delay_costs(const Findings& findings) {
  double sum = 0;
  for (const FoundDelay& row : findings.delays) {
    if (!is_of_start_up(findings, row)) sum += row.short_s + row.long_s;
  }
  return sum;
}

Proportion proportion(const FoundDiagnosis& row) {
  return Proportion::of(Amount<Row>(row.time_s), Amount<Row>(row.whole_s));
}

Amount<Run> run_time(const Findings& findings) {
  return Amount<Run>(findings.run.wall_s);
}

Amount<Allocation> allocation(const Findings& findings) {
  return Amount<Allocation>(findings.run.allocation_s);
}

Amount<OwnAllocation> own_allocation(const Findings& findings) {
  const StartUp& start_up = findings.start_up;
  return Amount<OwnAllocation>(
      std::max(findings.run.allocation_s - start_up.activity_s - start_up.waiting_s, 0.0));
}

Amount<Waiting> waiting(const Findings& findings) {
  return Amount<Waiting>(findings.identities.waiting_s);
}

Amount<OwnWaiting> own_waiting(const Findings& findings) {
  if (findings.run.operation == Operation::cut) {
    return Amount<OwnWaiting>(own_delay_costs(findings));
  }
  return Amount<OwnWaiting>(
      std::max(findings.identities.waiting_s - findings.start_up.waiting_s, 0.0));
}

void diagnose_start_up(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  const double start_up_s = findings.start_up.wall_s, wall_s = findings.run.wall_s;
  if (start_up_s <= 0) return;
  found.push_back({.kind = Diagnosis::start_up,
                   .time_s = start_up_s,
                   .whole_s = wall_s,
                   .matters = wall_s >= kLongRun_s && start_up_s >= kStartUpDominates * wall_s});
}

/// The call path named is the last of the function's that caused most, as far as that is known.
void diagnose_polling(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{.kind = Diagnosis::polling, .whole_s = own_allocation(findings).seconds()};
  for (const FoundPollingCause& cause : findings.polling_causes) row.time_s += cause.time_s;
  for (const FoundUnattributed& rest : findings.unattributed) {
    if (rest.pattern == "mpi.polling") row.time_s += rest.time_s;
  }
  if (row.time_s <= 0) return;
  row.matters = row.whole_s > 0 && row.time_s >= kMuchPolling * row.whole_s;
  double caused_s = 0;
  std::map<FunctionId, std::pair<double, CallPathId>> by_function;
  for (const FoundPollingCause& cause : findings.polling_causes) {
    auto& [time_s, example] = by_function[function_at(findings, cause.callpath)];
    time_s += cause.time_s;
    example = cause.callpath;
    caused_s += cause.time_s;
  }
  for (const auto& [code, sum] : by_function) {
    if (sum.first <= row.callpath_s || sum.first < kMostly * caused_s) continue;
    std::tie(row.callpath_s, row.callpath) = sum;
  }
  found.push_back(row);
}

namespace {

/// Sums the messages of one kind. The named call path is the one with most waiting for them, or
/// else with most of them.
FoundDiagnosis sum_messages(const Findings& findings, Diagnosis kind,
                            uint64_t FoundMessageUse::* which, double FoundMessageUse::* waiting) {
  FoundDiagnosis row{.kind = kind, .whole_s = own_waiting(findings).seconds()};
  std::map<CallPathId, std::pair<double, uint64_t>> by_path;
  for (const FoundMessageUse& use : findings.message_use) {
    row.count += use.*which;
    row.all_count += use.messages;
    row.time_s += use.*waiting;
    if (use.*which == 0) continue;
    auto& [time_s, count] = by_path[use.callpath];
    time_s += use.*waiting;
    count += use.*which;
  }
  uint64_t most = 0;
  for (const auto& [path, sum] : by_path) {
    if (sum <= std::pair(row.callpath_s, most)) continue;
    std::tie(row.callpath_s, most) = sum;
    row.callpath = path;
  }
  const bool much = row.whole_s > 0 && row.time_s >= kMuchWaiting * row.whole_s;
  const bool many =
      row.all_count >= kManyMessages &&
      static_cast<double>(row.count) >= kMostMessages * static_cast<double>(row.all_count);
  row.matters = much || many;
  return row;
}

}  // namespace

void diagnose_empty_messages(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  const FoundDiagnosis row =
      sum_messages(findings, Diagnosis::empty_messages, &FoundMessageUse::empty,
                   &FoundMessageUse::waiting_empty_s);
  if (row.count > 0) found.push_back(row);
}

void diagnose_repeated_messages(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  const FoundDiagnosis row =
      sum_messages(findings, Diagnosis::repeated_messages, &FoundMessageUse::repeated,
                   &FoundMessageUse::waiting_repeated_s);
  if (row.count > 0) found.push_back(row);
}

namespace {

using Diagnose = void (*)(const Findings&, std::vector<FoundDiagnosis>&);

constexpr Diagnose kDiagnoses[] = {
    diagnose_start_up,          diagnose_polling,        diagnose_empty_messages,
    diagnose_repeated_messages, diagnose_small_messages, diagnose_short_regions,
    diagnose_page_faults,       diagnose_threads_in_mpi, diagnose_locked_calls,
    diagnose_pageable_copies,
};

/// The diagnoses that would be wrong if operations of a device were missing.
constexpr Diagnose kOfWholeDevices[] = {
    diagnose_idle_devices,        diagnose_device_advice,   diagnose_launch_bound_kernels,
    diagnose_launch_bound_phases, diagnose_redundant_waits,
};

/// With any of these losses, operations of unknown length are missing.
constexpr LossKind kMissingOperations[] = {
    LossKind::device_not_observed,     LossKind::device_records_senseless,
    LossKind::device_times_missing,    LossKind::device_times_reversed,
    LossKind::device_ops_not_followed, LossKind::device_records_dropped,
    LossKind::device_flushes_hung,     LossKind::device_launches_without_operation,
};

}  // namespace

bool device_operations_are_missing(const Findings& findings) {
  return !findings.devices.empty() &&
         std::any_of(std::begin(kMissingOperations), std::end(kMissingOperations),
                     [&](LossKind kind) { return findings.losses.contains(kind); });
}

void diagnose(Findings& findings) {
  findings.diagnoses.clear();
  for (const auto each : kDiagnoses) each(findings, findings.diagnoses);
  if (device_operations_are_missing(findings)) return;
  for (const auto each : kOfWholeDevices) each(findings, findings.diagnoses);
}

}  // namespace culprit::blame
