// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Paths in the folder are spelled here and nowhere else. JSON is read leniently: what is missing or
// of another type has its default.
#include "cli/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "base/files/guarded_path.h"
#include "base/files/json_text.h"
#include "blame/judge/diagnose.h"
#include "cli/installation.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string formatted(std::time_t moment, const char* format) {
  std::tm local = {};
  localtime_r(&moment, &local);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

std::string formatted_now(const char* format) {
  return formatted(std::time(nullptr), format);
}

constexpr const char* kForPeople = "%Y-%m-%dT%H:%M:%S%z";

/// As ISO 8601; empty if it cannot be known.
std::string time_of_change(const fs::path& file) {
  std::error_code code;
  const fs::file_time_type time = fs::last_write_time(file, code);
  if (code) return "";
  const auto system = std::chrono::file_clock::to_sys(time);
  return formatted(std::chrono::system_clock::to_time_t(
                       std::chrono::time_point_cast<std::chrono::seconds>(system)),
                   kForPeople);
}

Error cannot_make(const fs::path& folder, const std::error_code& code) {
  return Error{"cannot create the experiment folder '" + folder.string() + "': " + code.message()};
}

/// Null if there is none or it is no JSON object.
Json parsed(const GuardedPath& file) {
  const std::string text = file.read(kLargestJson).value_or("");
  Json json;
  if (is_shallow_json(text)) json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json();
}

/// The field, or what is given if it is absent or of another type.
template <class T>
T field(const Json& json, const char* key, T otherwise) {
  const auto it = json.find(key);
  if (it == json.end()) return otherwise;
  try {
    return it->get<T>();
  } catch (const Json::exception&) {
    return otherwise;
  }
}

/// A folder's name must not be longer than 255 bytes. What is left of UTF-8 is UTF-8.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 200;
  if (name.size() <= kMost) return name;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) --end;
  return name.substr(0, end);
}

std::string first_of(const std::string& a, const std::string& b, const std::string& c) {
  return !a.empty() ? a : !b.empty() ? b : c;
}

}  // namespace

fs::path info_file(const fs::path& experiment) {
  return experiment / "experiment.json";
}

fs::path findings_file(const fs::path& experiment) {
  return experiment / "findings.db";
}

fs::path trace_of(const fs::path& experiment, const ExperimentInfo& info) {
  if (!info.trace.empty()) return info.trace;
  if (assemble::has_records(experiment)) return experiment / "raw";
  return experiment / "trace" / "traces.otf2";
}

std::string time_for_names() {
  return formatted_now("%Y%m%d-%H%M%S");
}
std::string time_for_people() {
  return formatted_now(kForPeople);
}

Result<void> check_new(const fs::path& wanted) {
  std::error_code code;
  if (wanted.empty() || !fs::exists(fs::symlink_status(wanted, code))) return {};
  return Error{"'" + wanted.string() + "' already exists: name a new folder with -o"};
}

Result<fs::path> create_experiment(const fs::path& wanted, const std::string& name) {
  std::error_code code;
  if (!wanted.empty()) {
    const fs::path folder = fs::absolute(wanted).lexically_normal();
    if (fs::create_directory(folder, code)) return folder;
    if (auto is_new = check_new(wanted); !is_new) return is_new.error();
    return cannot_make(wanted, code);
  }
  const fs::path base =
      fs::current_path() / ("culprit." + shortened(name) + "." + time_for_names());
  fs::path folder = base;
  for (int n = 2; !fs::create_directory(folder, code); ++n) {
    if (code) return cannot_make(folder, code);
    folder = base;
    folder += "-" + std::to_string(n);
  }
  return folder;
}

