// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All ends of a channel are put side by side; those whose number only one side has are left out,
// and those without a number.
#include "assemble/bursts/edges.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "assemble/bursts/message_edges.h"
#include "assemble/run/comms/rank_sets.h"
#include "fold/barriers.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

/// As all processes know it.
struct Channel {
  CommId comm;
  ProcessId sender, receiver;
  int32_t tag = 0;
  uint32_t pair = 0;
  auto operator<=>(const Channel&) const = default;
};

/// An end, and the folder in whose logs it is.
struct FolderEnd {
  size_t folder;
  CountedEnd end;
};

struct BothEnds {
  std::vector<FolderEnd> sent, received;
};

/// The parts of all processes in the operations of one communicator.
struct OperationParts {
  std::set<ProcessId> members;  ///< that have any
  std::vector<std::pair<ProcessId, FolderEnd>> parts;
};

std::set<uint64_t> numbers_of(const std::vector<FolderEnd>& ends) {
  std::set<uint64_t> numbers;
  for (const FolderEnd& end : ends) {
    if (end.end.number) numbers.insert(*end.end.number);
  }
  return numbers;
}

class Edges {
 public:
  explicit Edges(const WindowProcesses& window) : window_(window) {
    for (size_t i = 0; i < window.processes.slots.size(); ++i) {
      const auto folder = window.processes.slots[i].folder;
      if (folder) add(ProcessId(i), *folder);
    }
  }

  uint64_t leave_out_messages() {
    uint64_t left_out = 0;
    for (auto& [channel, ends] : channels_) {
      const std::set<uint64_t> sent = numbers_of(ends.sent), received = numbers_of(ends.received);
      for (const FolderEnd& end : ends.sent) left_out += leave_out_unless(end, received);
      for (const FolderEnd& end : ends.received) left_out += leave_out_unless(end, sent);
    }
    return left_out;
  }

  uint64_t leave_out_operations() {
    uint64_t left_out = 0;
    for (auto& [comm, operation] : operations_) {
      std::map<uint64_t, size_t> there;
      for (const auto& [process, part] : operation.parts) {
        if (part.end.number) ++there[*part.end.number];
      }
      const size_t members = members_with_records(comm);
      std::set<uint64_t> whole;
      for (const auto& [number, count] : there) {
        if (count == members) whole.insert(number);
      }
      for (const auto& [process, part] : operation.parts) left_out += leave_out_unless(part, whole);
    }
    return left_out;
  }

 private:
  void add(ProcessId process, size_t folder) {
    ProcessEnds ends =
        find_ends(window_.folders[folder].logs, window_.begins_inside, window_.known[folder]);
    for (auto& [local, sent] : ends.sends) {
      const auto channel = channel_of(process, folder, local, true);
      if (channel) move_to(channels_[*channel].sent, folder, sent);
    }
    for (auto& [local, received] : ends.receives) {
      const auto channel = channel_of(process, folder, local, false);
      if (channel) move_to(channels_[*channel].received, folder, received);
    }
    for (auto& [local, parts] : ends.operations) {
      const auto comm = comm_of(process, local);
      if (!comm || kind_of(*comm) == trace::CommKind::mpi_self) continue;
      for (CountedEnd& part : parts) {
        operations_[*comm].parts.emplace_back(process, FolderEnd{folder, std::move(part)});
      }
    }
  }

  static void move_to(std::vector<FolderEnd>& all, size_t folder, std::vector<CountedEnd>& ends) {
    for (CountedEnd& end : ends) all.push_back({folder, std::move(end)});
  }

  trace::CommKind kind_of(CommId comm) const { return window_.comms.comms[comm.index()].kind; }

  std::optional<CommId> comm_of(ProcessId process, uint32_t local) const {
    const auto& known = window_.comms.local[process.index()];
    const auto comm = known.find(local);
    if (comm == known.end() || !comm->second.valid()) return std::nullopt;
    return comm->second;
  }

  std::optional<Channel> channel_of(ProcessId self, size_t folder, const LocalChannel& local,
                                    bool sends) const {
    const auto comm = comm_of(self, local.comm);
    if (!comm) return std::nullopt;
    ProcessId peer = self;
    if (kind_of(*comm) != trace::CommKind::mpi_self) {
      const auto& partners = partners_in(window_.comms.comms[comm->index()], self);
      if (local.peer < 0 || static_cast<size_t>(local.peer) >= partners.size()) return std::nullopt;
      peer = partners[static_cast<size_t>(local.peer)];
    }
    const auto& pairs = window_.partitioned[folder];
    const auto pair = pairs.find(local.pair);
    return Channel{*comm, sends ? self : peer, sends ? peer : self, local.tag,
                   pair != pairs.end() ? pair->second : 0};
  }

