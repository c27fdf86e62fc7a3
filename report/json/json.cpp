// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings as one JSON object. The keys are an agreement with whoever reads it by program: keys may
// be added, none may change its meaning. Locations are named rank.thread, call paths by their
// regions joined with '/', patterns by their ids; nothing is shortened. Names in a trace need not
// be UTF-8: bytes that are not are replaced, so the output is always JSON.

#include <nlohmann/json.hpp>

#include "report/formats.h"
#include "report/json/verdict_json.h"
#include "report/page/patterns.h"
#include "report/page/stuck.h"
#include "report/verdict/evidence.h"
#include "report/verdict/summary.h"

namespace culprit::report {
namespace {

using blame::Findings;
using Json = nlohmann::ordered_json;

/// Turns ids into names; absent ones into null.
struct Names {
  const Findings& findings;
  Json operator()(CallPathId id) const {
    return id.valid() ? Json(findings.callpaths[id.index()].name) : Json();
  }
  Json operator()(LocationId id) const {
    return id.valid() ? Json(findings.locations[id.index()].name) : Json();
  }
};

template <class Rows, class Convert>
Json list(const Rows& rows, Convert convert) {
  Json array = Json::array();
  for (const auto& row : rows) array.push_back(convert(row));
  return array;
}

Json run_of(const Findings& f) {
  const blame::RunInfo& run = f.run;
  return {{"command", run.command},
          {"program", run.program},
          {"creator", run.creator},
          {"date", run.date},
          {"mpi", run.mpi},
          {"openmp", run.openmp},
          {"ranks", run.ranks},
          {"locations", run.locations},
          {"events", run.events},
          {"wall_s", run.wall_s},
          {"allocation_s", run.allocation_s},
          {"overhead_pct", run.overhead_pct < 0 ? Json() : Json(run.overhead_pct)},
          {"exit_status", run.exit_status},
          {"notes", run.notes}};
}

Json identities_of(const Findings& f) {
  const blame::Identities& i = f.identities;
  return {{"waiting_s", i.waiting_s},
          {"delay_costs_s", i.delay_costs_s},
          {"unattributed_s", i.unattributed_s},
          {"critical_path_s", i.critical_path_s},
          {"wall_s", i.wall_s},
          {"imbalance_costs_s", i.imbalance_costs_s},
          {"imbalance_unattributed_s", i.imbalance_unattributed_s},
          {"idle_s", i.idle_s},
          {"idle_blame_s", i.idle_blame_s},
          {"idle_nobody_s", i.idle_nobody_s},
          {"device_idle_s", i.device_idle_s},
          {"device_idle_blame_s", i.device_idle_blame_s},
          {"device_wait_s", i.device_wait_s},
          {"device_wait_blame_s", i.device_wait_blame_s},
          {"violations", i.violations}};
}

Json patterns_of() {
  return list(patterns(), [](const PatternText& p) {
    return Json{{"id", p.id},           {"parent", p.parent.empty() ? Json() : Json(p.parent)},
                {"name", p.name},       {"unit", p.unit},
                {"summary", p.summary}, {"diagnosis", p.diagnosis},
                {"remedy", p.remedy}};
  });
}

Json waits_of(const Findings& f, Names name) {
  return list(f.waits, [&](const blame::FoundWait& w) {
    return Json{{"pattern", w.pattern},
                {"callpath", name(w.callpath)},
                {"location", name(w.location)},
                {"count", w.count},
                {"time_s", w.time_s},
                {"indirect_s", w.indirect_s},
                {"propagating_s", w.propagating_s}};
  });
}

/// Groups of those that wait for each other.
Json stuck_of(const Findings& f, Names name) {
  Json groups = Json::array();
  for (size_t i = 0; i < f.stuck.size(); ++i) {
    const blame::FoundStuck& row = f.stuck[i];
    if (i == 0 || row.group != f.stuck[i - 1].group) {
      groups.push_back(
          {{"kind", row.deadlock ? "deadlock" : "unanswered"}, {"members", Json::array()}});
    }
    Json waits_for = Json::array();
    for (const LocationId other : waited_for(row)) {
      if (other.index() < f.locations.size()) waits_for.push_back(name(other));
    }
    groups.back()["members"].push_back({{"location", name(row.location)},
                                        {"call", row.call},
                                        {"callpath", row.callpath},
                                        {"place", row.place.empty() ? Json() : Json(row.place)},
                                        {"since_s", row.since_s},
                                        {"waits_for", waits_for},
                                        {"why", row.why},
                                        {"in_circle", row.in_circle}});
  }
  return groups;
}

Json delays_of(const Findings& f, Names name) {
  const Evidence evidence(f);
  return list(f.delays, [&](const blame::FoundDelay& d) {
    const std::optional<uint64_t> samples = evidence.samples(d.callpath);
    return Json{{"callpath", name(d.callpath)}, {"location", name(d.location)},
                {"pattern", d.pattern},         {"short_s", d.short_s},
                {"long_s", d.long_s},           {"samples", samples ? Json(*samples) : Json()}};
  });
}

Json victims_of(const Findings& f, Names name) {
  return list(f.victims, [&](const blame::FoundVictim& v) {
    return Json{{"delay_callpath", name(v.delay_callpath)},
                {"delay_location", name(v.delay_location)},
                {"pattern", v.pattern},
                {"wait_callpath", name(v.wait_callpath)},
                {"wait_location", name(v.wait_location)},
                {"time_s", v.time_s}};
  });
}

Json critical_path_of(const Findings& f, Names name) {
  return list(on_critical_path(f), [&](const OnCriticalPath& c) {
    const Json locations = list(c.shares, [&](const Share& share) {
      return Json{{"location", name(share.location)}, {"time_s", share.time_s}};
    });
    return Json{{"callpath", name(c.callpath)},
                {"time_s", c.time_s},
                {"imbalance_s", c.imbalance_s},
                {"locations", locations}};
  });
}

Json impacts_of(const Findings& f, Names name) {
  return list(f.critical_callpaths, [&](const blame::FoundCriticalCallPath& c) {
    return Json{{"callpath", name(c.callpath)}, {"impact_s", c.impact_s},
                {"activity_s", c.activity_s},   {"intra_s", c.intra_s},
                {"inter_s", c.inter_s},         {"imbalance_s", c.imbalance_s}};
  });
}

Json idle_blame_of(const Findings& f, Names name) {
  return list(f.idle_blame, [&](const blame::FoundIdleBlame& b) {
    return Json{
        {"callpath", name(b.callpath)}, {"location", name(b.location)}, {"time_s", b.time_s}};
  });
}

Json idle_nobody_of(const Findings& f, Names name) {
  return list(f.idle_nobody, [&](const blame::FoundNobody& n) {
    return Json{{"location", name(n.location)}, {"reason", n.reason}, {"time_s", n.time_s}};
  });
}

Json polling_of(const Findings& f, Names name) {
  return list(f.polling, [&](const blame::FoundPolling& p) {
    return Json{{"callpath", name(p.callpath)},
                {"location", name(p.location)},
                {"count", p.count},
                {"time_s", p.time_s}};
  });
}

Json polling_causes_of(const Findings& f, Names name) {
  return list(f.polling_causes, [&](const blame::FoundPollingCause& c) {
    return Json{
        {"callpath", name(c.callpath)}, {"location", name(c.location)}, {"time_s", c.time_s}};
  });
}

Json lock_blame_of(const Findings& f, Names name) {
  return list(f.lock_blame, [&](const blame::FoundLockBlame& b) {
    return Json{{"pattern", b.pattern},
                {"holder", name(b.holder)},
                {"acquired", name(b.acquired)},
                {"released", name(b.released)},
                {"callpath", name(b.callpath)},
                {"count", b.count},
                {"time_s", b.time_s}};
  });
}

Json devices_of(const Findings& f, Names name) {
  return list(f.devices, [&](const blame::FoundDevice& d) {
    return Json{{"name", d.name},
                {"node", d.node},
                {"first_stream", name(d.location)},
                {"streams", d.streams},
                {"operations", d.operations},
                {"copied_bytes", d.copied_bytes},
                {"pageable_copies", d.pageable_copies},
                {"busy_s", d.busy_s},
                {"kernels_s", d.kernels_s},
                {"copies_s", d.copies_s},
                {"overlapped_s", d.overlapped_s},
                {"idle_s", d.idle_s},
                {"late_s", d.late_s},
                {"tail_s", d.tail_s},
                {"latency_s", d.latency_s},
                {"unknown_s", d.unknown_s}};
  });
}

Json device_times_of(const Findings& f, Names name) {
  return list(f.device_times, [&](const blame::FoundDeviceTime& t) {
    return Json{
        {"device", t.device.index()},   {"begin_s", t.begin_s},      {"end_s", t.end_s},
        {"busy_s", t.busy_s},           {"kernels_s", t.kernels_s},  {"late_s", t.late_s},
        {"launching_s", t.launching_s}, {"latency_s", t.latency_s},  {"unknown_s", t.unknown_s},
        {"callpath", name(t.callpath)}, {"callpath_s", t.callpath_s}};
  });
}

Json device_blame_of(const Findings& f, Names name) {
  return list(f.device_blame, [&](const blame::FoundDeviceBlame& b) {
    return Json{{"kind", b.kind},
                {"callpath", name(b.callpath)},
                {"location", name(b.location)},
                {"time_s", b.time_s},
                {"alone_s", b.alone_s},
                {"between_s", b.between_s},
                {"critical_s", b.critical_s}};
  });
}

Json device_calls_of(const Findings& f, Names name) {
  return list(f.device_calls, [&](const blame::FoundDeviceCall& c) {
    return Json{{"callpath", name(c.callpath)},
                {"location", name(c.location)},
                {"count", c.count},
                {"time_s", c.time_s},
                {"redundant", c.redundant},
                {"redundant_s", c.redundant_s}};
  });
}

Json device_operations_of(const Findings& f, Names name) {
  return list(f.device_operations, [&](const blame::FoundDeviceOperation& o) {
    return Json{{"callpath", name(o.callpath)},
                {"location", name(o.location)},
                {"kind", o.kind},
                {"count", o.count},
                {"time_s", o.time_s},
                {"latency_s", o.latency_s},
                {"bytes", o.bytes},
                {"pageable", o.pageable}};
  });
}

Json efficiencies_of(const Findings& f) {
  return list(f.efficiencies, [](const blame::FoundEfficiency& e) {
    return Json{{"name", e.name},
                {"parent", e.parent.empty() ? Json() : Json(e.parent)},
                {"value", e.value}};
  });
}

Json instances_of(const Findings& f, Names name) {
  return list(f.instances, [&](const blame::FoundInstance& i) {
    return Json{{"pattern", i.pattern},
                {"callpath", name(i.callpath)},
                {"location", name(i.location)},
                {"begin_s", i.begin_s},
                {"end_s", i.end_s},
                {"time_s", i.time_s},
                {"cause_location", name(i.cause_location)},
                {"cause_callpath", name(i.cause_callpath)},
                {"indirect_s", i.indirect_s}};
  });
}

Json distributions_of(const Findings& f, Names name) {
  return list(f.distributions, [&](const blame::FoundDistribution& d) {
    return Json{{"callpath", name(d.callpath)},
                {"cost_s", d.cost_s},
                {"shape", d.shape},
                {"locations", d.locations},
                {"high", d.high},
                {"low", d.low},
                {"course", d.course},
                {"same_place", d.same_place}};
  });
}

Json unattributed_of(const Findings& f) {
  return list(f.unattributed, [](const blame::FoundUnattributed& u) {
    return Json{{"pattern", u.pattern}, {"reason", u.reason}, {"time_s", u.time_s}};
  });
}

Json counters_of(const Findings& f, Names name) {
  return list(f.counts, [&](const blame::FoundCount& c) {
    const blame::FoundMetric& metric = f.metrics[c.metric.index()];
    return Json{
        {"counter", metric.name},       {"unit", metric.unit}, {"callpath", name(c.callpath)},
        {"location", name(c.location)}, {"value", c.value},    {"time_s", c.time_s}};
  });
}

Json locations_of(const Findings& f) {
  return list(f.locations, [](const blame::FoundLocation& l) {
    return Json{{"name", l.name},
                {"rank", l.rank},
                {"thread", l.thread},
                {"node", l.node},
                {"life_s", l.life_s},
                {"waiting_s", l.waiting_s},
                {"stream", l.stream.empty() ? Json() : Json(l.stream)}};
  });
}

Json stages_of(const Findings& f, Names name) {
  return list(f.stages, [&](const blame::FoundStage& s) {
    return Json{{"kind", s.kind},
                {"name", s.name},
                {"number", s.number},
                {"visits", s.visits},
                {"time_s", s.time_s},
                {"waiting_s", s.waiting_s},
                {"longest_s", s.longest_s},
                {"longest_location", name(s.longest_location)},
                {"useful_s", s.useful_s},
                {"load_balance", s.load_balance},
                {"communication", s.communication}};
  });
}

Json losses_of(const Findings& f) {
  return list(f.losses.all(), [](const auto& entry) {
    const auto& [name, loss] = entry;
    return Json{{"name", name},
                {"count", loss.count},
                {"severity", std::string(to_string(loss.severity))},
                {"advice", loss.advice}};
  });
}

}  // namespace

std::string json(const Findings& findings, const std::filesystem::path&) {
  const Names name{findings};
  const Json object = {{"run", run_of(findings)},
                       {"verdict", verdict_json(findings)},
                       {"start_up", start_up_json(findings)},
                       {"processes", processes_json(findings)},
                       {"identities", identities_of(findings)},
                       {"patterns", patterns_of()},
                       {"stuck", stuck_of(findings, name)},
                       {"waits", waits_of(findings, name)},
                       {"delays", delays_of(findings, name)},
                       {"victims", victims_of(findings, name)},
                       {"unattributed", unattributed_of(findings)},
                       {"critical_path", critical_path_of(findings, name)},
                       {"performance_impacts", impacts_of(findings, name)},
                       {"efficiencies", efficiencies_of(findings)},
                       {"idle_blame", idle_blame_of(findings, name)},
                       {"idle_nobody", idle_nobody_of(findings, name)},
                       {"lock_blame", lock_blame_of(findings, name)},
                       {"polling", polling_of(findings, name)},
                       {"polling_causes", polling_causes_of(findings, name)},
                       {"devices", devices_of(findings, name)},
                       {"device_times", device_times_of(findings, name)},
                       {"device_blame", device_blame_of(findings, name)},
                       {"device_calls", device_calls_of(findings, name)},
                       {"device_operations", device_operations_of(findings, name)},
                       {"worst_waits", instances_of(findings, name)},
                       {"distributions", distributions_of(findings, name)},
                       {"counters", counters_of(findings, name)},
                       {"stages", stages_of(findings, name)},
                       {"locations", locations_of(findings)},
                       {"losses", losses_of(findings)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace culprit::report
