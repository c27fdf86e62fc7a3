// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits in MPI's collective operations, blocking and non-blocking. The n-th collective that each
// member calls on a communicator is the same operation on all of them (MPI demands that order).
//
//   N x N, barrier   everybody waits for the last to enter
//   one to all       receivers wait for the root to enter
//   all to one       the root waits for the last to enter
//   prefix (scan)    a rank waits for the last of the lower ranks
//
// Where the trace says that some exchange no data with some others, nobody waits for those.
//
// (thesis, section 2.4.1, figure 2.5). For the non-blocking forms the completing call waits, for
// the posting call of the others. Communicator creation and MPI_Finalize count as N x N; freeing
// and MPI_Init do not: nothing in the standard makes them wait.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "replay/detection.h"

namespace culprit::replay {

namespace {

enum class Shape { none, barrier, all_to_all, one_to_all, all_to_one, prefix };

Shape shape_of(trace::CollectiveOp op) {
  using Op = trace::CollectiveOp;
  switch (op) {
    case Op::barrier:
      return Shape::barrier;
    case Op::bcast:
    case Op::scatter:
    case Op::scatterv:
      return Shape::one_to_all;
    case Op::gather:
    case Op::gatherv:
    case Op::reduce:
      return Shape::all_to_one;
    case Op::scan:
    case Op::exscan:
      return Shape::prefix;
    case Op::allgather:
    case Op::allgatherv:
    case Op::alltoall:
    case Op::alltoallv:
    case Op::alltoallw:
    case Op::allreduce:
    case Op::reduce_scatter:
    case Op::reduce_scatter_block:
    case Op::create_handle:
      return Shape::all_to_all;
    case Op::destroy_handle:  // only MPI_Finalize synchronises: see effective_shape
    case Op::neighbor:
    case Op::other:
      return Shape::none;
  }
  return Shape::none;
}

/// One member's part in one operation.
struct Part {
  CommId comm;
  uint32_t ordinal;     ///< how many collectives on the communicator its process called before
  uint32_t rank;        ///< in the communicator
  LocationId location;  ///< where it completed
  uint32_t op;          ///< index into its collectives
  Time posted;
  CallRef post;
};

/// The parts of one operation, by rank.
struct Operation {
  std::span<const Part> parts;
  Shape shape;
  size_t last;  ///< position of the last to enter; of several, the lowest rank
};

class CollectiveMatcher {
 public:
  CollectiveMatcher(const Run& run, Detection& out) : run_(run), out_(out) {
    for (const trace::Group& group : run.definitions->groups) {
      std::vector<ProcessId>& members = groups_.emplace_back(group.members);
      std::sort(members.begin(), members.end());
    }
  }

  void run() {
    gather();
    for (size_t i = 0; i < parts_.size();) {
      size_t j = i;
      while (j < parts_.size() && same_operation(parts_[i], parts_[j])) ++j;
      visit(std::span(parts_).subspan(i, j - i));
      i = j;
    }
    out_.losses.add("incomplete_collectives", Severity::data_loss,
                    "collective operations that not all members of their communicator took part "
                    "in, as far as the trace tells: waits in them may be missing",
                    incomplete_);
    out_.losses.add("intercommunicator_collectives", Severity::warning,
                    "collective operations on inter-communicators are not searched for waits",
                    inter_);
  }

 private:
  static bool same_operation(const Part& a, const Part& b) {
    return a.comm == b.comm && a.ordinal == b.ordinal;
  }

  const trace::Comm* comm_of(CommId id) const {
    return id.valid() && id.index() < run_.definitions->comms.size()
               ? &run_.definitions->comms[id.index()]
               : nullptr;
  }

  void gather();
  void add_part(LocationId id, uint32_t index, std::vector<std::vector<uint32_t>>& rank_of);

  const CollectiveOp& op_of(const Part& part) const {
    return run_.at(part.location).collectives[part.op];
  }
  const Call& posted(const Part& part) const { return run_.call(op_of(part).posted); }
  const Call& completed(const Part& part) const { return run_.call(op_of(part).completed); }
  LocationId posted_by(const Part& part) const { return op_of(part).posted.location; }
  bool waits(const Part& part, Time until) const {
    return op_of(part).may_wait && completed(part).enter < until;
  }

