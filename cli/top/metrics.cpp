// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. A label whose
// value changes makes a new series, and the old one ends: names of functions are such labels, so
// only the first few are written.
#include "cli/top/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/printable.h"
#include "report/words/names.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestValue = 200;

/// As a value of a label: backslash, quote and line feed are escaped.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : printable(std::string(value))) {
    if (text.size() >= kLongestValue) break;
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Page {
 public:
  Page(std::string program, std::string experiment)
      : common_{{"program", std::move(program)}, {"experiment", std::move(experiment)}} {}

  void metric(std::string_view name, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP culprit_{} {}\n# TYPE culprit_{} gauge\n", name, help, name);
  }
  void value(double value, const Labels& labels = {}) {
    text_ += fmt::format("culprit_{}{{", name_);
    bool first = true;
    for (const Labels* list : std::initializer_list<const Labels*>{&common_, &labels}) {
      for (const auto& [key, text] : *list) {
        text_ += fmt::format("{}{}=\"{}\"", first ? "" : ",", key, escaped(text));
        first = false;
      }
    }
    text_ += fmt::format("}} {}\n", value);
  }
  std::string take() { return std::move(text_); }

 private:
  Labels common_;
  std::string_view name_;
  std::string text_;
};

/// The largest sums by name.
std::vector<std::pair<std::string, double>> largest(const std::map<std::string, double>& sums) {
  std::vector<std::pair<std::string, double>> list(sums.begin(), sums.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  list.resize(std::min(list.size(), kMostNamed));
  return list;
}

void add_run(const Now& now, Page& page) {
  const blame::RunInfo& run = now.findings.run;
  page.metric("running", "1 while the program runs");
  page.value(now.runs ? 1 : 0);
  page.metric("looked_at_timestamp_seconds", "When these figures were made, since 1970");
  page.value(now.at_s);
  if (now.newest_s > 0) {
    page.metric("newest_record_timestamp_seconds", "When the newest record was made, since 1970");
    page.value(now.newest_s);
  }
  page.metric("run_seconds", "How long the run has lasted");
  page.value(run.wall_s);
  page.metric("ranks", "Ranks, or processes");
  page.value(run.ranks);
  page.metric("threads", "Threads and device streams");
  page.value(run.locations);
  if (run.overhead_pct >= 0) {
    page.metric("overhead_ratio", "Estimated cost of measuring, as a part of the run");
    page.value(run.overhead_pct / 100);
  }
}

void add_waiting(const blame::Findings& findings, Page& page) {
  const double all_s = findings.run.allocation_s;
  if (all_s <= 0) return;
  std::map<std::string, double> patterns;
  double waiting_s = 0;
  for (const blame::FoundWait& wait : findings.waits) {
    patterns[wait.pattern] += wait.time_s;
    waiting_s += wait.time_s;
  }
  page.metric("waiting_ratio", "Waiting, as a part of the time of all threads");
  page.value(waiting_s / all_s);
  if (!patterns.empty()) {
    page.metric("waiting_by_pattern_ratio", "The same by wait pattern, the largest");
    for (const auto& [id, time_s] : largest(patterns))
      page.value(time_s / all_s, {{"pattern", id}});
  }
  const report::PageNames names(findings);
  std::map<std::string, double> functions, idle;
  for (const blame::FoundDelay& delay : findings.delays) {
    functions[names.code(delay.callpath)] += delay.short_s + delay.long_s;
  }
  for (const blame::FoundIdleBlame& row : findings.idle_blame) {
    idle[names.code(row.callpath)] += row.time_s;
  }
  if (!functions.empty()) {
    page.metric("blamed_ratio",
                "Waiting caused by a function, as a part of the time of all threads, the largest");
    for (const auto& [name, time_s] : largest(functions)) {
      page.value(time_s / all_s, {{"function", name}});
    }
  }
  if (!idle.empty()) {
    page.metric("idle_blamed_ratio",
                "Idle threads' time while a function ran, as a part of that of all, the largest");
    for (const auto& [name, time_s] : largest(idle)) {
      page.value(time_s / all_s, {{"function", name}});
    }
  }
}

void add_devices(const blame::Findings& findings, Page& page) {
  if (findings.devices.empty()) return;
  double busy_s = 0, idle_s = 0;
  for (const blame::FoundDevice& device : findings.devices) {
    busy_s += device.busy_s;
    idle_s += device.idle_s;
  }
  page.metric("devices", "Devices that the run uses");
  page.value(static_cast<double>(findings.devices.size()));
  if (busy_s + idle_s <= 0) return;
  page.metric("device_busy_ratio", "Part of the time in which devices did something");
  page.value(busy_s / (busy_s + idle_s));
}

}  // namespace

std::string metrics_text(const Now& now, const std::string& experiment) {
  const blame::Findings& findings = now.findings;
  Page page(findings.run.program, experiment);
  add_run(now, page);
  if (!findings.efficiencies.empty()) {
    page.metric("efficiency_ratio", "Parallel efficiency and its factors");
    for (const blame::FoundEfficiency& factor : findings.efficiencies) {
      page.value(factor.value, {{"factor", std::string(to_string(factor.name))}});
    }
  }
  add_waiting(findings, page);
  add_devices(findings, page);
  return page.take();
}

Result<void> write_metrics(const Now& now, const fs::path& experiment, const fs::path& file) {
  return GuardedPath::of_file(file).replace(metrics_text(now, experiment_name(experiment)));
}

}  // namespace culprit::cli
