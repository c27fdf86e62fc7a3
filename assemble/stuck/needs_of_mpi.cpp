// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One function for each sort of call: from what the records say of it to the set of locations that
// could let it return. What a communicator does not tell is no need, since a wrong one would blame
// somebody.
#include "assemble/stuck/needs_of_mpi.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/events.h"

namespace culprit::assemble::stuck {
namespace {

using trace::CollectiveOp;
using trace::RawAwaits;

constexpr uint64_t kNoRoot = ~uint64_t{0};

/// The root has nothing to wait for, and all others wait for it.
bool is_one_to_all(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::scatter || op == CollectiveOp::scatterv;
}

/// One need that any of several could meet.
Need any(std::vector<Need> needs, std::string why) {
  Need one;
  one.why = std::move(why);
  if (!needs.empty()) one.whom = needs.front().whom;
  for (const Need& need : needs) {
    one.any_of.insert(one.any_of.end(), need.any_of.begin(), need.any_of.end());
  }
  return one;
}

void append(std::vector<Need>& to, std::vector<Need> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

NeedsOfMpi::NeedsOfMpi(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                       const std::vector<ProcessEnd>& processes, const std::vector<bool>& parked)
    : run_(run),
      ends_(ends),
      processes_(processes),
      parked_(parked),
      messages_(open_messages(run, ends, processes)) {
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].request != 0) by_request_[{messages_[i].process, messages_[i].request}] = i;
  }
}

/// Below MPI_THREAD_SERIALIZED only threads that have called MPI do so again.
std::vector<size_t> NeedsOfMpi::actors(ProcessId process) const {
  constexpr uint32_t kSerialized = 2;
  const ProcessEnd& end = processes_[process.index()];
  if (!end.folder) return end.lanes;
  if (end.left_mpi) return {};
  const bool any_thread = run_.folders[*end.folder].process.thread_level >= kSerialized;
  std::vector<size_t> able;
  for (const size_t lane : end.lanes) {
    const bool may = any_thread || ends_[lane].calls_mpi || end.lanes.size() == 1;
    if (may && !parked_[lane] && !ends_[lane].ended) able.push_back(lane);
  }
  return able;
}

std::string NeedsOfMpi::name(ProcessId process) const {
  const bool ranked = run_.processes.slots[process.index()].world.has_value();
  return fmt::format("{} {}", ranked ? "rank" : "process", process.index());
}

Need NeedsOfMpi::need(ProcessId process, std::string why) const {
  const ProcessEnd& end = processes_[process.index()];
  Need need{actors(process), end.lanes.empty() ? 0 : end.lanes.front(), std::move(why)};
  if (!need.any_of.empty()) need.whom = need.any_of.front();
  if (need.any_of.empty() && end.folder) {
    const trace::RawProcess& record = run_.folders[*end.folder].process;
    const Time left = run_.clock.time(
        *end.folder,
        record.end_ticks != 0 ? record.end_ticks : run_.accounts[*end.folder].survey.last_ticks);
    need.why += fmt::format(", but {} {} at {:.3f} s", name(process),
                            end.gone ? "exited" : "left MPI", (left - Time()).seconds());
  }
  return need;
}

std::vector<Need> NeedsOfMpi::of(size_t lane) const {
  const OpenCall& call = ends_[lane].call;
  std::vector<Need> needs;
  for (const OpenMessage& message : messages_) {
    if (message.request == 0 && message.lane == lane) append(needs, for_message(message));
  }
  if (call.kind == CallKind::tests) append(needs, for_tests(lane));
  if (call.lock) append(needs, for_lock(lane, *call.lock));
  if (call.awaited) append(needs, for_call(lane, *call.awaited));
  return needs;
}

// --- Messages ---

std::string NeedsOfMpi::tag_and_comm(const OpenMessage& message) const {
  std::string text =
      message.tag == trace::kRawAny ? " with any tag" : fmt::format(" with tag {}", message.tag);
  return text + in_comm(message.comm);
}

/// Nothing of MPI_COMM_WORLD.
std::string NeedsOfMpi::in_comm(CommId id) const {
  const trace::Comm& comm = run_.comms.comms[id.index()];
  return comm.kind == trace::CommKind::mpi_world ? "" : fmt::format(" in {}", comm.name);
}

std::vector<Need> NeedsOfMpi::for_message(const OpenMessage& message) const {
  if (message.met) return {};
  if (!message.sends) return for_receive(message);
  if (!message.peer) return {};
  return {need(*message.peer, fmt::format("for {} to receive its message{}", name(*message.peer),
                                          tag_and_comm(message)))};
}

