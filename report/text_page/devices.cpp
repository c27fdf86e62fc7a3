// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sections of the page in the order of a reader's questions: how busy the devices were, why they
// idled, what was waited for, what to do. All judgements are in the findings (blame/judge/).
#include "report/text_page/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "blame/judge/diagnose.h"

namespace culprit::report {

namespace {

using blame::Amount;
using blame::device_blamed;
using blame::DeviceBlamed;
using blame::DeviceBlameKind;
using blame::Diagnosis;
using blame::Findings;
using blame::FoundDiagnosis;
using blame::Proportion;

constexpr size_t kTopRows = 5;
constexpr double kRowMatters = blame::kWorthALine;
constexpr size_t kTopSpans = 3;
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
  /// Of the run time, or of the sum of a list.
  template <class Whole>
  void entry(Amount<Whole> part, Amount<Whole> whole, const std::string& text, char mark = ' ') {
    page_ += beside(fmt::format(" {} {} {}", mark, right(time_(part.seconds()), 11),
                                right(percent(Proportion::of(part, whole)), 8)),
                    text);
  }
  void remark(const std::string& text) { page_ += wrapped(text, text_column()); }

  /// Writes a line for each of the busiest devices.
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
    entry(Amount<blame::DeviceTime>(row.busy_s), Amount<blame::DeviceTime>(wall),
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

  /// Returns a device's name, with its first stream where several devices of that name are on the
  /// node.
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
    const size_t drawn = kParts + std::string_view("busy ||").size();
    if (page_width() < drawn) return;
    const std::string indent(std::min(text_column(), page_width() - drawn), ' ');
    page_ += fmt::format("{}busy |{}|\n", indent, left(busy, kParts));
    page_ += fmt::format("{}idle |{}|\n", indent, left(idle, kParts));
  }

  char reason(const blame::FoundDeviceTime& part) const {
    if (part.unknown_s > std::max(part.late_s, part.latency_s)) return '?';
    if (part.latency_s > part.late_s) return '~';
    for (size_t i = 0; i < std::min(idle_.size(), kTopRows); ++i) {
      const auto& paths = idle_[i].callpaths;
      const bool is_it = std::find(paths.begin(), paths.end(), part.callpath) != paths.end();
      if (is_it) return static_cast<char>('a' + i);
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
      const bool is_one = path != nullptr && row.callpaths.size() == 1;
      paths.push_back(is_one ? path->name : names_.code(row.callpath));
    }
    paths = shortened(paths, room_behind(text_column() + 1));
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
      entry(Amount<blame::Row>(row.time_s), Amount<blame::Row>(sum), path + on_critical_path(row),
            mark++);
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
      entry(Amount<blame::Row>(row.time_s), Amount<blame::Row>(sum), text + on_critical_path(row));
    }
  }

  void write_launch_bound() {
    const FoundDiagnosis* const row = find_diagnosis(findings_, Diagnosis::launch_bound_kernels);
    if (row == nullptr) return;
    page_ += wrapped(
        fmt::format("Launch-bound: {} ran for {} after {} of launch latency, above all {}. Fewer, "
                    "larger kernels or a graph of them would reduce it.",
                    counted(row->count, "kernel"), time_(row->whole_s - row->time_s),
                    time_(row->time_s), names_.region(row->callpath)),
        2);
  }

  /// Begin and end of the parts of the run in which a device is launch-bound, joined where they
  /// touch.
  std::vector<std::pair<double, double>> launch_bound_spans(
      const blame::FoundDevice& device) const {
    std::vector<std::pair<double, double>> spans;
    for (const blame::FoundDeviceTime& part : findings_.device_times) {
      if (&findings_.devices[part.device.index()] != &device || !part.launch_bound) continue;
      if (spans.empty() || spans.back().second != part.begin_s) {
        spans.emplace_back(part.begin_s, part.end_s);
      }
      spans.back().second = part.end_s;
    }
    return spans;
  }

  void write_launch_phases() {
    const FoundDiagnosis* const row = find_diagnosis(findings_, Diagnosis::launch_bound_phases);
    if (row == nullptr) return;
    const auto device = std::find_if(
        findings_.devices.begin(), findings_.devices.end(),
        [&](const blame::FoundDevice& each) { return each.location == row->location; });
    if (device == findings_.devices.end()) return;
    const auto all = launch_bound_spans(*device);
    std::vector<std::string> spans;
    for (const auto& [begin, end] : all) {
      if (spans.size() == kTopSpans) break;
      spans.push_back(fmt::format("from {} to {}", time_(begin), time_(end)));
    }
    if (all.size() > kTopSpans) spans.push_back(fmt::format("{} more", all.size() - kTopSpans));
    page_ +=
        wrapped(fmt::format("{} is launch-bound {}: for {} of that time it was idle while hosts "
                            "were launching, or before launched work started.",
                            name_of(*device), listed(spans), time_(row->time_s)),
                2);
  }

  void write_redundant() {
    const FoundDiagnosis* const row = find_diagnosis(findings_, Diagnosis::redundant_waits);
    if (row == nullptr) return;
    page_ += wrapped(
        fmt::format("{} of {} that wait for a device had nothing to wait for, and took {}; most "
                    "of them: {}.",
                    grouped(row->count), counted(row->all_count, "call"), time_(row->time_s),
                    names_.path(row->callpath, page_width() / 2)),
        2);
  }

  void write_pageable() {
    const FoundDiagnosis* const row = find_diagnosis(findings_, Diagnosis::pageable_copies);
    if (row == nullptr) return;
    page_ += wrapped(fmt::format("{} to or from pageable memory: they block the host and cannot "
                                 "overlap with kernels. Pin it (cudaMallocHost, cudaHostRegister).",
                                 counted(row->count, "copy", "copies")),
                     2);
  }

  const Findings& findings_;
  const PageNames& names_;
  const TimeFormat& time_;
  const std::vector<DeviceBlamed> idle_;
  std::string page_;
};

}  // namespace

std::string device_section(const Findings& findings, const PageNames& names,
                           const TimeFormat& time) {
  return findings.devices.empty() ? "" : Section(findings, names, time).write();
}

}  // namespace culprit::report
