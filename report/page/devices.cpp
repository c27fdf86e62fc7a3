// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/page/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::report {

namespace {

using blame::DeviceBlameKind;
using blame::DeviceOperationKind;
using blame::Findings;

constexpr size_t kTopRows = 5;
constexpr double kRowMatters = 0.01;
constexpr size_t kTopSpans = 3;
constexpr size_t kTextColumn = 25;
constexpr size_t kParts = 50;       ///< of the run, at least as many as findings hold
constexpr double kShown = 0.1;      ///< of a part
constexpr double kRounding = 1e-6;  ///< of tenths: sums of seconds do not quite fill a part

class Section {
 public:
  Section(const Findings& findings, const PageNames& names, const TimeFormat& time)
      : findings_(findings),
        names_(names),
        time_(time),
        idle_(device_blamed(findings, DeviceBlameKind::idle_device)) {}

  std::string write() {
    page_ = "\nDEVICES  (share: of the run time; in the lists below, of their sum)\n";
    write_devices();
    write_idle_blame();
    write_wait_blame();
    write_launch_bound();
    write_launch_phases();
    write_redundant();
    write_pageable();
    return std::move(page_);
  }

 private:
  void entry(double part, double whole, const std::string& text, char mark = ' ') {
    std::string lines = wrapped(text, kTextColumn);
    lines.replace(0, kTextColumn,
                  fmt::format(" {} {} {}  ", mark, right(time_(part), kTextColumn - 14),
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
      remark(fmt::format("and {}", counted(rows.size() - kTopRows, "other device")));
    }
    page_ += wrapped(
        "Left to right: the run in 50 intervals. Busy: tenths of the interval, # all of it. Idle: "
        "caused by the code listed below with that letter, or by other code (+); ~ launched but "
        "not started; ? cause unknown.",
        2);
  }

  void write_device(const blame::FoundDevice& row) {
    const double wall = findings_.run.wall_s;
    entry(row.busy_s, wall,
          fmt::format("busy: {} on {}, {}, {}", name_of(row), row.node,
                      counted(row.streams, "stream"), counted(row.operations, "operation")));
    std::string work = "kernels " + time_(row.kernels_s);
    if (row.copies_s > 0) {
      work += fmt::format(", copies and other operations {}, {} of it overlapping kernels",
                          time_(row.copies_s), time_(row.overlapped_s));
    }
    remark(work);
    std::string idle =
        fmt::format("idle {}: nothing had been launched {}, launched but not started {}",
                    time_(row.idle_s), time_(row.late_s), time_(row.latency_s));
    if (row.unknown_s > 0) idle += fmt::format(", cause unknown {}", time_(row.unknown_s));
    remark(idle);
    const double saved = row.late_s - row.tail_s;
    if (row.tail_s >= kRowMatters * wall) {
      remark(fmt::format("of this, {} after its last operation", time_(row.tail_s)));
    }
    if (saved >= kRowMatters * wall) {
      remark(fmt::format("timely launches could finish it up to {} earlier", time_(saved)));
    }
    write_course(row);
  }

  /// With its first stream where there are several of that name on the node.
  std::string name_of(const blame::FoundDevice& row) const {
    const auto alike = std::count_if(
        findings_.devices.begin(), findings_.devices.end(),
        [&](const auto& other) { return other.name == row.name && other.node == row.node; });
    return alike < 2 ? row.name : fmt::format("{} of {}", row.name, names_.location(row.location));
  }

  /// Two lines, of which the columns are parts of the run.
  void write_course(const blame::FoundDevice& row) {
    std::string busy, idle;
    for (const blame::FoundDeviceTime& part : findings_.device_times) {
      if (&findings_.devices[part.device.index()] != &row) continue;
      const double length = part.end_s - part.begin_s;
      const auto column = static_cast<size_t>(part.begin_s / length + 0.5);
      if (busy.size() <= column) busy.resize(column + 1, ' '), idle.resize(column + 1, ' ');
      const auto tenths = static_cast<int>(10 * part.busy_s / length + kRounding);
      busy[column] = tenths >= 10 ? '#' : tenths > 0 ? static_cast<char>('0' + tenths) : '.';
      if (part.late_s + part.latency_s + part.unknown_s >= kShown * length) {
        idle[column] = reason(part);
      }
    }
    page_ += fmt::format("{}busy |{}|\n", std::string(kTextColumn, ' '), left(busy, kParts));
    page_ += fmt::format("{}idle |{}|\n", std::string(kTextColumn, ' '), left(idle, kParts));
  }

  char reason(const blame::FoundDeviceTime& part) const {
    if (part.unknown_s > std::max(part.late_s, part.latency_s)) return '?';
    if (part.latency_s > part.late_s) return '~';
    for (size_t i = 0; i < std::min(idle_.size(), kTopRows); ++i) {
      if (idle_[i].callpath == part.callpath) return static_cast<char>('a' + i);
    }
    return '+';
  }

  /// The rows that matter, with their paths told apart where they would look alike.
  std::vector<std::pair<DeviceBlamed, std::string>> top(const std::vector<DeviceBlamed>& all,
                                                        double sum) const {
    std::vector<std::string> paths;
    for (const DeviceBlamed& row : all) {
      if (paths.size() == kTopRows || row.time_s < kRowMatters * sum) break;
      const blame::FoundCallPath* path = names_.find(row.callpath);
      paths.push_back(path != nullptr ? path->name : names_.region(row.callpath));
    }
    paths = shortened(paths, kPageWidth - kTextColumn - 1);
    std::vector<std::pair<DeviceBlamed, std::string>> rows;
    for (size_t i = 0; i < paths.size(); ++i) rows.emplace_back(all[i], paths[i]);
    return rows;
  }

  std::string on_critical_path(const DeviceBlamed& row) const {
    if (row.critical_s <= 0) return "";
    return fmt::format(", on the critical path for {}", time_(row.critical_s));
  }

  void write_idle_blame() {
    const double sum = findings_.identities.device_idle_s;
    if (sum < kRowMatters * findings_.run.wall_s) return;
    page_ += wrapped(
        "While devices had nothing to do, the hosts that launched next executed this (time on the "
        "critical path is not shown for calls of MPI and of device runtimes):",
        2);
    char mark = 'a';
    for (const auto& [row, path] : top(idle_, sum)) {
      entry(row.time_s, sum, path + on_critical_path(row), mark++);
    }
  }

  void write_wait_blame() {
    const double sum = findings_.identities.device_wait_s;
    if (sum < kRowMatters * findings_.run.wall_s) return;
    page_ += wrapped(
        "While hosts waited for devices, these operations ran (time on the critical path includes "
        "their launch latency):",
        2);
    for (const auto& [row, path] :
         top(device_blamed(findings_, DeviceBlameKind::waiting_host), sum)) {
      std::string text = path;
      if (row.alone_s < row.time_s && row.critical_s > 0) {
        text += fmt::format(", {} of it concurrently with others", time_(row.time_s - row.alone_s));
      }
      entry(row.time_s, sum, text + on_critical_path(row));
    }
  }

  void write_launch_bound() {
    double latency = 0, time = 0;
    uint64_t count = 0;
    const blame::FoundDeviceOperation* most = nullptr;
    for (const blame::FoundDeviceOperation& row : findings_.device_operations) {
      if (row.kind != DeviceOperationKind::kernel || !row.launch_bound) continue;
      latency += row.latency_s;
      time += row.time_s;
      count += row.count;
      if (most == nullptr || row.latency_s > most->latency_s) most = &row;
    }
    if (latency < kRowMatters * findings_.run.wall_s) return;
    page_ += wrapped(
        fmt::format("Launch-bound: {} ran for {} after {} of launch latency, above all {}. Fewer, "
                    "larger kernels or a graph of them would reduce it.",
                    counted(count, "kernel"), time_(time), time_(latency),
                    names_.region(most->callpath)),
        2);
  }

  struct Phases {
    double idle_s = 0;
    std::vector<std::pair<double, double>> spans;  ///< begin and end
  };

  /// Parts of the run in which a device is launch-bound, joined where they touch.
  Phases launch_phases(size_t device) const {
    Phases found;
    for (const blame::FoundDeviceTime& part : findings_.device_times) {
      if (part.device.index() != device || !part.launch_bound) continue;
      found.idle_s += part.launching_s + part.latency_s;
      if (found.spans.empty() || found.spans.back().second != part.begin_s) {
        found.spans.emplace_back(part.begin_s, part.end_s);
      }
      found.spans.back().second = part.end_s;
    }
    return found;
  }

  /// Of the device that has most of them.
  void write_launch_phases() {
    Phases worst;
    size_t of = 0;
    for (size_t i = 0; i < findings_.devices.size(); ++i) {
      Phases phases = launch_phases(i);
      if (phases.idle_s > worst.idle_s) worst = std::move(phases), of = i;
    }
    if (worst.idle_s < kRowMatters * findings_.run.wall_s) return;
    std::vector<std::string> spans;
    for (const auto& [begin, end] : worst.spans) {
      if (spans.size() == kTopSpans) break;
      spans.push_back(fmt::format("from {} to {}", time_(begin), time_(end)));
    }
    if (worst.spans.size() > kTopSpans) {
      spans.push_back(fmt::format("{} more", worst.spans.size() - kTopSpans));
    }
    page_ +=
        wrapped(fmt::format("{} is launch-bound {}: for {} of that time it was idle while hosts "
                            "were launching, or before launched work started.",
                            name_of(findings_.devices[of]), listed(spans), time_(worst.idle_s)),
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
        fmt::format("{} of {} that wait for a device had nothing to wait for, and took {}; most "
                    "of them: {}.",
                    grouped(redundant), counted(count, "call"), time_(time),
                    names_.path(most->callpath, kPageWidth / 2)),
        2);
  }

  void write_pageable() {
    uint64_t copies = 0;
    for (const blame::FoundDevice& row : findings_.devices) copies += row.pageable_copies;
    if (copies == 0) return;
    page_ += wrapped(fmt::format("{} to or from pageable memory: they block the host and cannot "
                                 "overlap with kernels. Pin it (cudaMallocHost, cudaHostRegister).",
                                 counted(copies, "copy", "copies")),
                     2);
  }

  const Findings& findings_;
  const PageNames& names_;
  const TimeFormat& time_;
  const std::vector<DeviceBlamed> idle_;
  std::string page_;
};

}  // namespace

std::vector<DeviceBlamed> device_blamed(const Findings& findings, DeviceBlameKind kind) {
  std::map<CallPathId, DeviceBlamed> sums;
  for (const blame::FoundDeviceBlame& row : findings.device_blame) {
    if (row.kind != kind) continue;
    DeviceBlamed& sum = sums[row.callpath];
    sum.callpath = row.callpath;
    sum.time_s += row.time_s;
    sum.alone_s += row.alone_s;
    sum.between_s += row.between_s;
    sum.critical_s = row.critical_s;  // the same in all rows
  }
  std::vector<DeviceBlamed> rows;
  for (const auto& [path, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceBlamed& a, const DeviceBlamed& b) {
    return a.time_s > b.time_s;
  });
  return rows;
}

std::vector<DeviceBlamed> own_idle_device(const Findings& findings) {
  std::vector<DeviceBlamed> rows = device_blamed(findings, DeviceBlameKind::idle_device);
  std::erase_if(rows, [&](const DeviceBlamed& row) {
    return row.callpath.valid() && findings.callpaths[row.callpath.index()].start_up;
  });
  return rows;
}

std::string device_verdict(const Findings& findings, const PageNames& names) {
  constexpr double kMuch = 0.25;
  const auto blamed = own_idle_device(findings);
  double start_up = 0;
  for (const DeviceBlamed& row : device_blamed(findings, DeviceBlameKind::idle_device))
    start_up += row.time_s;
  for (const DeviceBlamed& row : blamed) start_up -= row.time_s;
  const double late = findings.identities.device_idle_s - start_up;
  const double whole =
      static_cast<double>(findings.devices.size()) * findings.run.wall_s - start_up;
  if (blamed.empty() || late < kMuch * whole) return "";
  return fmt::format(
      "{} had nothing to do for {} of {} time, and {} of that was while hosts executed {}.",
      findings.devices.size() == 1 ? "The device" : "The devices", percent(late, whole),
      findings.devices.size() == 1 ? "the" : "their", percent(blamed.front().time_s, late),
      names.code(blamed.front().callpath));
}

std::string device_section(const Findings& findings, const PageNames& names,
                           const TimeFormat& time) {
  return findings.devices.empty() ? "" : Section(findings, names, time).write();
}

}  // namespace culprit::report
