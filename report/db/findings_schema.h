// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The shape of a findings file: its SQL, and which column holds which field. The columns are listed
// once for writing and reading alike (Table<Row>::columns visits them in order), so the two cannot
// disagree; that the list agrees with the SQL is what SQLite checks when it prepares the
// statements. docs/findings-db.md explains the tables to people who query them.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "blame/findings.h"

namespace culprit::report {

/// "CULP", in the file's header: tells a findings file from other SQLite files.
inline constexpr int64_t kApplicationId = 0x43554c50;
/// Raised whenever a reader of the previous version would misunderstand the file, or one of this
/// version finds something missing in previous ones.
inline constexpr int64_t kSchemaVersion = 8;

/// CREATE TABLE and VIEW statements.
extern const char* const kSchema;
/// CREATE INDEX statements: for when the tables are full.
extern const char* const kIndices;

/// A sentence that belongs to the run (notes) or to its identities (violations).
struct NoteRow {
  std::string sentence;
};
struct ViolationRow {
  std::string sentence;
};
struct LossRow {
  std::string name;
  uint64_t count = 0;
  std::string severity;
  std::string advice;
};

template <class Row>
struct Table;

// V is called as v(column name, field); R is the row type, const or not.
#define CULPRIT_TABLE(Row, table_name)               \
  template <>                                        \
  struct Table<Row> {                                \
    static constexpr const char* kName = table_name; \
    template <class R, class V>                      \
    static void columns(R& r, V&& v);                \
  };                                                 \
  template <class R, class V>                        \
  void Table<Row>::columns(R& r, V&& v)

CULPRIT_TABLE(blame::RunInfo, "run") {
  v("command", r.command), v("program", r.program), v("creator", r.creator), v("date", r.date);
  v("mpi", r.mpi), v("openmp", r.openmp), v("ranks", r.ranks), v("locations", r.locations);
  v("events", r.events), v("wall_s", r.wall_s), v("allocation_s", r.allocation_s);
  v("overhead_pct", r.overhead_pct), v("exit_status", r.exit_status);
}

CULPRIT_TABLE(NoteRow, "notes") {
  v("sentence", r.sentence);
}

CULPRIT_TABLE(blame::FoundLocation, "locations") {
  v("name", r.name), v("rank", r.rank), v("thread", r.thread), v("node", r.node);
  v("life_s", r.life_s), v("waiting_s", r.waiting_s), v("stream", r.stream);
}

CULPRIT_TABLE(blame::FoundCallPath, "callpaths") {
  v("name", r.name), v("region", r.region), v("file", r.file), v("line", r.line);
  v("parent", r.parent), v("start_up", r.start_up);
}

CULPRIT_TABLE(blame::FoundProcess, "processes") {
  v("rank", r.rank), v("node", r.node), v("cores", r.cores), v("node_cores", r.node_cores);
  v("on_core_s", r.on_core_s), v("core_wait_s", r.core_wait_s);
}

CULPRIT_TABLE(blame::StartUp, "start_up") {
  v("wall_s", r.wall_s), v("activity_s", r.activity_s), v("waiting_s", r.waiting_s);
}

CULPRIT_TABLE(blame::FoundStuck, "stuck") {
  v("group_id", r.group), v("deadlock", r.deadlock), v("in_circle", r.in_circle);
  v("location", r.location), v("call", r.call), v("callpath", r.callpath), v("place", r.place);
  v("since_s", r.since_s), v("waits_for", r.waits_for), v("why", r.why);
}

CULPRIT_TABLE(blame::FoundWait, "waits") {
  v("pattern", r.pattern), v("callpath", r.callpath), v("location", r.location);
  v("count", r.count), v("time_s", r.time_s);
  v("indirect_s", r.indirect_s), v("propagating_s", r.propagating_s);
}

CULPRIT_TABLE(blame::FoundDelay, "delays") {
  v("pattern", r.pattern), v("callpath", r.callpath), v("location", r.location);
  v("short_s", r.short_s), v("long_s", r.long_s);
}

CULPRIT_TABLE(blame::FoundVictim, "victims") {
  v("delay_callpath", r.delay_callpath), v("delay_location", r.delay_location);
  v("pattern", r.pattern), v("wait_callpath", r.wait_callpath);
  v("wait_location", r.wait_location), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundUnattributed, "unattributed") {
  v("pattern", r.pattern), v("reason", r.reason), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundCriticalCallPath, "critical_callpaths") {
  v("callpath", r.callpath), v("time_s", r.time_s), v("imbalance_s", r.imbalance_s);
  v("activity_s", r.activity_s), v("intra_s", r.intra_s), v("inter_s", r.inter_s);
  v("impact_s", r.impact_s);
}

CULPRIT_TABLE(blame::FoundCriticalPath, "critical_path") {
  v("callpath", r.callpath), v("location", r.location), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundSegment, "segments") {
  v("location", r.location), v("callpath", r.callpath);
  v("begin_s", r.begin_s), v("end_s", r.end_s);
}

CULPRIT_TABLE(blame::FoundIdleBlame, "idle_blame") {
  v("callpath", r.callpath), v("location", r.location), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundNobody, "idle_nobody") {
  v("location", r.location), v("reason", r.reason), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundLockBlame, "lock_blame") {
  v("pattern", r.pattern), v("holder", r.holder), v("acquired", r.acquired);
  v("released", r.released), v("callpath", r.callpath), v("count", r.count), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundPolling, "polling") {
  v("callpath", r.callpath), v("location", r.location), v("count", r.count), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundPollingCause, "polling_causes") {
  v("callpath", r.callpath), v("location", r.location), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundDevice, "devices") {
  v("name", r.name), v("node", r.node), v("location", r.location), v("streams", r.streams);
  v("operations", r.operations), v("copied_bytes", r.copied_bytes);
  v("pageable_copies", r.pageable_copies), v("busy_s", r.busy_s), v("kernels_s", r.kernels_s);
  v("copies_s", r.copies_s), v("overlapped_s", r.overlapped_s), v("idle_s", r.idle_s);
  v("late_s", r.late_s), v("tail_s", r.tail_s), v("latency_s", r.latency_s);
  v("unknown_s", r.unknown_s);
}

CULPRIT_TABLE(blame::FoundDeviceTime, "device_times") {
  v("device", r.device), v("begin_s", r.begin_s), v("end_s", r.end_s), v("busy_s", r.busy_s);
  v("kernels_s", r.kernels_s), v("late_s", r.late_s), v("launching_s", r.launching_s);
  v("latency_s", r.latency_s), v("unknown_s", r.unknown_s);
  v("callpath", r.callpath), v("callpath_s", r.callpath_s);
}

CULPRIT_TABLE(blame::FoundDeviceBlame, "device_blame") {
  v("kind", r.kind), v("callpath", r.callpath), v("location", r.location), v("time_s", r.time_s);
  v("alone_s", r.alone_s), v("between_s", r.between_s), v("critical_s", r.critical_s);
}

CULPRIT_TABLE(blame::FoundDeviceCall, "device_calls") {
  v("callpath", r.callpath), v("location", r.location), v("count", r.count);
  v("time_s", r.time_s), v("redundant", r.redundant), v("redundant_s", r.redundant_s);
}

CULPRIT_TABLE(blame::FoundDeviceOperation, "device_operations") {
  v("callpath", r.callpath), v("location", r.location), v("kind", r.kind), v("count", r.count);
  v("time_s", r.time_s), v("latency_s", r.latency_s), v("bytes", r.bytes);
  v("pageable", r.pageable);
}

CULPRIT_TABLE(blame::FoundEfficiency, "efficiencies") {
  v("name", r.name), v("parent", r.parent), v("value", r.value);
}

CULPRIT_TABLE(blame::FoundInstance, "instances") {
  v("pattern", r.pattern), v("callpath", r.callpath), v("location", r.location);
  v("begin_s", r.begin_s), v("end_s", r.end_s), v("time_s", r.time_s);
  v("cause_location", r.cause_location), v("cause_callpath", r.cause_callpath);
  v("indirect_s", r.indirect_s);
}

CULPRIT_TABLE(blame::FoundDistribution, "distributions") {
  v("callpath", r.callpath), v("cost_s", r.cost_s), v("shape", r.shape);
  v("locations", r.locations), v("high", r.high), v("low", r.low);
  v("course", r.course), v("same_place", r.same_place);
}

CULPRIT_TABLE(blame::FoundProfile, "profile") {
  v("callpath", r.callpath), v("location", r.location);
  v("visits", r.visits), v("time_s", r.time_s);
  v("samples", r.samples), v("sampled_s", r.sampled_s);
}

CULPRIT_TABLE(blame::FoundMetric, "metrics") {
  v("name", r.name), v("unit", r.unit), v("level", r.level);
}

CULPRIT_TABLE(blame::FoundCount, "counts") {
  v("metric", r.metric), v("callpath", r.callpath), v("location", r.location);
  v("value", r.value), v("time_s", r.time_s);
}

CULPRIT_TABLE(blame::FoundStage, "stages") {
  v("kind", r.kind), v("name", r.name), v("number", r.number), v("visits", r.visits);
  v("time_s", r.time_s), v("waiting_s", r.waiting_s);
  v("longest_s", r.longest_s), v("longest_location", r.longest_location);
  v("useful_s", r.useful_s), v("load_balance", r.load_balance);
  v("communication", r.communication);
}

CULPRIT_TABLE(blame::Identities, "identities") {
  v("waiting_s", r.waiting_s), v("delay_costs_s", r.delay_costs_s);
  v("unattributed_s", r.unattributed_s), v("critical_path_s", r.critical_path_s);
  v("wall_s", r.wall_s), v("imbalance_costs_s", r.imbalance_costs_s);
  v("imbalance_unattributed_s", r.imbalance_unattributed_s), v("idle_s", r.idle_s);
  v("idle_blame_s", r.idle_blame_s), v("idle_nobody_s", r.idle_nobody_s);
  v("device_idle_s", r.device_idle_s), v("device_idle_blame_s", r.device_idle_blame_s);
  v("device_wait_s", r.device_wait_s), v("device_wait_blame_s", r.device_wait_blame_s);
}

CULPRIT_TABLE(ViolationRow, "violations") {
  v("sentence", r.sentence);
}

CULPRIT_TABLE(LossRow, "losses") {
  v("name", r.name), v("count", r.count), v("severity", r.severity), v("advice", r.advice);
}

CULPRIT_TABLE(blame::PassTime, "passes") {
  v("name", r.name), v("time_s", r.time_s);
}

#undef CULPRIT_TABLE

/// Visits the lists of findings, each of which is a table: v(list). F is Findings, const or not.
template <class F, class V>
void for_each_list(F& f, V&& v) {
  v(f.locations), v(f.callpaths), v(f.processes);
  v(f.stuck), v(f.waits), v(f.delays), v(f.victims), v(f.unattributed);
  v(f.critical_callpaths), v(f.critical_path), v(f.segments);
  v(f.idle_blame), v(f.idle_nobody), v(f.lock_blame), v(f.polling), v(f.polling_causes);
  v(f.devices), v(f.device_times), v(f.device_blame), v(f.device_calls), v(f.device_operations);
  v(f.efficiencies), v(f.instances), v(f.distributions);
  v(f.profile), v(f.metrics), v(f.counts), v(f.stages), v(f.passes);
}

/// Visits every text in findings, but those of losses, which never change: v(std::string&).
template <class V>
void for_each_text(blame::Findings& f, V&& v) {
  const auto visit_row = [&](auto& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    Table<Row>::columns(row, [&](const char*, auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::string>) v(field);
    });
  };
  visit_row(f.run);
  for (std::string& note : f.run.notes) v(note);
  for (std::string& violation : f.identities.violations) v(violation);
  for_each_list(f, [&](auto& rows) {
    for (auto& row : rows) visit_row(row);
  });
}

}  // namespace culprit::report