  Shape effective_shape(const Part& part) const;
  void visit(std::span<const Part> parts);
  void visit_all(const Operation& operation);
  void visit_sparse(const Operation& operation);
  /// Whether data flows from one member to another, as far as the two tell.
  bool gives(const Part& giver, const Part& taker) const;
  bool contains(culprit::GroupId group, const Part& part) const;
  void visit_one_to_all(const Operation& operation);
  void visit_all_to_one(const Operation& operation);
  void visit_prefix(const Operation& operation);
  void add_wait(Pattern pattern, const Part& waiter, const Part& cause);
  void add_pair(const Part& waiter, const Part& cause);

  static const Part* root_of(const Operation& operation, std::optional<uint32_t> rank) {
    if (!rank) return nullptr;
    const auto found = std::lower_bound(operation.parts.begin(), operation.parts.end(), *rank,
                                        [](const Part& p, uint32_t r) { return p.rank < r; });
    return found != operation.parts.end() && found->rank == *rank ? &*found : nullptr;
  }

  const Run& run_;
  Detection& out_;
  std::vector<Part> parts_;
  std::vector<std::vector<ProcessId>> groups_;  ///< of the trace, members in ascending order
  uint64_t incomplete_ = 0;
  uint64_t inter_ = 0;
};

void CollectiveMatcher::add_part(LocationId id, uint32_t index,
                                 std::vector<std::vector<uint32_t>>& rank_of) {
  const CollectiveOp& op = run_.at(id).collectives[index];
  const trace::Comm* comm = comm_of(op.what.comm);
  if (comm == nullptr || comm->kind == trace::CommKind::mpi_self) return;
  if (comm->kind == trace::CommKind::mpi_inter) {
    ++inter_;
    return;
  }
  std::vector<uint32_t>& ranks = rank_of[op.what.comm.index()];
  if (ranks.empty()) {
    ranks.assign(run_.definitions->processes.size(), UINT32_MAX);
    for (size_t r = 0; r < comm->members.size(); ++r) {
      ranks[comm->members[r].index()] = static_cast<uint32_t>(r);
    }
  }
  parts_.push_back({op.what.comm, 0, ranks[run_.location(id).process.index()], id, index,
                    run_.call(op.posted).enter, op.posted});
}

/// All parts, sorted so that an operation's are next to each other, by rank.
void CollectiveMatcher::gather() {
  std::vector<std::vector<uint32_t>> rank_of(run_.definitions->comms.size());
  for (LocationId id : run_.locations) {
    for (uint32_t i = 0; i < run_.at(id).collectives.size(); ++i) add_part(id, i, rank_of);
  }
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    // Calls that last no time begin together: then their order tells.
    return std::tie(a.comm, a.rank, a.posted, a.post.location, a.post.call, a.op) <
           std::tie(b.comm, b.rank, b.posted, b.post.location, b.post.call, b.op);
  });
  for (size_t i = 1; i < parts_.size(); ++i) {
    const bool same_member =
        parts_[i].comm == parts_[i - 1].comm && parts_[i].rank == parts_[i - 1].rank;
    parts_[i].ordinal = same_member ? parts_[i - 1].ordinal + 1 : 0;
  }
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return std::tie(a.comm, a.ordinal, a.rank) < std::tie(b.comm, b.ordinal, b.rank);
  });
}

/// Freeing waits for nobody, but MPI_Finalize does; MPI_Init is left out (see above).
Shape CollectiveMatcher::effective_shape(const Part& part) const {
  const trace::CollectiveOp op = op_of(part).what.op;
  const CallPathId path = completed(part).path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  std::string_view name;
  if (region.valid()) name = run_.regions[region.index()].name;
  if (op == trace::CollectiveOp::destroy_handle) {
    return name == "MPI_Finalize" ? Shape::all_to_all : Shape::none;
  }
  if (name == "MPI_Init" || name == "MPI_Init_thread") return Shape::none;
  return shape_of(op);
}

void CollectiveMatcher::visit(std::span<const Part> parts) {
  if (comm_of(parts[0].comm)->members.size() != parts.size()) ++incomplete_;
  Operation operation{parts, effective_shape(parts[0]), 0};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].posted > parts[operation.last].posted) operation.last = i;
  }
  switch (operation.shape) {
    case Shape::barrier:
      return visit_all(operation);
    case Shape::all_to_all: {
      const bool sparse = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
        return op_of(part).what.sends_to.valid() || op_of(part).what.receives_from.valid();
      });
      return sparse ? visit_sparse(operation) : visit_all(operation);
    }
    case Shape::one_to_all:
      return visit_one_to_all(operation);
    case Shape::all_to_one:
      return visit_all_to_one(operation);
    case Shape::prefix:
      return visit_prefix(operation);
    case Shape::none:
      return;
  }
}

