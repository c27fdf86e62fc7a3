// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tables of findings and the fields of their rows, for who treats all alike: ranks that send
// them to each other, tests that compare them. A field that is missing here does not compile.
#pragma once

#include <type_traits>
#include <utility>

#include "blame/findings.h"

namespace culprit::blame {

template <class T, class Row>
concept RowOf = std::is_same_v<std::remove_const_t<T>, Row>;

namespace fields {

struct Anything {
  template <class T>
  operator T() const;
};

/// How many fields an aggregate has.
template <class T, class... Known>
constexpr size_t count() {
  if constexpr (requires { T{Known{}..., Anything{}}; }) {
    return count<T, Known..., Anything>();
  } else {
    return sizeof...(Known);
  }
}

template <class Row, class Visit, class... Fields>
void visit_all(const Visit& visit, Fields&... of_row) {
  static_assert(count<std::remove_const_t<Row>>() == sizeof...(Fields));
  (visit(of_row), ...);
}

}  // namespace fields

// visit_fields(row, visit) calls visit(field) for each, in their order.

template <RowOf<FoundLocation> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.name, r.rank, r.thread, r.node, r.life_s, r.waiting_s, r.stream);
}
template <RowOf<FoundCallPath> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.name, r.region, r.file, r.line, r.parent, r.start_up);
}
template <RowOf<FoundProcess> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.rank, r.node, r.cores, r.node_cores, r.on_core_s, r.core_wait_s);
}
template <RowOf<FoundStuck> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.group, r.deadlock, r.in_circle, r.location, r.call, r.callpath, r.place,
                       r.since_s, r.waits_for, r.why);
}
template <RowOf<FoundWait> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.pattern, r.callpath, r.location, r.count, r.time_s, r.indirect_s,
                       r.propagating_s);
}
template <RowOf<FoundDelay> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.pattern, r.callpath, r.location, r.short_s, r.long_s);
}
template <RowOf<FoundVictim> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.delay_callpath, r.delay_location, r.pattern, r.wait_callpath,
                       r.wait_location, r.time_s);
}
template <RowOf<FoundUnattributed> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.pattern, r.reason, r.time_s);
}
template <RowOf<FoundCriticalCallPath> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.time_s, r.imbalance_s, r.activity_s, r.intra_s, r.inter_s,
                       r.impact_s);
}
template <RowOf<FoundCriticalPath> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.time_s);
}
template <RowOf<FoundSegment> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.location, r.callpath, r.begin_s, r.end_s);
}
template <RowOf<FoundIdleBlame> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.time_s);
}
template <RowOf<FoundNobody> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.location, r.reason, r.time_s);
}
template <RowOf<FoundLockBlame> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.pattern, r.holder, r.acquired, r.released, r.callpath, r.count,
                       r.time_s);
}
template <RowOf<FoundPolling> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.count, r.time_s);
}
template <RowOf<FoundPollingCause> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.time_s);
}
template <RowOf<FoundDevice> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.name, r.node, r.location, r.streams, r.operations, r.copied_bytes,
                       r.pageable_copies, r.busy_s, r.kernels_s, r.copies_s, r.overlapped_s,
                       r.idle_s, r.late_s, r.tail_s, r.latency_s, r.unknown_s);
}
template <RowOf<FoundDeviceTime> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.device, r.begin_s, r.end_s, r.busy_s, r.kernels_s, r.late_s,
                       r.launching_s, r.latency_s, r.unknown_s, r.callpath, r.callpath_s);
}
template <RowOf<FoundDeviceBlame> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.kind, r.callpath, r.location, r.time_s, r.alone_s, r.between_s,
                       r.critical_s);
}
template <RowOf<FoundDeviceCall> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.count, r.time_s, r.redundant, r.redundant_s);
}
template <RowOf<FoundDeviceOperation> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.kind, r.count, r.time_s, r.latency_s, r.bytes,
                       r.pageable);
}
template <RowOf<FoundEfficiency> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.name, r.parent, r.value);
}
template <RowOf<FoundInstance> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.pattern, r.callpath, r.location, r.begin_s, r.end_s, r.time_s,
                       r.cause_location, r.cause_callpath, r.indirect_s);
}
template <RowOf<FoundDistribution> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.cost_s, r.shape, r.locations, r.high, r.low, r.course,
                       r.same_place);
}
template <RowOf<FoundProfile> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.callpath, r.location, r.visits, r.time_s, r.samples, r.sampled_s);
}
template <RowOf<FoundMetric> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.name, r.unit, r.level);
}
template <RowOf<FoundCount> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.metric, r.callpath, r.location, r.value, r.time_s);
}
template <RowOf<FoundStage> R, class V>
void visit_fields(R& r, const V& v) {
  fields::visit_all<R>(v, r.kind, r.name, r.number, r.visits, r.time_s, r.waiting_s, r.longest_s,
                       r.longest_location, r.useful_s, r.load_balance, r.communication);
}

/// Calls visit(name, table...) for each table of which every rank has rows of its own (and with
/// those of several findings, the same tables side by side).
template <class Visit, class... F>
void visit_own_tables(const Visit& visit, F&... f) {
  visit("waits", f.waits...);
  visit("delays", f.delays...);
  visit("victims", f.victims...);
  visit("critical_path", f.critical_path...);
  visit("idle_blame", f.idle_blame...);
  visit("idle_nobody", f.idle_nobody...);
  visit("lock_blame", f.lock_blame...);
  visit("polling", f.polling...);
  visit("polling_causes", f.polling_causes...);
  visit("device_blame", f.device_blame...);
  visit("device_calls", f.device_calls...);
  visit("device_operations", f.device_operations...);
  visit("profile", f.profile...);
  visit("counts", f.counts...);
}

/// The same for all others, which the first rank has as a whole.
template <class Visit, class... F>
void visit_whole_tables(const Visit& visit, F&... f) {
  visit("locations", f.locations...);
  visit("callpaths", f.callpaths...);
  visit("unattributed", f.unattributed...);
  visit("critical_callpaths", f.critical_callpaths...);
  visit("segments", f.segments...);
  visit("devices", f.devices...);
  visit("device_times", f.device_times...);
  visit("efficiencies", f.efficiencies...);
  visit("instances", f.instances...);
  visit("distributions", f.distributions...);
  visit("metrics", f.metrics...);
  visit("stages", f.stages...);
}

}  // namespace culprit::blame
