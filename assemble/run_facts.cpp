// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each struct lists its members once more, in the order in which they are written; a member missing
// in an older file keeps its default.
#include "assemble/run_facts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/files/guarded_path.h"
#include "base/files/json_text.h"

namespace culprit {

// The JSON library finds these by their names, in the structs' own namespaces.

static void to_json(nlohmann::json& rows, const Losses& losses) {
  rows = nlohmann::json::array();
  for (const auto& [name, loss] : losses.all()) {
    rows.push_back({{"name", name},
                    {"count", loss.count},
                    {"severity", to_string(loss.severity)},
                    {"advice", loss.advice}});
  }
}

static void from_json(const nlohmann::json& rows, Losses& losses) {
  for (const nlohmann::json& loss : rows) {
    losses.restore(loss.value("name", ""),
                   {loss.value("count", uint64_t{0}), severity_named(loss.value("severity", "")),
                    loss.value("advice", "")});
  }
}

namespace assemble {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ProcessCores, rank, node, cores, node_cores,
                                                on_core_s, core_wait_s, program, number)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TaskGroup, rank, library, name, threads, recorded,
                                                on_core_s, core_wait_s)
NLOHMANN_JSON_SERIALIZE_ENUM(CoreTakerKind, {{CoreTakerKind::unknown, "unknown"},
                                             {CoreTakerKind::others, "others"},
                                             {CoreTakerKind::helpers, "helpers"},
                                             {CoreTakerKind::quota, "quota"},
                                             {CoreTakerKind::hypervisor, "hypervisor"},
                                             {CoreTakerKind::binding, "binding"},
                                             {CoreTakerKind::own, "own"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CoreTaker, node, kind, name, process, processes,
                                                cpu_s, time_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CoreTime, rank, begin_s, end_s, on_core_s,
                                                core_wait_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StuckMember, location, name, call, callpath, place,
                                                since_s, waits_for, why, in_circle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StuckGroup, deadlock, members)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CostlyLine, function, function_file, function_line,
                                                file, line, samples, function_samples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RunFacts, command, program, mpi, openmp, processes,
                                                sampling_signal, records, events, overhead_pct,
                                                clock_error_ns, cores, tasks, core_takers,
                                                core_times, stuck, lines, notes, losses)

namespace {

/// The whole of experiment.json; an empty object if there is none or it is damaged.
nlohmann::json read_experiment(const GuardedPath& file) {
  const std::string text = file.read(kLargestJson).value_or("");
  nlohmann::json whole;
  if (is_shallow_json(text)) whole = nlohmann::json::parse(text, nullptr, false);
  return whole.is_object() ? whole : nlohmann::json::object();
}

}  // namespace

Result<void> write_facts(const std::filesystem::path& experiment, const RunFacts& facts) {
  const GuardedPath file = GuardedPath(experiment) / "experiment.json";
  nlohmann::json whole = read_experiment(file);
  whole["measured"] = facts;
  // Command lines are bytes; JSON is UTF-8.
  return file.replace(whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

Result<RunFacts> read_facts(const std::filesystem::path& experiment) {
  const nlohmann::json whole = read_experiment(GuardedPath(experiment) / "experiment.json");
  const auto measured = whole.find("measured");
  if (measured == whole.end() || !measured->is_object()) {
    return Error{fmt::format("{} keeps no facts about its run yet", experiment.string())};
  }
  try {
    return measured->get<RunFacts>();
  } catch (const nlohmann::json::exception&) {
    return Error{fmt::format("{} is damaged", (experiment / "experiment.json").string())};
  }
}

}  // namespace assemble
}  // namespace culprit