std::vector<Need> NeedsOfMpi::for_receive(const OpenMessage& message) const {
  if (message.peer) {
    Need one = need(*message.peer, fmt::format("for a message from {}{}", name(*message.peer),
                                               tag_and_comm(message)));
    if (!message.other_tags.empty()) {
      one.why += fmt::format(" ({} has sent a message with tag {}, which was not received)",
                             name(*message.peer), fmt::join(message.other_tags, ", "));
    }
    return {one};
  }
  std::vector<Need> each;
  const trace::Comm& comm = run_.comms.comms[message.comm.index()];
  bool anybody = false;
  for (const ProcessId peer : partners_in(comm, message.process)) {
    // A thread that waits for anybody's message sends none to itself.
    if (peer == message.process && processes_[peer.index()].lanes.size() == 1) continue;
    each.push_back(need(peer, ""));
    anybody = anybody || !each.back().any_of.empty();
  }
  std::string why = message.known
                        ? fmt::format("for a message from any rank{}", tag_and_comm(message))
                        : "for a message";
  if (!anybody) why += ", but all others have left MPI";
  return {any(std::move(each), std::move(why))};
}

// --- Requests ---

std::vector<Need> NeedsOfMpi::for_request(const Pending& pending, size_t lane) const {
  const ProcessId process = run_.lanes[lane].process;
  if (pending.kind == Pending::Kind::collective) {
    const auto& local = run_.comms.local[process.index()];
    const auto comm = local.find(pending.message.comm);
    if (comm == local.end() || !comm->second.valid()) return {};
    return for_collective({process, pending.place, pending.op, kNoRoot, /*nonblocking=*/true},
                          comm->second, "the nonblocking collective");
  }
  if (pending.in_partitions) return {for_partitions(process, lane)};
  const auto at = by_request_.find({process, pending.request});
  if (at == by_request_.end()) return {};
  const OpenMessage& message = messages_[at->second];
  if (!message.sends && message.peer && has_open_partitions(message))
    return {for_partitions(*message.peer, lane)};
  return for_message(message);
}

/// Whoever sends says of each partition when it is ready (MPI_Pready).
Need NeedsOfMpi::for_partitions(ProcessId sender, size_t lane) const {
  Need one = need(
      sender, fmt::format("for {} to mark the last partitions of a message ready", name(sender)));
  std::erase(one.any_of, lane);  // it waits
  return one;
}

/// Of what is sent to this receive.
bool NeedsOfMpi::has_open_partitions(const OpenMessage& receive) const {
  const std::vector<Pending>& sends = processes_[receive.peer->index()].pending;
  return std::any_of(sends.begin(), sends.end(), [&](const Pending& one) {
    const auto at = by_request_.find({*receive.peer, one.request});
    if (!one.in_partitions || at == by_request_.end()) return false;
    const OpenMessage& send = messages_[at->second];
    return send.comm == receive.comm && send.peer == receive.process && send.tag == receive.tag;
  });
}

std::vector<Need> NeedsOfMpi::for_requests(size_t lane, const Awaited& awaited) const {
  const ProcessId process = run_.lanes[lane].process;
  const std::vector<Pending>& pending = processes_[process.index()].pending;
  std::vector<Need> needs;
  for (const uint64_t handle : awaited.words) {
    // Handles are used again: the last one counts.
    const auto at = std::find_if(pending.rbegin(), pending.rend(),
                                 [&](const Pending& one) { return one.handle == handle; });
    std::vector<Need> more =
        at == pending.rend() || handle == 0 ? std::vector<Need>() : for_request(*at, lane);
    // One that is complete, or of which nothing is known, may be enough.
    if (awaited.what == RawAwaits::any_request && more.empty()) return {};
    append(needs, std::move(more));
  }
  if (awaited.what == RawAwaits::all_requests || needs.size() < 2) return needs;
  if (awaited.arg > awaited.words.size()) return {};
  std::string why = fmt::format("{} (or one of {} more)", needs.front().why, needs.size() - 1);
  return {any(std::move(needs), std::move(why))};
}

/// Which requests it tests, the records do not say: if nobody will complete any that is open, it is
/// one of these. (Probes stand among the messages.)
std::vector<Need> NeedsOfMpi::for_tests(size_t lane) const {
  if (ends_[lane].call.is_probe()) return {};
  const ProcessId process = run_.lanes[lane].process;
  std::vector<Need> needs;
  for (const Pending& pending : processes_[process.index()].pending) {
    std::vector<Need> more = for_request(pending, lane);
    if (more.empty()) return {};
    append(needs, std::move(more));
  }
  if (needs.size() < 2) return needs;
  std::string why = fmt::format("{} (or one of {} more)", needs.front().why, needs.size() - 1);
  return {any(std::move(needs), std::move(why))};
}

