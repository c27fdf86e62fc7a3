// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/match_collectives.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/flat_map.h"
#include "base/parallel.h"

namespace culprit::replay {

namespace {

/// An operation of one process, by the communicator.
struct Member {
  CommId comm;
  LocationId location;
  uint32_t op;  ///< index into its collectives
};

/// What one process did on one communicator, in order: its n-th is everybody's n-th.
struct Sequence {
  uint32_t rank;  ///< those of a second group follow those of the first
  std::span<const Member> members;
};

/// Of each process, sorted by communicator and then by time.
std::vector<Member> members_of(const Run& run, ProcessId process) {
  std::vector<Member> members;
  size_t tellers = 0;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    const Column<CollectiveOp>& all = run.at(id).collectives;
    tellers += !all.empty();
    for (uint32_t i = 0; i < all.size(); ++i) members.push_back({all[i].comm, id, i});
  }
  // Calls that last no time begin together: then their order tells.
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
      : run_(run), threads_(threads), members_(run.definitions->processes.size()) {}

  void match(const CollectiveVisitors& visitors, Losses& losses) {
    parallel_for(members_.size(), threads_,
                 [&](size_t p) { members_[p] = members_of(run_, ProcessId(p)); });
    std::vector<std::vector<Sequence>> sequences(run_.comm_count());
    for (size_t p = 0; p < members_.size(); ++p) add_sequences(ProcessId(p), sequences);
    for (size_t c = 0; c < sequences.size(); ++c) add_work(CommId(c), sequences[c]);
    visitors.shares(work_.size());
    std::vector<uint64_t> incomplete(work_.size());
    parallel_for(work_.size(), threads_, [&](size_t w) {
      incomplete[w] = visit(work_[w], sequences, *visitors.visitor_of(w));
    });
    for (uint64_t n : incomplete) incomplete_ += n;
    losses.add("incomplete_collectives", Severity::data_loss,
               "collective operations that not all members of their communicator took part "
               "in, as far as the trace tells: waits in them may be missing",
               incomplete_);
  }

 private:
  /// Some operations of one communicator.
  struct Work {
    CommId comm;
    uint32_t begin, end;
  };
  static constexpr uint32_t kPartsAtOnce = 1 << 14;

  void add_sequences(ProcessId process, std::vector<std::vector<Sequence>>& sequences) {
    const std::vector<Member>& all = members_[process.index()];
    for (size_t i = 0, end; i < all.size(); i = end) {
      end = i + 1;
      while (end < all.size() && all[end].comm == all[i].comm) ++end;
      const CommId id = all[i].comm;
      if (!id.valid() || id.index() >= sequences.size()) continue;
      const trace::Comm& comm = run_.comm(id);
      if (comm.kind == trace::CommKind::mpi_self) continue;
      sequences[id.index()].push_back({rank_in(id, process), std::span(all).subspan(i, end - i)});
    }
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

  void add_work(CommId comm, std::vector<Sequence>& sequences) {
    size_t operations = 0;
    for (const Sequence& s : sequences) operations = std::max(operations, s.members.size());
    if (operations == 0) return;
    std::sort(sequences.begin(), sequences.end(),
              [](const Sequence& a, const Sequence& b) { return a.rank < b.rank; });
    const auto at_once = static_cast<uint32_t>(kPartsAtOnce / sequences.size() + 1);
    for (uint32_t begin = 0; begin < operations; begin += at_once) {
      work_.push_back({comm, begin, std::min(begin + at_once, static_cast<uint32_t>(operations))});
    }
  }

  uint64_t visit(const Work& work, const std::vector<std::vector<Sequence>>& sequences,
                 OperationVisitor& visitor) {
    const std::vector<Sequence>& all = sequences[work.comm.index()];
    const trace::Comm& comm = run_.comm(work.comm);
    const auto locals = static_cast<uint32_t>(comm.members.size());
    std::vector<Part> parts;
    uint64_t incomplete = 0;
    for (uint32_t ordinal = work.begin; ordinal < work.end; ++ordinal) {
      parts.clear();
      for (const Sequence& s : all) {
        if (ordinal >= s.members.size()) continue;
        const Side side = comm.kind != trace::CommKind::mpi_inter ? Side::whole
                          : s.rank < locals                       ? Side::first
                                                                  : Side::second;
        const uint32_t rank = side == Side::second ? s.rank - locals : s.rank;
        parts.push_back(part(rank, side, s.members[ordinal]));
      }
      incomplete += comm.members.size() + comm.remote.size() != parts.size();
      visitor.visit(work.comm, ordinal, parts);
    }
    return incomplete;
  }

  Part part(uint32_t rank, Side side, const Member& member) const {
    const CollectiveOp& op = run_.at(member.location).collectives[member.op];
    const CallRef posted = run_.ref(member.location, op.posted);
    const CallRef completed = run_.ref(member.location, op.completed);
    return {&op,
            rank,
            side,
            posted.location,
            completed.location,
            run_.call(posted),
            run_.call(completed)};
  }

  const Run& run_;
  unsigned threads_;
  std::vector<std::vector<Member>> members_;  // by ProcessId
  std::map<CommId, FlatMap> ranks_;           // of communicators whose ranks are in no order
  std::vector<Work> work_;
  uint64_t incomplete_ = 0;
};

}  // namespace

void match_collectives(const Run& run, unsigned threads, const CollectiveVisitors& visitors,
                       Losses& losses) {
  CollectiveMatcher(run, threads).match(visitors, losses);
}

}  // namespace culprit::replay
