// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace culprit::report {

namespace {

using blame::Findings;

constexpr size_t kTopRows = 5;
constexpr double kRowMatters = 0.01;
constexpr size_t kTextColumn = 25;

class Section {
 public:
  Section(const Findings& findings, const Names& names, const TimeFormat& time)
      : findings_(findings), names_(names), time_(time) {}

  std::string write() {
    page_ = "\nDEVICES  (share: of the run's length; under a heading, of its sum)\n";
    write_devices();
    write_blame("idle device", findings_.identities.device_idle_s,
                "While devices had nothing to do, the hosts that launched next executed");
    write_blame("waiting host", findings_.identities.device_wait_s,
                "While hosts waited for devices, these executed");
    write_launch_bound();
    write_redundant();
    write_pageable();
    return std::move(page_);
  }

 private:
  void entry(double part, double whole, const std::string& text) {
    std::string lines = wrapped(text, kTextColumn);
    lines.replace(0, kTextColumn,
                  fmt::format("   {} {}  ", right(time_(part), kTextColumn - 14),
                              right(percent(part, whole), 8)));
    page_ += lines;
  }
  void remark(const std::string& text) { page_ += wrapped(text, kTextColumn); }

  /// Those that were busiest.
  void write_devices() {
    std::vector<const blame::FoundDevice*> rows;
    for (const blame::FoundDevice& row : findings_.devices) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->busy_s > b->busy_s; });
    for (size_t i = 0; i < std::min(rows.size(), kTopRows); ++i) write_device(*rows[i]);
    if (rows.size() > kTopRows) {
      remark(fmt::format("and {}", counted(rows.size() - kTopRows, "device")));
    }
  }

  void write_device(const blame::FoundDevice& row) {
    const double wall = findings_.run.wall_s;
    entry(row.busy_s, wall,
          fmt::format("busy: {} of {} on {}, {}, {}", row.name, names_.location(row.location),
                      row.node, counted(row.streams, "stream"),
                      counted(row.operations, "operation")));
    remark(fmt::format("kernels {}, copies and the like {}, of which {} beside kernels",
                       time_(row.kernels_s), time_(row.copies_s), time_(row.overlapped_s)));
    std::string idle =
        fmt::format("idle {}: nothing had been handed over {}, launched but not begun {}",
                    time_(row.idle_s), time_(row.late_s), time_(row.latency_s));
    if (row.unknown_s > 0) idle += fmt::format(", nobody knows why {}", time_(row.unknown_s));
    remark(idle);
    if (row.late_s >= kRowMatters * wall) {
      remark(
          fmt::format("launched in time, its work would end up to {} earlier", time_(row.late_s)));
    }
  }

  void write_blame(std::string_view kind, double sum, const std::string& heading) {
    if (sum < kRowMatters * findings_.run.wall_s) return;
    page_ += wrapped(heading + ":", 2);
    size_t shown = 0;
    for (const DeviceBlamed& row : device_blamed(findings_, kind)) {
      if (shown++ == kTopRows || row.time_s < kRowMatters * sum) break;
      entry(row.time_s, sum, names_.path(row.callpath, kPageWidth - kTextColumn));
    }
  }

  void write_launch_bound() {
    double latency = 0, time = 0;
    uint64_t count = 0;
    const blame::FoundDeviceOperation* most = nullptr;
    for (const blame::FoundDeviceOperation& row : findings_.device_operations) {
      if (row.kind != "kernel" || row.latency_s <= row.time_s) continue;
      latency += row.latency_s;
      time += row.time_s;
      count += row.count;
      if (most == nullptr || row.latency_s > most->latency_s) most = &row;
    }
    if (latency < kRowMatters * findings_.run.wall_s) return;
    page_ += wrapped(
        fmt::format("Launch-bound: {} took {} and {} to begin, most of all {}. Fewer, larger "
                    "kernels or a graph of them would begin sooner.",
                    counted(count, "kernel"), time_(time), time_(latency),
                    names_.region(most->callpath)),
        2);
  }

  void write_redundant() {
    uint64_t redundant = 0, count = 0;
    double time = 0;
    const blame::FoundDeviceCall* most = nullptr;
    for (const blame::FoundDeviceCall& row : findings_.device_calls) {
      count += row.count;
      redundant += row.redundant;
      time += row.redundant_s;
      if (most == nullptr || row.redundant > most->redundant) most = &row;
    }
    if (redundant == 0) return;
    page_ += wrapped(
        fmt::format("{} of {} that wait for a device had nothing to wait for and took {}; most of "
                    "them: {}.",
                    grouped(redundant), counted(count, "call"), time_(time),
                    names_.path(most->callpath, kPageWidth / 2)),
        2);
  }

  void write_pageable() {
    uint64_t copies = 0;
    for (const blame::FoundDevice& row : findings_.devices) copies += row.pageable_copies;
    if (copies == 0) return;
    page_ += wrapped(fmt::format("{} of pageable memory: they keep the host waiting and cannot "
                                 "overlap with kernels. Pin it (cudaMallocHost, cudaHostRegister).",
                                 counted(copies, "copy", "copies")),
                     2);
  }

  const Findings& findings_;
  const Names& names_;
  const TimeFormat& time_;
  std::string page_;
};

}  // namespace

std::vector<DeviceBlamed> device_blamed(const Findings& findings, std::string_view kind) {
  std::map<CallPathId, double> sums;
  for (const blame::FoundDeviceBlame& row : findings.device_blame) {
    if (row.kind == kind) sums[row.callpath] += row.time_s;
  }
  std::vector<DeviceBlamed> rows;
  for (const auto& [path, time] : sums) rows.push_back({path, time});
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceBlamed& a, const DeviceBlamed& b) {
    return a.time_s > b.time_s;
  });
  return rows;
}

std::string device_section(const Findings& findings, const Names& names, const TimeFormat& time) {
  return findings.devices.empty() ? "" : Section(findings, names, time).write();
}

}  // namespace culprit::report
