// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Receives and probes of a channel are merged in the order in which they were posted.
#include "replay/detect/find_probed.h"

#include <algorithm>
#include <tuple>

#include "trace/mpi_calls.h"

namespace culprit::replay {

namespace {

uint64_t channel_number(CommId comm, uint32_t peer, int32_t tag) {
  return (uint64_t{comm.index()} << 32 ^ uint64_t{peer}) * 0x9e3779b97f4a7c15ull ^
         static_cast<uint32_t>(tag);
}

uint64_t operation_number(LocationId location, uint32_t op) {
  return uint64_t{location.index()} << 32 | op;
}

}  // namespace

AskingRegion asking_region_of(const trace::Region& region) {
  using trace::MpiTrait;
  const trace::MpiCall* const call = trace::mpi_call(region);
  if (call == nullptr) return {};
  const bool tests = call->is(MpiTrait::tests);
  return {.polls = tests || call->is(MpiTrait::polls),
          .tests = tests,
          .probes = call->is(MpiTrait::probes),
          .spins = call->is(MpiTrait::spins)};
}

ProbeFinder::ProbeFinder(const Run& run, ProcessId process) : run_(run) {
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    const ProbeFacts& facts = run.at(id).probes;
    for (const Probe& probe : facts.probes) {
      if (!probe.waits && probe.polled_since == Time::max()) continue;
      probes_.push_back({id, &probe});
      channels_.set(channel_number(probe.comm, probe.peer, probe.tag), 0);
    }
    for (size_t i = 0; i < facts.polled.size(); ++i) {
      polled_.set(operation_number(id, facts.polled[i].op), static_cast<uint32_t>(i));
    }
  }
}

std::optional<ProbeFinder::Polled> ProbeFinder::received(const MatchedMessage& message) {
  std::optional<Polled> polled;
  if (!polled_.empty()) polled = find_polled(message);
  const MessageOp& recv = message.recv;
  if (channels_.find(channel_number(recv.comm, recv.peer, recv.tag)) == FlatMap::kNone) {
    return polled;
  }
  CallRef order = run_.ref(message.receiver, recv.posted);
  if (recv.rare) {
    const RareMessage& rare = run_.at(message.receiver).rare_recvs.at(message.op);
    if (rare.partitioned != 0) return polled;
    if (rare.met.valid()) order = rare.met;
  }
  received_.push_back({recv.comm, recv.peer, recv.tag, run_.call(order).enter, message.sent.met_at,
                       message.sent.met});
  return polled;
}

std::optional<ProbeFinder::Polled> ProbeFinder::find_polled(const MatchedMessage& message) const {
  const uint32_t polled = polled_.find(operation_number(message.receiver, message.op));
  if (polled == FlatMap::kNone) return std::nullopt;
  const Call posted = run_.call(run_.ref(message.receiver, message.recv.posted));
  const CallRef completed = run_.ref(message.receiver, message.recv.completed);
  const Call call = run_.call(completed);
  const Time since = std::max(posted.enter, run_.at(message.receiver).probes.polled[polled].since);
  return Polled{
      completed.location,
      {since, std::min(message.sent.met.enter, call.leave), call.path, message.sent.met_at}};
}

void ProbeFinder::sort() {
  std::sort(received_.begin(), received_.end(), [](const Received& a, const Received& b) {
    return std::tie(a.comm, a.peer, a.tag, a.order, a.sent.enter, a.sender) <
           std::tie(b.comm, b.peer, b.tag, b.order, b.sent.enter, b.sender);
  });
}

const ProbeFinder::Received* ProbeFinder::find(const Probe& probe, const Call& call) const {
  const auto key = [](const auto& at, Time time) {
    return std::tuple(at.comm, at.peer, at.tag, time);
  };
  const auto next = std::lower_bound(
      received_.begin(), received_.end(), key(probe, call.enter),
      [&](const Received& r, const auto& wanted) { return key(r, r.order) < wanted; });
  if (next == received_.end() || key(*next, Time::max()) != key(probe, Time::max())) return nullptr;
  const bool matched = probe.number != trace::MatchedProbe::none;
  return matched && next->order != call.enter ? nullptr : next;
}

void separate(Column<Polling>& pollings) {
  std::sort(pollings.begin(), pollings.end(), [](const Polling& a, const Polling& b) {
    return std::tie(a.begin, a.end, a.path, a.sender) < std::tie(b.begin, b.end, b.path, b.sender);
  });
  size_t kept = 0;
  for (Polling one : pollings) {
    if (kept > 0) one.begin = std::max(one.begin, pollings[kept - 1].end);
    if (one.begin < one.end) pollings[kept++] = one;
  }
  pollings.resize(kept);
}

}  // namespace culprit::replay