// --- Calls that several make together ---

std::vector<Need> NeedsOfMpi::for_call(size_t lane, const Awaited& awaited) const {
  const ProcessId process = run_.lanes[lane].process;
  const std::string& call = ends_[lane].call.name;
  switch (awaited.what) {
    case RawAwaits::message:
      return {};  // among the open messages
    case RawAwaits::all_requests:
    case RawAwaits::any_request:
      return for_requests(lane, awaited);
    case RawAwaits::collective: {
      const auto& local = run_.comms.local[process.index()];
      const auto comm = local.find(awaited.arg);
      if (comm == local.end() || !comm->second.valid() || awaited.words.size() < 2) return {};
      return for_collective({process, done_by(process, {Channel::Kind::collective, awaited.arg}),
                             static_cast<CollectiveOp>(awaited.words[1]), awaited.words[0]},
                            comm->second, call);
    }
    case RawAwaits::window_making:
      return for_members(process, {Channel::Kind::window_making, awaited.arg}, call);
    case RawAwaits::file_opening:
      return for_members(process, {Channel::Kind::file_opening, awaited.arg}, call);
    case RawAwaits::window:
      return for_members(process, {Channel::Kind::window, awaited.arg}, call);
    case RawAwaits::file:
      return for_members(process, {Channel::Kind::file, awaited.arg}, call);
    case RawAwaits::epoch_start:
    case RawAwaits::epoch_wait:
      return for_epoch(process, awaited);
    case RawAwaits::partner:
      return for_partner(process);
    case RawAwaits::init:
    case RawAwaits::finalize:
      return for_world(process, awaited.what);
  }
  return {};
}

const OpenCall* NeedsOfMpi::open_collective(ProcessId process, CommId comm) const {
  const auto& local = run_.comms.local[process.index()];
  for (const size_t lane : processes_[process.index()].lanes) {
    const OpenCall& call = ends_[lane].call;
    if (call.kind != CallKind::mpi || !call.awaited) continue;
    if (call.awaited->what != RawAwaits::collective || call.awaited->words.size() < 2) continue;
    const auto known = local.find(call.awaited->arg);
    if (known != local.end() && known->second == comm) return &call;
  }
  return nullptr;
}

/// What it began at that place and has not completed. Where several threads take part, their places
/// are unknown.
const Pending* NeedsOfMpi::pending_collective(ProcessId process, Channel channel,
                                              uint64_t place) const {
  const ProcessEnd& end = processes_[process.index()];
  const auto takes_part = [&](size_t lane) { return ends_[lane].done.contains(channel); };
  if (std::count_if(end.lanes.begin(), end.lanes.end(), takes_part) > 1) return nullptr;
  const auto at = std::find_if(end.pending.begin(), end.pending.end(), [&](const Pending& one) {
    return one.kind == Pending::Kind::collective && one.message.comm == channel.number &&
           one.place == place;
  });
  return at == end.pending.end() ? nullptr : &*at;
}

uint64_t NeedsOfMpi::done_by(ProcessId process, Channel channel) const {
  const auto& done = processes_[process.index()].done;
  const auto count = done.find(channel);
  return count == done.end() ? 0 : count->second;
}

/// For what one waits if `member` has not come, or is in another operation than this one. A
/// nonblocking collective and a blocking one never meet.
std::optional<std::string> NeedsOfMpi::absence(ProcessId member, const Place& own, CommId comm,
                                               const std::string& call) const {
  std::string why = fmt::format("for {} to enter {}{}", name(member), call, in_comm(comm));
  const ProcessEnd& end = processes_[member.index()];
  const auto number = end.numbers.find(comm);
  if (!end.folder || number == end.numbers.end()) return why;
  const Channel channel{Channel::Kind::collective, number->second};
  if (const Pending* begun = pending_collective(member, channel, own.place)) {
    if (!own.nonblocking)
      return why + ", which has begun a nonblocking collective on the same communicator instead";
    if (begun->op == own.op) return std::nullopt;
    return why + ", which has begun another one on the same communicator";
  }
  const uint64_t done = done_by(member, channel);
  if (done > own.place) return std::nullopt;
  const OpenCall* theirs = done == own.place ? open_collective(member, comm) : nullptr;
  if (theirs == nullptr) return why;
  if (own.nonblocking || static_cast<CollectiveOp>(theirs->awaited->words[1]) != own.op) {
    return fmt::format("{}, which is in {} on the same communicator", why, theirs->name);
  }
  if (!own.rooted() || theirs->awaited->words[0] == own.root) return std::nullopt;
  return why + ", which names another root";
}

