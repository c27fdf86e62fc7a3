// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/records/mpi_records.h"

#include <algorithm>
#include <cmath>

namespace culprit::assemble {
namespace {

using trace::MpiCollective;
using trace::MpiMessage;
using trace::RawKind;
using trace::RequestId;

constexpr double kLoopAlone_ns = 1000;  ///< a pass of a loop that only tests, and its record

int32_t peer_of(const RawRecord& record) {
  return static_cast<int32_t>(record.w[0]);
}

/// Where the words go on after those that every record of the kind has.
unsigned common_words(RawKind kind) {
  switch (kind) {
    case RawKind::mpi_irecv:
    case RawKind::mpi_collective:
      return 3;
    case RawKind::mpi_isend:
    case RawKind::mpi_icoll:
      return 4;
    default:
      return 2;
  }
}

/// The word after those, if it is there.
uint64_t further_word(const RawRecord& record) {
  const unsigned at = common_words(record.kind);
  return record.words > at ? record.w[at] : 0;
}

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

RegionId MpiRecords::call(uint16_t name) const {
  const auto [known, added] = state_.calls.try_emplace(name);
  if (added) {
    const auto text = state_.names.find(name);
    known->second =
        state_.process.regions.mpi(text != state_.names.end() ? text->second : "MPI call");
  }
  return known->second;
}

CommId MpiRecords::comm_of(const RawRecord& record) {
  const auto known = state_.process.comms.find(record.arg);
  if (known != state_.process.comms.end() && known->second.valid()) return known->second;
  state_.losses.add(LossKind::operations_in_unknown_communicators);
  return CommId::none();
}

MpiMessage MpiRecords::message(const RawRecord& record, CommId comm) const {
  MpiMessage message{comm, static_cast<uint32_t>(peer_of(record)),
                     static_cast<int32_t>(record.w[0] >> 32), record.w[1]};
  const uint64_t number = further_word(record);
  const auto matching = static_cast<trace::RawMatching>(record.flags);
  if (record.kind == RawKind::mpi_probe || matching == trace::RawMatching::probed) {
    message.probe = trace::MatchedProbe{number};
  } else if (matching == trace::RawMatching::partitioned) {
    const auto pair = state_.process.partitioned_pairs.find(number);
    message.partitioned = pair != state_.process.partitioned_pairs.end() ? pair->second : 1;
  }
  return message;
}

MpiCollective MpiRecords::collective(const RawRecord& record, CommId comm) {
  constexpr uint64_t kNoRoot = ~uint64_t{0};
  MpiCollective result;
  result.op = record.flags <= static_cast<uint16_t>(trace::CollectiveOp::other)
                  ? static_cast<trace::CollectiveOp>(record.flags)
                  : trace::CollectiveOp::other;
  result.comm = comm;
  result.is_root = record.w[0] != kNoRoot && record.w[0] >> 32 != 0;
  if (record.w[0] >> 32 == 0) result.root = static_cast<uint32_t>(record.w[0]);
  result.bytes_sent = record.w[1];
  result.bytes_received = record.w[2];
  const uint64_t sets = further_word(record);
  result.sends_to = rank_set(static_cast<uint32_t>(sets), comm);
  result.receives_from = rank_set(static_cast<uint32_t>(sets >> 32), comm);
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
  state_.observe(time, record.arg);
  state_.timeline.enter(time, Level::call, call(record.flags), kOpenCall);
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
  const RegionId region = call(record.flags);
  const size_t base = timeline.base();
  for (size_t i = timeline.stack().size(); i-- > 0 && i != base;) {
    if (timeline.stack()[i].level != Level::call || timeline.stack()[i].region != region) continue;
    return timeline.leave(state_.time(record), i);
  }
}

void MpiRecords::tests(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const Time first = state_.time(record);
  const Time last = state_.process.time(record.w[0]);
  const Duration inside = state_.process.time(record.ticks + record.w[2]) - first;
  // Mostly polling: all of it. Mostly work between single tests: their time, at the end. A loop
  // that does nothing but test spends as long between tests as it takes to record them.
  const double between = static_cast<double>((last - first - inside).nanos());
  const bool polling = inside + inside >= last - first ||
                       between <= kLoopAlone_ns * static_cast<double>(record.w[1]);
  const Time begin = polling ? first : std::max(first, last - inside);
  timeline.drop_samples(begin);
  // Functions that asked in turn stand one behind the other, each as long as its part of the tests.
  const std::vector<Asked> all = asked(record);
  const double share =
      static_cast<double>((last - begin).nanos()) / std::max(static_cast<double>(record.w[2]), 1.0);
  for (Time at = begin; const Asked& one : all) {
    const double nanos = share * static_cast<double>(std::min(one.ticks, record.w[2]));
    const Time until =
        &one == &all.back() ? last : std::min(last, at + Duration::from_nanos(std::llround(nanos)));
    state_.observe(at, one.path);
    timeline.enter(at, Level::call, call(one.name));
    timeline.leave(until, timeline.stack().size() - 1);
    at = until;
  }
}

/// Which functions asked, from where, and for how long. Records may be damaged.
std::vector<MpiRecords::Asked> MpiRecords::asked(const RawRecord& record) {
  std::vector<Asked> all{{record.flags, record.arg, record.w[2]}};
  for (unsigned i = trace::kRawTestsWords; i + 1 < record.words; i += 2) {
    const Asked other{static_cast<uint16_t>(record.w[i]), static_cast<uint32_t>(record.w[i] >> 32),
                      record.w[i + 1]};
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
    if (has_peer(record.kind) && peer_of(record) < 0) return;  // MPI_PROC_NULL and the like
  }
  Timeline& timeline = state_.timeline;
  const Time now = state_.time(record);
  timeline.observe_nothing(now);
  const Time time = timeline.advance(now);
  switch (record.kind) {
    case RawKind::mpi_send:
      return timeline.sink().mpi_send(time, message(record, comm));
    case RawKind::mpi_recv:
      return timeline.sink().mpi_recv(time, message(record, comm));
    case RawKind::mpi_isend:
      return timeline.sink().mpi_isend(time, message(record, comm), RequestId{record.w[2]});
    case RawKind::mpi_probe:
      return timeline.sink().mpi_probe(time, message(record, comm));
    case RawKind::mpi_part_ready:
      return timeline.sink().mpi_isend_ready(time, RequestId{record.w[0]});
    case RawKind::mpi_isend_done:
      return timeline.sink().mpi_isend_complete(time, RequestId{record.w[0]});
    case RawKind::mpi_irecv_post:
      return timeline.sink().mpi_irecv_request(time, RequestId{record.w[0]});
    case RawKind::mpi_irecv:
      return timeline.sink().mpi_irecv(time, message(record, comm), RequestId{record.w[2]});
    case RawKind::mpi_cancelled:
      return timeline.sink().mpi_request_cancelled(time, RequestId{record.w[0]});
    case RawKind::mpi_collective:
      return timeline.sink().mpi_collective(time, collective(record, comm));
    case RawKind::mpi_icoll_post:
      return timeline.sink().mpi_icollective_request(time, RequestId{record.w[0]});
    case RawKind::mpi_icoll:
      return timeline.sink().mpi_icollective_complete(time, collective(record, comm),
                                                      RequestId{record.w[3]});
    default:
      return;  // communicators were read by the survey; the rest says nothing about time
  }
}

}  // namespace culprit::assemble
