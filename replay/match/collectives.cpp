// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All ranks learn how many operations each process did on each communicator. The operations of a
// communicator are cut into blocks, which the ranks that hold its members visit in turn: each gets
// the parts of the others' processes. A communicator with one such rank stays there.
#include "replay/match/collectives.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "replay/match/remote_parts.h"

namespace culprit::replay {

namespace {

/// One process's part in an operation, keyed by the communicator.
struct Member {
  CommId comm;
  LocationId location;
  uint32_t op;  ///< index into its collectives
};

/// The operations of one process on one communicator, in order: the n-th is the same on all
/// members.
struct Sequence {
  uint32_t rank;   ///< those of a second group follow those of the first
  uint32_t count;  ///< of operations
  size_t owner;
  std::span<const Member> members;  ///< of this rank's processes
};

/// A Sequence in the form that ranks exchange.
struct ToldSequence {
  CommId comm;
  ProcessId process;
  uint32_t count;
};

/// The operations of all processes on one communicator.
struct Sequences {
  size_t count = 0;
  uint32_t operations = 0;      ///< of the longest
  std::vector<Sequence> all;    ///< by rank in the communicator; only where this rank has any,
  std::vector<size_t> holders;  ///< and then all ranks that have some, ascending
};

/// Some operations of one communicator. One of its holders visits them: the others send it the
/// parts of their processes.
struct Work {
  CommId comm;
  uint32_t begin, end;
  size_t share;  ///< its number, the same on all ranks
  size_t visitor;
  std::vector<std::span<const std::byte>> received;  ///< by the visitor from the others, in order
};

/// Returns the operations of a process, sorted by communicator and then by time.
std::vector<Member> members_of(const Run& run, ProcessId process) {
  std::vector<Member> members;
  size_t tellers = 0;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    const Column<CollectiveOp>& all = run.at(id).collectives;
    tellers += !all.empty();
    for (uint32_t i = 0; i < all.size(); ++i) members.push_back({all[i].comm, id, i});
  }
  // Calls of zero length may begin together: then their order decides.
  const auto posted = [&](const Member& m) {
    const CallRef call = run.ref(m.location, run.at(m.location).collectives[m.op].posted);
    return std::tuple(run.call(call).enter, call.location, call.call, m.op);
  };
  const auto earlier = [&](const Member& a, const Member& b) {
    return a.comm != b.comm ? a.comm < b.comm : posted(a) < posted(b);
  };
  // Mostly one thread calls them; completions of non-blocking ones may come in another order.
  if (!std::is_sorted(members.begin(), members.end(), earlier)) {
    std::sort(members.begin(), members.end(), earlier);
  }
  return members;
}

class CollectiveMatcher {
 public:
  CollectiveMatcher(const Run& run, unsigned threads)
      : run_(run),
        threads_(threads),
        self_(run.ranks->rank()),
        members_(run.definitions->processes.size()),
        sequences_(run.comm_count()) {}

  /// Collective.
  void match(const CollectiveVisitors& visitors, Losses& losses) {
    parallel_for(members_.size(), threads_, [&](size_t p) {
      if (run_.owns(ProcessId(p))) members_[p] = members_of(run_, ProcessId(p));
    });
    find_sequences();
    for (size_t c = 0; c < sequences_.size(); ++c) add_work(CommId(c));
    if (!run_.ranks->alone()) exchange_parts();
    visitors.shares(shares_);
    std::vector<uint64_t> incomplete(work_.size());
    parallel_for(work_.size(), threads_, [&](size_t w) {
      if (work_[w].visitor != self_) return;
      incomplete[w] = visit(work_[w], *visitors.visitor_of(work_[w].share));
    });
    losses.add(LossKind::incomplete_collectives,
               std::accumulate(incomplete.begin(), incomplete.end(), uint64_t{0}));
  }

 private:
  static constexpr uint32_t kPartsAtOnce = 1 << 14;