Result<void> write_info(const fs::path& experiment, const ExperimentInfo& info) {
  Json json = parsed(GuardedPath::of_file(info_file(experiment)));
  if (json.is_null()) json = Json::object();
  json["culprit"] = kVersion;
  json["command"] = info.command;
  json["program"] = info.program;
  json["date"] = info.date;
  json["exit_status"] = info.exit_status;
  if (info.system_s >= 0) {
    json["user_s"] = info.user_s;
    json["system_s"] = info.system_s;
    json["page_faults"] = info.page_faults;
  }
  if (!info.job.empty()) json["job"] = info.job;
  if (!info.operation.empty()) json["operation"] = info.operation;
  if (!info.selected.empty()) json["selected"] = info.selected;
  if (!info.parameters.empty()) json["parameters"] = info.parameters;
  if (!info.trace.empty()) json["trace"] = info.trace;
  if (!info.traces.empty()) json["traces"] = info.traces;
  return GuardedPath::of_file(info_file(experiment))
      .replace(json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

Result<ExperimentInfo> read_info(const fs::path& experiment) {
  std::error_code code;
  if (!fs::exists(experiment, code)) {
    return Error{"there is no '" + experiment.string() + "'"};
  }
  const Json json = parsed(GuardedPath::of_file(info_file(experiment)));
  if (json.is_null() || !json.contains("culprit")) {
    return Error{"'" + experiment.string() + "' is not an experiment of culprit"};
  }
  ExperimentInfo info;
  info.command = field<std::string>(json, "command", "");
  info.program = field<std::string>(json, "program", "");
  info.date = field<std::string>(json, "date", "");
  info.job = field<std::string>(json, "job", "");
  info.operation = field<std::string>(json, "operation", "");
  info.trace = field<std::string>(json, "trace", "");
  info.traces = field<std::vector<std::string>>(json, "traces", {});
  info.exit_status = field<int>(json, "exit_status", 0);
  info.user_s = field<double>(json, "user_s", -1);
  info.system_s = field<double>(json, "system_s", -1);
  info.page_faults = field<uint64_t>(json, "page_faults", 0);
  info.selected = field<std::vector<std::string>>(json, "selected", {});
  info.parameters = field<std::map<std::string, double>>(json, "parameters", {});
  return info;
}

namespace {

void merge_stuck(const std::vector<assemble::StuckGroup>& groups, blame::Findings& findings) {
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const assemble::StuckMember& member : groups[i].members) {
      if (member.location >= findings.locations.size()) continue;
      for (const uint32_t helper : member.waits_for) {
        if (helper >= findings.locations.size()) continue;
        findings.stuck_helpers.push_back(
            {blame::FoundStuckId(findings.stuck.size()), LocationId(helper)});
      }
      findings.stuck.push_back({static_cast<uint32_t>(i), groups[i].deadlock, member.in_circle,
                                LocationId(member.location), member.call, member.callpath,
                                member.place, member.since_s, member.why});
    }
  }
}

/// Returns a note if the program died of culprit's sampling signal: even if others may have sent
/// it, culprit may have killed the program.
std::optional<std::string> end_by_sample(const assemble::RunFacts& facts, int exit_status) {
  constexpr int kKilled = 128;  // as shells say it
  const auto signal = static_cast<int>(facts.sampling_signal);
  if (signal == 0 || (exit_status != kKilled + signal && exit_status != -signal)) return {};
  return fmt::format(
      "The program was ended by signal {}, which samples use: culprit may have ended it. Measure "
      "it with --sampling 0.",
      signal);
}

}  // namespace

namespace {

blame::CoreTakerKind kind_of(assemble::CoreTakerKind kind) {
  switch (kind) {
    case assemble::CoreTakerKind::others:
      return blame::CoreTakerKind::others;
    case assemble::CoreTakerKind::helpers:
      return blame::CoreTakerKind::helpers;
    case assemble::CoreTakerKind::quota:
      return blame::CoreTakerKind::quota;
    case assemble::CoreTakerKind::hypervisor:
      return blame::CoreTakerKind::hypervisor;
    case assemble::CoreTakerKind::binding:
      return blame::CoreTakerKind::binding;
    case assemble::CoreTakerKind::own:
      return blame::CoreTakerKind::own;
    case assemble::CoreTakerKind::unknown:
      break;
  }
  return blame::CoreTakerKind::unknown;
}

void merge_cores(const assemble::RunFacts& facts, blame::Findings& findings) {
  for (const assemble::ProcessCores& row : facts.cores) {
    findings.processes.push_back({row.rank, row.node, row.cores, row.node_cores, row.on_core_s,
                                  row.core_wait_s, row.program, row.number});
  }
  for (const assemble::TaskGroup& row : facts.tasks) {
    findings.tasks.push_back({row.rank, row.library, row.name, row.threads, row.recorded,
                              row.on_core_s, row.core_wait_s});
  }
  for (const assemble::CoreTaker& row : facts.core_takers) {
    findings.core_takers.push_back(
        {row.node, kind_of(row.kind), row.name, row.process, row.processes, row.cpu_s, row.time_s});
  }
  for (const assemble::CoreTime& row : facts.core_times) {
    findings.core_times.push_back(
        {row.rank, row.begin_s, row.end_s, row.on_core_s, row.core_wait_s});
  }
}

void merge_lines(const std::vector<assemble::CostlyLine>& lines, blame::Findings& findings) {
  for (const assemble::CostlyLine& row : lines) {
    findings.lines.push_back({row.function, row.function_file, row.function_line, row.file,
                              row.line, row.samples, row.function_samples});
  }
}

}  // namespace