/// Where data flows from or to a root, the others need the root, and if it has come, any of those
/// that are missing may be the one that matters: so of a broadcast for its root, too.
std::vector<Need> NeedsOfMpi::for_collective(const Place& own, CommId id,
                                             const std::string& call) const {
  const trace::Comm& comm = run_.comms.comms[id.index()];
  std::optional<ProcessId> root;
  if (own.rooted()) root = process_of_rank(comm, own.process, static_cast<int64_t>(own.root));
  std::vector<Need> missing;
  for (const ProcessId member : partners_in(comm, own.process)) {
    if (member == own.process) continue;
    std::optional<std::string> why = absence(member, own, id, call);
    if (!why) continue;
    missing.push_back(need(member, std::move(*why)));
    if (root == member) return {missing.back()};
  }
  const bool needs_all = !is_one_to_all(own.op) && (!own.rooted() || root == own.process);
  if (needs_all || missing.size() < 2) return missing;
  std::string why = fmt::format("{} (or one of {} more)", missing.front().why, missing.size() - 1);
  return {any(std::move(missing), std::move(why))};
}

bool NeedsOfMpi::is_in(ProcessId process, RawAwaits what, uint32_t number) const {
  for (const size_t lane : processes_[process.index()].lanes) {
    const OpenCall& call = ends_[lane].call;
    if (call.kind == CallKind::mpi && call.awaited && call.awaited->what == what &&
        call.awaited->arg == number) {
      return true;
    }
  }
  return false;
}

const trace::Comm* NeedsOfMpi::comm_of(ProcessId process, uint32_t number) const {
  const auto& local = run_.comms.local[process.index()];
  const auto comm = local.find(number);
  return comm == local.end() || !comm->second.valid() ? nullptr
                                                      : &run_.comms.comms[comm->second.index()];
}

const trace::Comm* NeedsOfMpi::comm_of_channel(ProcessId process, Channel channel) const {
  const LocalObjects& objects = run_.objects.local[process.index()];
  if (channel.kind == Channel::Kind::window) {
    const auto window = objects.windows.find(channel.number);
    if (window == objects.windows.end() || !window->second.valid()) return nullptr;
    return &run_.comms.comms[run_.objects.windows[window->second.index()].comm.index()];
  }
  if (channel.kind == Channel::Kind::file) {
    const auto file = objects.files.find(channel.number);
    if (file == objects.files.end() || !file->second.comm.valid()) return nullptr;
    return &run_.comms.comms[file->second.comm.index()];
  }
  return comm_of(process, channel.number);
}

/// The same channel, as another process numbers it.
std::optional<Channel> NeedsOfMpi::channel_of(ProcessId other, ProcessId process,
                                              Channel channel) const {
  const LocalObjects& mine = run_.objects.local[process.index()];
  const LocalObjects& theirs = run_.objects.local[other.index()];
  if (channel.kind == Channel::Kind::window) {
    const WindowId window = mine.windows.at(channel.number);
    for (const auto& [number, id] : theirs.windows) {
      if (id == window) return Channel{channel.kind, number};
    }
    return std::nullopt;
  }
  if (channel.kind == Channel::Kind::file) {
    const FileId file = mine.files.at(channel.number).file;
    for (const auto& [number, on] : theirs.files) {
      if (on.file == file) return Channel{channel.kind, number};
    }
    return std::nullopt;
  }
  const CommId comm = run_.comms.local[process.index()].at(channel.number);
  const auto number = processes_[other.index()].numbers.find(comm);
  if (number == processes_[other.index()].numbers.end()) return std::nullopt;
  return Channel{channel.kind, number->second};
}

std::vector<Need> NeedsOfMpi::for_members(ProcessId process, Channel channel,
                                          const std::string& call) const {
  const trace::Comm* comm = comm_of_channel(process, channel);
  if (comm == nullptr) return {};
  static const std::map<Channel::Kind, RawAwaits> kAwaits = {
      {Channel::Kind::window_making, RawAwaits::window_making},
      {Channel::Kind::file_opening, RawAwaits::file_opening},
      {Channel::Kind::window, RawAwaits::window},
      {Channel::Kind::file, RawAwaits::file}};
  const uint64_t place = done_by(process, channel);
  std::vector<Need> missing;
  for (const ProcessId member : partners_in(*comm, process)) {
    if (member == process) continue;
    const std::optional<Channel> there = channel_of(member, process, channel);
    const bool has_come = there && (done_by(member, *there) > place ||
                                    (done_by(member, *there) == place &&
                                     is_in(member, kAwaits.at(channel.kind), there->number)));
    if (!has_come)
      missing.push_back(need(member, fmt::format("for {} to enter {}", name(member), call)));
  }
  return missing;
}

