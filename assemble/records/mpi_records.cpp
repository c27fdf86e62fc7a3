// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A call is an enter, its facts, and a leave; a call that was left by longjmp or an exception is
// closed by the next one outside of it. Peers and roots are checked against the communicator, so
// that no event refers to a rank that does not exist.
#include "assemble/records/mpi_records.h"

#include <algorithm>
#include <cmath>

#include "assemble/records/asking.h"

namespace culprit::assemble {
namespace {

using trace::MpiCollective;
using trace::MpiMessage;
using trace::RawKind;
using trace::RequestId;

bool has_comm(RawKind kind) {
  switch (kind) {
    case RawKind::mpi_send:
    case RawKind::mpi_recv:
    case RawKind::mpi_isend:
    case RawKind::mpi_irecv:
    case RawKind::mpi_probe:
    case RawKind::mpi_collective:
    case RawKind::mpi_icoll:
      return true;
    default:
      return false;
  }
}

bool has_peer(RawKind kind) {
  return has_comm(kind) && kind != RawKind::mpi_collective && kind != RawKind::mpi_icoll;
}

}  // namespace

void MpiRecords::see(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::mpi_enter:
      return enter(record);
    case RawKind::mpi_leave:
      return leave(record);
    case RawKind::mpi_tests:
      return tests(record);
    case RawKind::mpi_awaits:
      return;  // of calls that did not return (stuck/)
    default:
      return fact(record);
  }
}

const MpiRecords::Function& MpiRecords::function(uint16_t name) {
  const auto [known, added] = functions_.try_emplace(name);
  if (added) {
    const auto text = state_.names.find(name);
    const std::string& called = text != state_.names.end() ? text->second : "MPI call";
    known->second = {state_.process.regions.mpi(called), trace::promise_of_mpi(called)};
  }
  return known->second;
}

CommId MpiRecords::comm_of(const RawRecord& record) {
  const auto known = state_.process.comms.find(record.as<raw::mpi_send>().comm);
  if (known != state_.process.comms.end() && known->second.valid()) return known->second;
  state_.losses.add(LossKind::operations_in_unknown_communicators);
  return CommId::none();
}

/// MPI_PROC_NULL and the like are negative; others that are no ranks are damage.
bool MpiRecords::is_peer(int32_t peer, CommId comm) {
  const bool damaged = peer >= 0 && static_cast<uint32_t>(peer) >= state_.process.ranks_in(comm);
  state_.losses.add(LossKind::records_of_unknown_communicators, damaged ? 1 : 0);
  return peer >= 0 && !damaged;
}

template <class Record>
MpiMessage MpiRecords::message(const Record& told, CommId comm) {
  promises_.saw_message();
  MpiMessage message{comm, static_cast<uint32_t>(told.peer), told.tag, told.bytes};
  if constexpr (requires { told.matching; }) match(message, told.matching, told.number);
  return message;
}

void MpiRecords::match(MpiMessage& message, trace::RawMatching matching, uint64_t number) const {
  if (matching == trace::RawMatching::probed) {
    message.probe = trace::MatchedProbe{number};
  } else if (matching == trace::RawMatching::partitioned) {
    const auto pair = state_.process.partitioned_pairs.find(number);
    message.partitioned = pair != state_.process.partitioned_pairs.end() ? pair->second : 1;
  }
}

template <class Record>
MpiCollective MpiRecords::collective(const Record& told, CommId comm) {
  constexpr uint64_t kNoRoot = ~uint64_t{0};
  promises_.saw_collective();
  MpiCollective result;
  result.op = std::min(told.op, trace::CollectiveOp::other);
  result.comm = comm;
  result.is_root = told.root != kNoRoot && told.root >> 32 != 0;
  if (told.root < state_.process.ranks_in(comm)) result.root = static_cast<uint32_t>(told.root);
  result.bytes_sent = told.sent;
  result.bytes_received = told.received;
  result.sends_to = rank_set(static_cast<uint32_t>(told.sets), comm);
  result.receives_from = rank_set(static_cast<uint32_t>(told.sets >> 32), comm);
  return result;
}

GroupId MpiRecords::rank_set(uint32_t set, CommId comm) {
  if (set == 0) return GroupId::none();
  const auto [known, is_new] = rank_sets_.try_emplace({set, comm}, GroupId::none());
  if (is_new) {
    const auto& defined = state_.process.survey.rank_sets;
    const auto ranks = defined.find(set);
    if (ranks != defined.end()) {
      known->second = state_.process.rank_sets.find(
          ranks->second, state_.process.all_comms[comm.index()], state_.process.id);
    }
  }
  if (!known->second.valid()) {
    state_.losses.add(LossKind::unknown_rank_sets);
  }
  return known->second;
}

void MpiRecords::enter(const RawRecord& record) {
  const Time time = state_.time(record);
  leave_abandoned_call(time);
  const auto entered = record.as<raw::mpi_enter>();
  state_.observe(time, entered.path);
  state_.timeline.enter(time, Level::call, function(entered.name).region, kOpenCall);
}

/// Calls inside calls are not recorded: what is still open here was left without returning.
void MpiRecords::leave_abandoned_call(Time time) {
  Timeline& timeline = state_.timeline;
  const size_t base = timeline.base();
  for (size_t i = timeline.stack().size(); i-- > 0 && i != base;) {
    if (timeline.stack()[i].level != Level::call || timeline.stack()[i].id != kOpenCall) continue;
    timeline.leave(time, i);
    return state_.losses.add(LossKind::abandoned_calls);
  }
}