  void find_sequences() {
    Packer own;
    std::vector<bool> held(sequences_.size());
    for (size_t p = 0; p < members_.size(); ++p) {
      const std::vector<Member>& all = members_[p];
      for (size_t i = 0, end; i < all.size(); i = end) {
        end = i + 1;
        while (end < all.size() && all[end].comm == all[i].comm) ++end;
        const CommId comm = all[i].comm;
        if (!comm.valid() || comm.index() >= sequences_.size()) continue;
        if (run_.comm(comm).kind == trace::CommKind::mpi_self) continue;
        own.put(ToldSequence{comm, ProcessId(p), static_cast<uint32_t>(end - i)});
        held[comm.index()] = true;
      }
    }
    const std::vector<Parcel> told = gather_everywhere(*run_.ranks, own.take());
    for (size_t rank = 0; rank < told.size(); ++rank) {
      for (Unpacker unpacker(told[rank]); !unpacker.done();) {
        const auto one = unpacker.get<ToldSequence>();
        add_sequence(one, rank, held[one.comm.index()]);
      }
    }
  }

  void add_sequence(const ToldSequence& told, size_t rank, bool held) {
    Sequences& known = sequences_[told.comm.index()];
    ++known.count;
    known.operations = std::max(known.operations, told.count);
    if (!held) return;
    if (known.holders.empty() || known.holders.back() != rank) known.holders.push_back(rank);
    const uint32_t rank_of_process = rank_in(told.comm, told.process);
    known.all.push_back({rank_of_process, told.count, rank, own_members(told)});
  }

  /// Empty for a process of another rank.
  std::span<const Member> own_members(const ToldSequence& told) const {
    const std::vector<Member>& all = members_[told.process.index()];
    const auto first = std::lower_bound(all.begin(), all.end(), told.comm,
                                        [](const Member& m, CommId c) { return m.comm < c; });
    if (first == all.end()) return {};
    return std::span(all).subspan(static_cast<size_t>(first - all.begin()), told.count);
  }

  /// UINT32_MAX if it is no member.
  uint32_t rank_in(CommId id, ProcessId process) {
    const trace::Comm& comm = run_.comm(id);
    const std::vector<ProcessId>& members = comm.members;
    // In the world, and in most others, ranks are in the order of processes.
    const auto sorted = std::lower_bound(members.begin(), members.end(), process);
    if (sorted != members.end() && *sorted == process) {
      return static_cast<uint32_t>(sorted - members.begin());
    }
    FlatMap& ranks = ranks_[id];
    if (ranks.empty()) {
      for (size_t r = 0; r < members.size(); ++r) {
        ranks.set(members[r].index(), static_cast<uint32_t>(r));
      }
      for (size_t r = 0; r < comm.remote.size(); ++r) {
        ranks.set(comm.remote[r].index(), static_cast<uint32_t>(members.size() + r));
      }
    }
    return ranks.find(process.index());
  }

  void add_work(CommId comm) {
    Sequences& known = sequences_[comm.index()];
    if (known.operations == 0) return;
    std::stable_sort(known.all.begin(), known.all.end(),
                     [](const Sequence& a, const Sequence& b) { return a.rank < b.rank; });
    const auto at_once = static_cast<uint32_t>(kPartsAtOnce / known.count + 1);
    size_t turn = comm.index();  // small communicators begin with different ones
    for (uint32_t begin = 0; begin < known.operations; begin += at_once, ++shares_) {
      if (known.holders.empty()) continue;
      const uint32_t end = std::min(begin + at_once, known.operations);
      const size_t visitor = known.holders[turn++ % known.holders.size()];
      work_.push_back({comm, begin, end, shares_, visitor, {}});
    }
  }

  /// Sends the parts of own processes to the ranks that visit them, and lays out the received
  /// parts.
  void exchange_parts() {
    std::vector<PartWriter> own(work_.size());
    parallel_for(work_.size(), threads_, [&](size_t w) {
      const Work& work = work_[w];
      if (work.visitor == self_) return;
      for (const Sequence& s : sequences_[work.comm.index()].all) {
        const size_t end = std::min(size_t{work.end}, s.members.size());
        for (size_t i = work.begin; i < end; ++i) {
          own[w].add(part(s.rank, Side::whole, s.members[i]));
        }
      }
    });
    std::vector<Packer> to(run_.ranks->size());
    for (size_t w = 0; w < work_.size(); ++w) {
      if (work_[w].visitor == self_) continue;
      to[work_[w].visitor].put_list(own[w].bytes());
      own[w] = {};
    }
    received_ = exchange(*run_.ranks, std::move(to));
    std::vector<Unpacker> unpackers(received_.begin(), received_.end());
    for (Work& work : work_) {
      if (work.visitor != self_) continue;
      for (size_t holder : sequences_[work.comm.index()].holders) {
        if (holder != self_) work.received.push_back(unpackers[holder].get_bytes());
      }
    }
  }

