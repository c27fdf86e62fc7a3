// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The costs that devices and their hosts cause each other: how long devices had nothing to do and
// why, advice, and habits that cost time (launches that take longer than the launched operation,
// waits for nothing, copies from pageable memory). The cost of the last two does not show in a
// trace, so a single occurrence is reported.
#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/functions.h"

namespace culprit::blame {

namespace {

/// Part of the devices' time: programs with a device usually leave it idle for some time; from a
/// quarter on, the verdict must mention it first.
constexpr double kMuchIdle = 0.25;

double device_time(const Findings& findings) {
  return static_cast<double>(findings.devices.size()) * findings.run.wall_s;
}

void find_unknown_idle(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis row{.kind = Diagnosis::idle_for_unknown_reasons, .whole_s = device_time(findings)};
  for (const FoundDevice& device : findings.devices) row.time_s += device.unknown_s;
  if (row.time_s <= 0) return;
  row.matters =
      row.time_s > findings.identities.device_idle_s && row.time_s >= kWorthALine * row.whole_s;
  found.push_back(row);
}

/// Parts of the run in which a device is launch-bound: where they touch they are one.
FoundDiagnosis launch_bound_phases(const Findings& findings, size_t device) {
  FoundDiagnosis row{.kind = Diagnosis::launch_bound_phases,
                     .location = findings.devices[device].location};
  double end_s = -1;
  for (const FoundDeviceTime& part : findings.device_times) {
    if (part.device.index() != device || !part.launch_bound) continue;
    row.time_s += part.launching_s + part.latency_s;
    row.whole_s += part.end_s - part.begin_s;
    row.count += part.begin_s != end_s;
    end_s = part.end_s;
  }
  return row;
}

}  // namespace

namespace {

std::map<CallPathId, DeviceBlamed> blamed_by_path(const Findings& findings, DeviceBlameKind kind) {
  std::map<CallPathId, DeviceBlamed> sums;
  for (const FoundDeviceBlame& row : findings.device_blame) {
    if (row.kind != kind) continue;
    DeviceBlamed& sum = sums[row.callpath];
    sum.callpath = row.callpath;
    sum.time_s += row.time_s;
    sum.alone_s += row.alone_s;
    sum.between_s += row.between_s;
    sum.critical_s = row.critical_s;  // equal in all rows
  }
  return sums;
}

bool is_start_up(const Findings& findings, CallPathId path) {
  return path.valid() && findings.callpaths[path.index()].start_up;
}

constexpr size_t kUnknown = SIZE_MAX;

/// The program's function that has launched an operation. Where none is known, each call path
/// stands for itself.
size_t launcher(const Findings& findings, const Functions& functions, CallPathId path) {
  CallPathId at = path;
  while (at.valid() && is_of_device(findings.callpaths[at.index()])) at = functions.parent(at);
  return at.valid() ? functions.of(at) : findings.callpaths.size() + path.index();
}

/// What belongs to one function is one row, and one kernel that one function launches.
struct BlamedKey {
  FunctionNumber function = kUnknown;
  size_t launcher = kUnknown;
  bool start_up = false;
  auto operator<=>(const BlamedKey&) const = default;
};

std::vector<DeviceBlamed> by_function(const Findings& findings,
                                      const std::map<CallPathId, DeviceBlamed>& by_path) {
  const Functions functions(findings);
  std::map<BlamedKey, DeviceBlamed> sums;
  std::map<BlamedKey, double> most_s;
  for (const auto& [path, row] : by_path) {
    BlamedKey key;
    key.start_up = is_start_up(findings, path);
    if (path.valid()) {
      key.function = functions.of(path);
      const bool launched = is_of_device(findings.callpaths[path.index()]);
      if (launched) key.launcher = launcher(findings, functions, path);
    }
    DeviceBlamed& sum = sums[key];
    if (sum.callpaths.empty() || row.time_s > most_s[key]) {
      sum.callpath = path;
      most_s[key] = row.time_s;
    }
    sum.time_s += row.time_s;
    sum.alone_s += row.alone_s;
    sum.between_s += row.between_s;
    sum.critical_s += row.critical_s;
    sum.callpaths.push_back(path);
  }
  std::vector<DeviceBlamed> rows;
  for (auto& [key, sum] : sums) {
    const bool is_most = most_s[key] >= sum.time_s / 2;
    if (sum.callpath.valid() && !is_most) sum.callpath = functions.own_path(sum.callpath);
    rows.push_back(std::move(sum));
  }
  return rows;
}

}  // namespace

std::vector<DeviceBlamed> device_blamed(const Findings& findings, DeviceBlameKind kind) {
  std::vector<DeviceBlamed> rows = by_function(findings, blamed_by_path(findings, kind));
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceBlamed& a, const DeviceBlamed& b) {
    return a.time_s > b.time_s;
  });
  return rows;
}