void CollectiveMatcher::add_wait(Pattern pattern, const Part& waiter, const Part& cause) {
  const Call& call = completed(waiter);
  out_.at(waiter.location)
      .wait(pattern, call.path, call.enter, call.leave, cause.posted, posted_by(cause),
            cause.posted);
}

void CollectiveMatcher::add_pair(const Part& waiter, const Part& cause) {
  const Call& w = completed(waiter);
  const Call& c = posted(cause);
  const LocationId by = posted_by(cause);
  out_.at(waiter.location).sync({w.enter, w.leave, by, c.leave, GroupId::none(), 0});
  out_.at(by).sync({c.enter, c.leave, waiter.location, w.leave, GroupId::none(), 0});
}

/// Everybody waits for the last; once anybody did, every two members are synchronised.
void CollectiveMatcher::visit_all(const Operation& operation) {
  const Part& last = operation.parts[operation.last];
  const Pattern found = operation.shape == Shape::barrier ? pattern("mpi.wait_at_barrier")
                                                          : pattern("mpi.wait_at_nxn");
  std::vector<std::pair<LocationId, const Part*>> members;
  bool waited = false;
  for (const Part& part : operation.parts) {
    members.emplace_back(part.location, &part);
    if (!waits(part, last.posted)) continue;
    waited = true;
    add_wait(found, part, last);
  }
  if (!waited) return;
  std::sort(members.begin(), members.end());
  std::vector<LocationId> ids;
  std::vector<Time> exits;
  for (const auto& [id, part] : members) {
    ids.push_back(id);
    exits.push_back(completed(*part).leave);
  }
  const GroupId group = out_.group_of(ids);
  const uint32_t instance = out_.add_instance(group, std::move(exits));
  for (const auto& [id, part] : members) {
    const Call& call = completed(*part);
    out_.at(id).sync({call.enter, call.leave, LocationId::none(), {}, group, instance});
  }
}

bool CollectiveMatcher::contains(culprit::GroupId group, const Part& part) const {
  if (!group.valid()) return true;
  const std::vector<ProcessId>& members = groups_[group.index()];
  return std::binary_search(members.begin(), members.end(), run_.location(part.location).process);
}

bool CollectiveMatcher::gives(const Part& giver, const Part& taker) const {
  return contains(op_of(giver).what.sends_to, taker) &&
         contains(op_of(taker).what.receives_from, giver);
}

/// Each waits for the last of those that it gets data from.
void CollectiveMatcher::visit_sparse(const Operation& operation) {
  std::vector<const Part*> latest_first;
  for (const Part& part : operation.parts) latest_first.push_back(&part);
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [](const Part* a, const Part* b) { return a->posted > b->posted; });
  for (const Part& part : operation.parts) {
    for (const Part* cause : latest_first) {
      if (!waits(part, cause->posted)) break;
      if (cause == &part || !gives(*cause, part)) continue;
      add_wait(pattern("mpi.wait_at_nxn"), part, *cause);
      add_pair(part, *cause);
      break;
    }
  }
}

void CollectiveMatcher::visit_one_to_all(const Operation& operation) {
  const Part* root = root_of(operation, op_of(operation.parts[0]).what.root);
  if (root == nullptr) return;
  for (const Part& part : operation.parts) {
    if (&part == root || !waits(part, root->posted) || !gives(*root, part)) continue;
    add_wait(pattern("mpi.late_broadcast"), part, *root);
    add_pair(part, *root);
  }
}

void CollectiveMatcher::visit_all_to_one(const Operation& operation) {
  const Part* root = root_of(operation, op_of(operation.parts[0]).what.root);
  if (root == nullptr) return;
  const Part* last = root;
  for (const Part& part : operation.parts) {
    if (part.posted > last->posted && gives(part, *root)) last = &part;
  }
  if (!waits(*root, last->posted)) return;
  add_wait(pattern("mpi.early_reduce"), *root, *last);
  for (const Part& part : operation.parts) {
    if (waits(*root, part.posted) && gives(part, *root)) add_pair(*root, part);
  }
}

void CollectiveMatcher::visit_prefix(const Operation& operation) {
  const Part* latest = &operation.parts[0];
  for (const Part& part : operation.parts.subspan(1)) {
    if (waits(part, latest->posted)) {
      add_wait(pattern("mpi.early_scan"), part, *latest);
      add_pair(part, *latest);
    }
    if (part.posted > latest->posted) latest = &part;
  }
}

}  // namespace

void detect_collectives(Run& run, unsigned, Detection& out) {
  CollectiveMatcher(run, out).run();
}

}  // namespace culprit::replay