std::vector<std::pair<fs::path, ExperimentInfo>> experiments_in(const fs::path& folder) {
  std::vector<std::pair<fs::path, ExperimentInfo>> found;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::error_code gone;
    if (!fs::is_regular_file(info_file(at->path()), gone)) continue;
    auto info = read_info(at->path());
    if (!info) continue;
    // Traces of other tools are as old as the experiments made of them.
    if (info->date.empty()) info->date = time_of_change(info_file(at->path()));
    found.emplace_back(at->path(), std::move(info).value());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.date != b.second.date ? a.second.date > b.second.date : a.first > b.first;
  });
  return found;
}

Result<fs::path> newest_experiment(const fs::path& folder) {
  const auto found = experiments_in(folder);
  if (found.empty()) {
    return Error{
        "no experiment was named, and there is none here: name its folder, or measure a "
        "program with `culprit run -- ...`"};
  }
  const auto run = std::find_if(found.begin(), found.end(),
                                [](const auto& entry) { return entry.second.operation.empty(); });
  return (run == found.end() ? found.front() : *run).first.lexically_normal();
}

void merge_facts(const assemble::RunFacts& facts, const ExperimentInfo& info,
                 blame::Findings& findings) {
  blame::RunInfo& run = findings.run;
  run.command = first_of(info.command, facts.command, run.command);
  run.program = first_of(facts.program, info.program, run.program);
  run.date = first_of(info.date, run.date, "");
  run.mpi = first_of(facts.mpi, run.mpi, "");
  run.openmp = first_of(facts.openmp, run.openmp, "");
  if (facts.overhead_pct >= 0) run.overhead_pct = facts.overhead_pct;
  run.exit_status = info.exit_status;
  run.user_s = info.user_s;
  run.system_s = info.system_s;
  run.page_faults = info.page_faults;
  merge_cores(facts, findings);
  merge_stuck(facts.stuck, findings);
  merge_lines(facts.lines, findings);
  for (const auto& [name, value] : info.parameters) findings.parameters.push_back({name, value});
  run.notes.insert(run.notes.end(), info.selected.begin(), info.selected.end());
  run.notes.insert(run.notes.end(), facts.notes.begin(), facts.notes.end());
  if (auto note = end_by_sample(facts, info.exit_status)) run.notes.push_back(std::move(*note));
  blame::diagnose(findings);  // with the additional facts
}

bool has_raw_records(const fs::path& experiment) {
  const GuardedPath raw = GuardedPath(experiment) / "raw";
  for (const std::string& process : raw.list()) {
    for (const std::string& name : (raw / process).list()) {
      if (!name.starts_with("events.")) continue;
      const auto file = (raw / process / name).open();
      if (file && file->size() > 0) return true;
    }
  }
  return false;
}

fs::path for_display(const fs::path& path) {
  std::error_code code;
  const fs::path here = fs::current_path(code);  // relative() throws where there is none
  if (code) return path;
  const fs::path relative = fs::relative(path, here, code);
  if (code || relative.empty() || relative.string().size() >= path.string().size()) return path;
  return relative;
}

}  // namespace culprit::cli