void MpiRecords::leave(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const Function& called = function(record.as<raw::mpi_leave>().name);
  const size_t base = timeline.base();
  for (size_t i = timeline.stack().size(); i-- > 0 && i != base;) {
    if (timeline.stack()[i].level != Level::call || timeline.stack()[i].region != called.region) {
      continue;
    }
    keep_promise(state_.time(record), called.promise);
    return timeline.leave(state_.time(record), i);
  }
}

/// The end of MPI is a collective of all, whether or not it could be recorded as one.
void MpiRecords::keep_promise(Time time, trace::Promise promise) {
  // What crosses a window's edges was left out of it on purpose.
  if (!promises_.left(promise) || state_.process.is_in_window()) return;
  const std::optional<CommId> world = state_.process.world();
  if (!world) return;
  MpiCollective end;
  end.op = trace::CollectiveOp::destroy_handle;
  end.comm = *world;
  const Time now = state_.timeline.advance(time);
  state_.timeline.sink().mpi_collective(now, end);
}

void MpiRecords::finish() {
  if (!state_.process.is_in_window()) promises_.report(state_.process.is_alone, state_.losses);
}

void MpiRecords::tests(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const auto tests = record.as<raw::mpi_tests>();
  const Time first = state_.time(record);
  const Duration inside = state_.process.time(record.ticks + tests.inside) - first;
  const auto [begin, end] =
      time_of_asking(first, state_.process.time(tests.until), inside, tests.count);
  timeline.drop_samples(begin);
  // The testing functions are placed one behind the other, each as long as its part of the tests.
  const std::vector<Asked> all = asked(record);
  const double share =
      static_cast<double>((end - begin).nanos()) / std::max(static_cast<double>(tests.inside), 1.0);
  for (Time at = begin; const Asked& one : all) {
    const double nanos = share * static_cast<double>(std::min(one.ticks, tests.inside));
    const Time until =
        &one == &all.back() ? end : std::min(end, at + Duration::from_nanos(std::llround(nanos)));
    state_.observe(at, one.path);
    timeline.enter(at, Level::call, function(one.name).region);
    timeline.leave(until, timeline.stack().size() - 1);
    at = until;
  }
}

/// The functions that tested, from where, and for how long. Records may be damaged.
std::vector<MpiRecords::Asked> MpiRecords::asked(const RawRecord& record) {
  const auto first = record.as<raw::mpi_tests>();
  std::vector<Asked> all{{first.name, first.path, first.inside}};
  const auto others = record.rest_of<raw::mpi_tests>();
  for (size_t i = 0; i + 1 < others.size(); i += 2) {
    const Asked other{static_cast<uint16_t>(others[i]), static_cast<uint32_t>(others[i] >> 32),
                      others[i + 1]};
    if (other.name == 0) continue;  // the process ended before it was written
    all.front().ticks -= std::min(all.front().ticks, other.ticks);
    all.push_back(other);
  }
  return all;
}

void MpiRecords::fact(const RawRecord& record) {
  CommId comm;
  if (has_comm(record.kind)) {
    comm = comm_of(record);
    if (!comm.valid()) return;
    if (has_peer(record.kind) && !is_peer(record.as<raw::mpi_send>().peer, comm)) return;
  }
  Timeline& timeline = state_.timeline;
  const Time now = state_.time(record);
  timeline.observe_nothing(now);
  const Time time = timeline.advance(now);
  switch (record.kind) {
    case RawKind::mpi_send:
      return timeline.sink().mpi_send(time, message(record.as<raw::mpi_send>(), comm));
    case RawKind::mpi_recv:
      return timeline.sink().mpi_recv(time, message(record.as<raw::mpi_recv>(), comm));
    case RawKind::mpi_isend: {
      const auto begun = record.as<raw::mpi_isend>();
      return timeline.sink().mpi_isend(time, message(begun, comm), RequestId{begun.request});
    }
    case RawKind::mpi_probe: {
      const auto probe = record.as<raw::mpi_probe>();
      MpiMessage found = message(probe, comm);
      match(found, trace::RawMatching::probed, probe.number);
      return timeline.sink().mpi_probe(time, found);
    }
    case RawKind::mpi_part_ready:
      return timeline.sink().mpi_isend_ready(time,
                                             RequestId{record.as<raw::mpi_part_ready>().request});
    case RawKind::mpi_isend_done:
      return timeline.sink().mpi_isend_complete(
          time, RequestId{record.as<raw::mpi_isend_done>().request});
    case RawKind::mpi_irecv_post:
      return timeline.sink().mpi_irecv_request(time,
                                               RequestId{record.as<raw::mpi_irecv_post>().request});
    case RawKind::mpi_irecv: {
      const auto done = record.as<raw::mpi_irecv>();
      return timeline.sink().mpi_irecv(time, message(done, comm), RequestId{done.request});
    }
    case RawKind::mpi_cancelled:
      return timeline.sink().mpi_request_cancelled(
          time, RequestId{record.as<raw::mpi_cancelled>().request});
    case RawKind::mpi_collective:
      return timeline.sink().mpi_collective(time,
                                            collective(record.as<raw::mpi_collective>(), comm));
    case RawKind::mpi_icoll_post:
      return timeline.sink().mpi_icollective_request(
          time, RequestId{record.as<raw::mpi_icoll_post>().request});
    case RawKind::mpi_icoll: {
      const auto done = record.as<raw::mpi_icoll>();
      return timeline.sink().mpi_icollective_complete(time, collective(done, comm),
                                                      RequestId{done.request});
    }
    default:
      return;  // communicators were read by the survey; the rest says nothing about time
  }
}

}  // namespace culprit::assemble
