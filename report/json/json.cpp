// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings as one JSON object. The keys are an interface for programs: keys may be added, none may
// change its meaning. Locations are named rank.thread, call paths by their regions joined with '/',
// patterns by their ids; nothing is shortened. Names in a trace need not be UTF-8: bytes that are
// not are replaced, so the output is always JSON.

#include "base/printable.h"
#include "blame/judge/evidence.h"
#include "blame/judge/summary.h"
#include "report/formats.h"
#include "report/json/rows.h"
#include "report/json/verdict_json.h"
#include "report/words/patterns.h"

namespace culprit::report {
namespace {

using blame::Findings;

/// Of docs/findings.schema.json. Its number changes when a key changes its meaning.
constexpr const char* kSchema = "culprit-findings-1";

template <class Rows, class Convert>
Json list(const Rows& rows, Convert convert) {
  Json array = Json::array();
  for (const auto& row : rows) array.push_back(convert(row));
  return array;
}

template <class Row>
Json with_sentences(const JsonValues& values, const Row& row, const char* key,
                    const std::vector<std::string>& sentences) {
  Json object = values.row(row);
  object[key] = sentences;
  return object;
}

/// If the time without a core was not measured, the time on a core is unknown, too.
Json processes_of(const Findings& f, const JsonValues& values) {
  return list(f.processes, [&](const blame::FoundProcess& row) {
    Json object = values.row(row);
    if (blame::lacks(row.core_wait_s)) object["on_core_s"] = nullptr;
    return object;
  });
}

/// Groups of those that wait for each other.
Json stuck_of(const Findings& f, const JsonValues& values) {
  Json groups = Json::array();
  size_t next = 0;  // helpers are in the order of the stuck locations that wait for them
  for (size_t i = 0; i < f.stuck.size(); ++i) {
    const blame::FoundStuck& row = f.stuck[i];
    if (i == 0 || row.group_id != f.stuck[i - 1].group_id) {
      groups.push_back(
          {{"kind", row.deadlock ? "deadlock" : "unanswered"}, {"members", Json::array()}});
    }
    Json member =
        with_first({"location", "call", "callpath", "place", "since_s", "why"}, values.row(row));
    member.erase("group_id");
    member.erase("deadlock");
    member["waits_for"] = Json::array();
    for (; next < f.stuck_helpers.size() && f.stuck_helpers[next].stuck.index() == i; ++next) {
      member["waits_for"].push_back(values(f.stuck_helpers[next].location));
    }
    groups.back()["members"].push_back(member);
  }
  return groups;
}

Json delays_of(const Findings& f, const JsonValues& values) {
  const blame::Evidence evidence(f);
  return list(f.delays, [&](const blame::FoundDelay& d) {
    Json object = with_first({"callpath", "location"}, values.row(d));
    const std::optional<uint64_t> samples = evidence.samples(d.callpath);
    object["samples"] = samples ? Json(*samples) : Json();
    return object;
  });
}

/// Call paths with their locations.
Json critical_path_of(const Findings& f, const JsonValues& values) {
  return list(on_critical_path(f), [&](const blame::OnCriticalPath& c) {
    const Json locations = list(c.shares, [&](const blame::Share& share) {
      return Json{{"location", values(share.location)}, {"time_s", share.time_s}};
    });
    return Json{{"callpath", values(c.callpath)},
                {"time_s", c.time_s},
                {"imbalance_s", c.imbalance_s},
                {"locations", locations}};
  });
}

/// The time on the path is said there.
Json impacts_of(const Findings& f, const JsonValues& values) {
  return list(f.critical_callpaths, [&](const blame::FoundCriticalCallPath& c) {
    Json object =
        with_first({"callpath", "impact_s", "activity_s", "intra_s", "inter_s"}, values.row(c));
    object.erase("time_s");
    return object;
  });
}

Json counters_of(const Findings& f, const JsonValues& values) {
  return list(f.counts, [&](const blame::FoundCount& c) {
    Json object = with_first({"counter", "unit"}, values.row(c));
    object["unit"] = f.metrics[c.metric.index()].unit;
    return object;
  });
}

/// Rows of a list that are of this model, without saying so.
template <class Rows>
Json of_model(const Rows& rows, size_t model, const JsonValues& values) {
  Json array = Json::array();
  for (const auto& row : rows) {
    if (row.model.index() != model) continue;
    Json object = values.row(row);
    object.erase("model");
    array.push_back(std::move(object));
  }
  return array;
}

/// Returns the models with their terms.
Json models_of(const Findings& f, const JsonValues& values) {
  Json array = Json::array();
  for (size_t i = 0; i < f.models.size(); ++i) {
    Json object = values.row(f.models[i]);
    object["terms"] = of_model(f.model_terms, i, values);
    object["leads"] = of_model(f.model_leads, i, values);
    array.push_back(std::move(object));
  }
  return array;
}

Json losses_of(const Findings& f, const JsonValues& values) {
  return list(f.losses.all(), [&](const auto& entry) {
    const auto& [name, loss] = entry;
    return values.row(blame::FoundLoss{name, loss.count, loss.severity, loss.advice});
  });
}

}  // namespace

std::string json(const Findings& f, const std::filesystem::path&) {
  const JsonValues values{f};
  const Json object = {
      {"schema", kSchema},
      {"tool", "culprit"},
      {"run", with_sentences(values, f.run, "notes", f.run.notes)},
      {"verdict", verdict_json(f)},
      {"start_up", values.row(f.start_up)},
      {"progress", values.row(f.progress)},
      {"processes", processes_of(f, values)},
      {"tasks", values.rows(f.tasks)},
      {"core_takers", values.rows(f.core_takers)},
      {"core_times", values.rows(f.core_times)},
      {"lines", values.rows(f.lines)},
      {"identities", with_sentences(values, f.identities, "violations", f.identities.violations)},
      {"patterns", values.rows(found_patterns())},
      {"stuck", stuck_of(f, values)},
      {"waits", values.rows(f.waits)},
      {"delays", delays_of(f, values)},
      {"gains", values.rows(f.gains)},
      {"function_gains", values.rows(f.function_gains)},
      {"victims", values.rows(f.victims)},
      {"unattributed", values.rows(f.unattributed)},
      {"critical_path", critical_path_of(f, values)},
      {"performance_impacts", impacts_of(f, values)},
      {"efficiencies", values.rows(f.efficiencies)},
      {"tiles", values.rows(f.tiles)},
      {"unexplained", values.rows(f.unexplained)},
      {"kernel_times", values.rows(f.kernel_times)},
      {"rank_spreads", values.rows(f.rank_spreads)},
      {"parallelism", values.rows(f.parallelism)},
      {"shared_calls", values.rows(f.shared_calls)},
      {"spare_threads", values.rows(f.spare_threads)},
      {"idle_blame", values.rows(f.idle_blame)},
      {"idle_nobody", values.rows(f.idle_nobody)},
      {"lock_blame", values.rows(f.lock_blame)},
      {"diagnoses", values.rows(f.diagnoses)},
      {"polling", values.rows(f.polling)},
      {"polling_causes", values.rows(f.polling_causes)},
      {"message_use", values.rows(f.message_use)},
      {"refills", values.rows(f.refills)},
      {"arrivals", values.rows(f.arrivals)},
      {"devices", values.rows(f.devices)},
      {"device_times", values.rows(f.device_times)},
      {"device_blame", values.rows(f.device_blame)},
      {"device_calls", values.rows(f.device_calls)},
      {"device_operations", values.rows(f.device_operations)},
      {"worst_waits", values.rows(f.instances)},
      {"distributions", values.rows(f.distributions)},
      {"counters", counters_of(f, values)},
      {"stages", values.rows(f.stages)},
      {"coverage", values.rows(f.coverage)},
      {"windows", values.rows(f.windows)},
      {"estimates", values.rows(f.estimates)},
      {"periods", values.rows(f.periods)},
      {"locations", values.rows(f.locations)},
      {"topologies", values.rows(f.topologies)},
      {"topology_places", values.rows(f.topology_places)},
      {"inputs", values.rows(f.inputs)},
      {"changes", values.rows(f.changes)},
      {"parameters", values.rows(f.parameters)},
      {"scaling_losses", values.rows(f.scaling_losses)},
      {"model_parameters", values.rows(f.model_parameters)},
      {"models", models_of(f, values)},
      {"next_runs", values.rows(f.next_runs)},
      {"user_patterns", values.rows(f.user_patterns)},
      {"user_waits", values.rows(f.user_waits)},
      {"losses", losses_of(f, values)}};
  return printable_json(object.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace culprit::report