  /// The parts of others' processes in some work, one sequence after the other.
  std::vector<RemotePart> unpack(const Work& work, const Sequences& known) const {
    std::vector<PartReader> readers(work.received.begin(), work.received.end());
    std::vector<RemotePart> parts;
    for (const Sequence& s : known.all) {
      if (s.owner == self_) continue;
      const auto holder = std::lower_bound(known.holders.begin(), known.holders.end(), s.owner);
      auto reader = static_cast<size_t>(holder - known.holders.begin());
      reader -= s.owner > self_;  // this rank, among the holders, sends itself nothing
      for (uint32_t i = work.begin; i < std::min(work.end, s.count); ++i) {
        parts.push_back(readers[reader].next(work.comm));
      }
    }
    return parts;
  }

  uint64_t visit(const Work& work, OperationVisitor& visitor) const {
    const Sequences& known = sequences_[work.comm.index()];
    const trace::Comm& comm = run_.comm(work.comm);
    const auto locals = static_cast<uint32_t>(comm.members.size());
    const std::vector<RemotePart> remote = unpack(work, known);
    std::vector<Part> parts;
    uint64_t incomplete = 0;
    for (uint32_t ordinal = work.begin; ordinal < work.end; ++ordinal) {
      parts.clear();
      size_t first = 0;  // of those of one sequence, in `remote`
      for (const Sequence& s : known.all) {
        const size_t mine = first + (ordinal - work.begin);
        if (s.owner != self_) first += std::min(work.end, s.count) - std::min(work.begin, s.count);
        if (ordinal >= s.count) continue;
        const Side side = comm.kind != trace::CommKind::mpi_inter ? Side::whole
                          : s.rank < locals                       ? Side::first
                                                                  : Side::second;
        const uint32_t rank = side == Side::second ? s.rank - locals : s.rank;
        parts.push_back(s.owner == self_ ? part(rank, side, s.members[ordinal])
                                         : part(rank, side, remote[mine]));
      }
      incomplete += comm.members.size() + comm.remote.size() != parts.size();
      visitor.visit(parts);
    }
    return incomplete;
  }

  Part part(uint32_t rank, Side side, const Member& member) const {
    const CollectiveOp& op = run_.at(member.location).collectives[member.op];
    const CallRef posted = run_.ref(member.location, op.posted);
    const CallRef completed = run_.ref(member.location, op.completed);
    Part part{&op,
              rank,
              side,
              posted.location,
              completed.location,
              run_.call(posted),
              run_.call(completed)};
    if (op.polled) part.completed.enter = std::max(part.posted.enter, polled_since(member));
    return part;
  }
  /// Enter of the first test for it that found nothing.
  Time polled_since(const Member& member) const {
    const auto& polled = run_.at(member.location).probes.polled_collectives;
    const auto known = std::lower_bound(
        polled.begin(), polled.end(), member.op,
        [](const PolledOperation& operation, size_t op) { return operation.op < op; });
    return known == polled.end() || known->op != member.op ? Time::max() : known->since;
  }
  static Part part(uint32_t rank, Side side, const RemotePart& remote) {
    const auto& [op, posted_by, location, posted, completed] = remote;
    return {&op, rank, side, posted_by, location, posted, completed};
  }

  const Run& run_;
  unsigned threads_;
  const size_t self_;
  std::vector<std::vector<Member>> members_;  // by ProcessId
  std::vector<Sequences> sequences_;          // by CommId
  std::map<CommId, FlatMap> ranks_;           // of communicators whose ranks are in no order
  std::vector<Work> work_;                    // of the communicators that this rank holds
  std::vector<Parcel> received_;              // by rank
  size_t shares_ = 0;                         // all ranks' work
};

}  // namespace

void match_collectives(const Run& run, unsigned threads, const CollectiveVisitors& visitors,
                       Losses& losses) {
  CollectiveMatcher(run, threads).match(visitors, losses);
}

}  // namespace culprit::replay