std::vector<Need> NeedsOfMpi::for_world(ProcessId process, RawAwaits what) const {
  const auto world = run_.processes.slots[process.index()].world;
  if (!world) return {};
  const bool init = what == RawAwaits::init;
  std::vector<Need> missing;
  for (const ProcessId member : run_.processes.worlds[*world].members) {
    const ProcessEnd& end = processes_[member.index()];
    if (member == process || is_in(member, what, trace::kRawCommWorld)) continue;
    if (init ? end.initialized : end.finalized) continue;
    missing.push_back(
        need(member, init ? fmt::format("for {} to enter MPI_Init", name(member))
                          : fmt::format("for {} to enter MPI_Finalize", name(member))));
  }
  return missing;
}

// --- Windows ---

std::vector<Need> NeedsOfMpi::for_lock(size_t lane, const OpenCall::Lock& lock) const {
  const ProcessId process = run_.lanes[lane].process;
  const Channel channel{Channel::Kind::window, lock.window};
  const trace::Comm* comm = comm_of_channel(process, channel);
  if (comm == nullptr) return {};
  std::vector<Need> needs;
  for (const ProcessId other : partners_in(*comm, process)) {
    const std::optional<Channel> there = channel_of(other, process, channel);
    if (!there || other == process) continue;
    for (const size_t theirs : processes_[other.index()].lanes) {
      const OpenCall& call = ends_[theirs].call;
      for (const RmaHold& held : ends_[theirs].locks) {
        const bool is_requested =
            call.lock && call.lock->window == held.window && call.lock->target == held.target;
        const bool same_target = held.target == lock.target ||
                                 held.target == trace::kRawAllTargets ||
                                 lock.target == trace::kRawAllTargets;
        if (held.window != there->number || is_requested || !same_target) continue;
        if (!held.exclusive && !lock.exclusive) continue;
        needs.push_back(
            need(other, fmt::format("for the lock of a window that {} holds", name(other))));
      }
    }
  }
  return needs;
}

std::vector<Need> NeedsOfMpi::for_epoch(ProcessId process, const Awaited& awaited) const {
  const Channel channel{Channel::Kind::window, awaited.arg};
  const trace::Comm* comm = comm_of_channel(process, channel);
  if (comm == nullptr) return {};
  const bool starts = awaited.what == RawAwaits::epoch_start;
  std::vector<uint32_t> ranks(awaited.words.begin(), awaited.words.end());
  for (const size_t lane : processes_[process.index()].lanes) {
    const auto& epochs = starts ? ends_[lane].accessed : ends_[lane].exposed;
    const auto epoch = epochs.find(awaited.arg);
    if (ranks.empty() && epoch != epochs.end()) ranks = epoch->second;
  }
  const std::vector<ProcessId> members = partners_in(*comm, process);
  const auto self = std::find(members.begin(), members.end(), process) - members.begin();
  std::vector<Need> needs, others;
  for (const uint32_t rank : ranks) {
    if (rank >= members.size()) continue;
    const std::optional<Channel> there = channel_of(members[rank], process, channel);
    if (!there) continue;
    bool in_epoch = false;
    for (const size_t lane : processes_[members[rank].index()].lanes) {
      const auto& epochs = starts ? ends_[lane].exposed : ends_[lane].accessed;
      const auto epoch = epochs.find(there->number);
      in_epoch = in_epoch ||
                 (epoch != epochs.end() && std::find(epoch->second.begin(), epoch->second.end(),
                                                     self) != epoch->second.end());
    }
    const std::string who = name(members[rank]);
    if (starts && !in_epoch) {
      needs.push_back(need(members[rank], fmt::format("for {} to post its window", who)));
    } else if (!starts) {
      // Who is in no access epoch may have completed it.
      (in_epoch ? needs : others)
          .push_back(need(members[rank], fmt::format("for {} to complete its access", who)));
    }
  }
  if (!needs.empty() || others.empty()) return needs;
  std::string why = others.front().why;
  return {any(std::move(others), std::move(why))};
}

/// Who makes a communicator with it, the records do not say.
std::vector<Need> NeedsOfMpi::for_partner(ProcessId process) const {
  std::vector<Need> each;
  for (size_t p = 0; p < processes_.size(); ++p) {
    if (ProcessId(p) != process) each.push_back(need(ProcessId(p), ""));
  }
  return {any(std::move(each), "for the processes with which it makes a communicator")};
}

}  // namespace culprit::assemble::stuck