  size_t members_with_records(CommId id) const {
    const trace::Comm& comm = window_.comms.comms[id.index()];
    const auto have = [&](const std::vector<ProcessId>& members) {
      return static_cast<size_t>(std::count_if(members.begin(), members.end(), [&](ProcessId p) {
        return window_.processes.slots[p.index()].folder.has_value();
      }));
    };
    return have(comm.members) + have(comm.remote);
  }

  uint64_t leave_out_unless(const FolderEnd& end, const std::set<uint64_t>& there) {
    if (end.end.number && there.contains(*end.end.number)) return 0;
    for (const LogRecord& record : end.end.records) {
      window_.folders[end.folder].logs[record.log].leave_out(record.record);
    }
    return 1;
  }

  const WindowProcesses& window_;
  std::map<Channel, BothEnds> channels_;
  std::map<CommId, OperationParts> operations_;
};

// --- Barriers ---

/// What a thread says at the window's begin of the teams that it is in.
struct TeamAtBegin {
  uint64_t region = 0;
  size_t log = 0;
  uint64_t left = 0;            ///< barriers
  std::vector<RawRecord> open;  ///< records with which it is in one: its begin, its wait
  std::vector<RawRecord> all;   ///< the implicit task, and all that is inside it
};

bool is_barrier(const RawRecord& record) {
  const bool meets =
      record.kind == RawKind::omp_sync_begin || record.kind == RawKind::omp_wait_begin;
  return meets && fold::sync_class(record.flags) == fold::kAnyBarrier;
}

/// Teams at the begin; adds to `forked` the regions whose fork any thread still knows then, or
/// reports later.
std::vector<TeamAtBegin> teams_at_begin(const RawLog& log, size_t place,
                                        std::set<uint64_t>& forked) {
  std::vector<TeamAtBegin> teams;
  bool in_preamble = true;
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.kind == RawKind::omp_parallel_begin) {
      forked.insert(record.as<raw::omp_parallel_begin>().region);
    }
    in_preamble = in_preamble && record.kind != RawKind::carried;
    if (!in_preamble || record.noted) continue;
    if (record.kind == RawKind::omp_implicit_begin) {
      teams.push_back({record.as<raw::omp_implicit_begin>().region, place, 0, {}, {}});
    }
    if (teams.empty()) continue;
    TeamAtBegin& team = teams.back();
    if (record.kind == RawKind::omp_barriers) team.left = record.as<raw::omp_barriers>().count;
    if (is_barrier(record)) team.open.push_back(record);
    const trace::RawGroup group = trace::facts_of(record.kind).group;
    const bool is_openmp = group == trace::RawGroup::openmp || group == trace::RawGroup::loops ||
                           group == trace::RawGroup::tasks || group == trace::RawGroup::locks;
    if (is_openmp) team.all.push_back(record);
  }
  return teams;
}

}  // namespace

void leave_out_crossing(const WindowProcesses& window, Crossing& crossing) {
  Edges edges(window);
  crossing.messages += edges.leave_out_messages();
  crossing.operations += edges.leave_out_operations();
}

/// A thread whose barrier others have left already only has not said yet that it goes on. A worker
/// whose team has no fork any more has not said that it left.
void leave_out_left_barriers(RawProcessFolder& folder, Crossing& crossing) {
  std::set<uint64_t> forked;
  std::vector<TeamAtBegin> teams;
  for (size_t i = 0; i < folder.logs.size(); ++i) {
    std::vector<TeamAtBegin> found = teams_at_begin(folder.logs[i], i, forked);
    std::move(found.begin(), found.end(), std::back_inserter(teams));
  }
  std::map<uint64_t, uint64_t> left;  // by region: barriers that some thread has left
  for (const TeamAtBegin& team : teams) {
    left[team.region] = std::max(left[team.region], team.left);
  }
  for (const TeamAtBegin& team : teams) {
    RawLog& log = folder.logs[team.log];
    if (!forked.contains(team.region)) {
      for (const RawRecord& record : team.all) log.leave_out(record);
    } else if (!team.open.empty() && left[team.region] > team.left) {
      for (const RawRecord& record : team.open) log.leave_out(record);
      ++crossing.barriers;
    }
  }
}

}  // namespace culprit::assemble