std::vector<DeviceBlamed> own_idle_device(const Findings& findings) {
  std::vector<DeviceBlamed> rows = device_blamed(findings, DeviceBlameKind::idle_device);
  std::erase_if(rows, [&](const DeviceBlamed& row) { return is_start_up(findings, row.callpath); });
  return rows;
}

/// Excludes idle time caused by start-up and shutdown, which a device could not use.
void diagnose_idle_devices(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  find_unknown_idle(findings, found);
  const std::vector<DeviceBlamed> blamed = own_idle_device(findings);
  if (blamed.empty()) return;
  double start_up_s = 0;
  for (const DeviceBlamed& row : device_blamed(findings, DeviceBlameKind::idle_device)) {
    start_up_s += row.time_s;
  }
  for (const DeviceBlamed& row : blamed) start_up_s -= row.time_s;
  FoundDiagnosis row{.kind = Diagnosis::idle_devices,
                     .callpath = blamed.front().callpath,
                     .time_s = findings.identities.device_idle_s - start_up_s,
                     .callpath_s = blamed.front().time_s,
                     .whole_s = device_time(findings) - start_up_s};
  row.matters = row.time_s >= kMuchIdle * row.whole_s;
  found.push_back(row);
}

/// Chooses, of all code to blame between devices and hosts, the one with most time on the critical
/// path. Code that is mostly blamed for the time before a device's first operation or after its
/// last is no advice, since no work can be launched then.
void diagnose_device_advice(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis best{.whole_s = findings.run.wall_s};
  for (const auto kind : {DeviceBlameKind::idle_device, DeviceBlameKind::waiting_host}) {
    for (const DeviceBlamed& row : device_blamed(findings, kind)) {
      if (row.between_s < row.time_s / 2 || row.critical_s <= best.time_s) continue;
      best.kind = kind == DeviceBlameKind::idle_device ? Diagnosis::launch_ahead
                                                       : Diagnosis::speed_up_or_overlap;
      best.callpath = row.callpath;
      best.time_s = best.callpath_s = row.critical_s;
    }
  }
  if (best.time_s <= 0) return;
  best.matters = best.time_s >= kWorthALine * best.whole_s;
  found.push_back(best);
}

void diagnose_launch_bound_kernels(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis sum{.kind = Diagnosis::launch_bound_kernels};
  for (const FoundDeviceOperation& row : findings.device_operations) {
    if (row.kind != DeviceOperationKind::kernel || !row.launch_bound) continue;
    sum.count += row.count;
    sum.time_s += row.latency_s;
    sum.whole_s += row.latency_s + row.time_s;
    if (row.latency_s <= sum.callpath_s) continue;
    sum.callpath = row.callpath;
    sum.callpath_s = row.latency_s;
  }
  if (sum.count == 0) return;
  sum.matters = sum.time_s >= kWorthALine * findings.run.wall_s;
  found.push_back(sum);
}

/// Diagnoses the device that has most launch-bound phases.
void diagnose_launch_bound_phases(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis worst;
  for (size_t i = 0; i < findings.devices.size(); ++i) {
    const FoundDiagnosis row = launch_bound_phases(findings, i);
    if (row.time_s > worst.time_s) worst = row;
  }
  if (worst.time_s <= 0) return;
  worst.matters = worst.time_s >= kWorthALine * findings.run.wall_s;
  found.push_back(worst);
}

void diagnose_redundant_waits(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis sum{.kind = Diagnosis::redundant_waits};
  uint64_t most = 0;
  for (const FoundDeviceCall& row : findings.device_calls) {
    sum.all_count += row.count;
    sum.count += row.redundant;
    sum.time_s += row.redundant_s;
    sum.whole_s += row.time_s;
    if (row.redundant <= most) continue;
    most = row.redundant;
    sum.callpath = row.callpath;
    sum.callpath_s = row.redundant_s;
  }
  if (sum.count == 0) return;
  sum.matters = true;
  found.push_back(sum);
}

void diagnose_pageable_copies(const Findings& findings, std::vector<FoundDiagnosis>& found) {
  FoundDiagnosis sum{.kind = Diagnosis::pageable_copies, .matters = true};
  for (const FoundDevice& row : findings.devices) sum.count += row.pageable_copies;
  double most_s = 0;
  for (const FoundDeviceOperation& row : findings.device_operations) {
    if (row.kind != DeviceOperationKind::copy) continue;
    sum.all_count += row.count;
    if (row.pageable == 0 || row.time_s <= most_s) continue;
    most_s = row.time_s;
    sum.callpath = row.callpath;
  }
  if (sum.count > 0) found.push_back(sum);
}

}  // namespace culprit::blame
