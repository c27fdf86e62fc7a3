// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits in MPI's collective operations, blocking and non-blocking.
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
#include <memory>
#include <span>
#include <string_view>

#include "replay/detection.h"
#include "replay/match_collectives.h"

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

/// The parts of one operation, by rank.
struct Operation {
  CommId comm;
  uint32_t ordinal;  ///< how many collectives there were before on the communicator
  std::span<const Part> parts;
  Shape shape;
  size_t last;  ///< position of the last to enter; of several, the lowest rank
};

/// Finds the waits in operations, one after the other.
class WaitFinder final : public OperationVisitor {
 public:
  using Sets = std::vector<std::vector<ProcessId>>;  ///< by GroupId of the trace, sorted

  WaitFinder(const Run& run, const Sets& sets, Detection& out, Outbox& box)
      : run_(run), sets_(sets), out_(out), box_(box) {}

  void visit(CommId comm, uint32_t ordinal, std::span<const Part> parts) override;

 private:
  static bool waits(const Part& part, Time until) {
    return part.op->may_wait && part.completed.enter < until;
  }

  Shape effective_shape(const Part& part) const;
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
  void join_all(const Operation& operation);

  static const Part* root_of(const Operation& operation) {
    const uint32_t rank = operation.parts[0].op->root;
    const auto found = std::lower_bound(operation.parts.begin(), operation.parts.end(), rank,
                                        [](const Part& p, uint32_t r) { return p.rank < r; });
    return found != operation.parts.end() && found->rank == rank ? &*found : nullptr;
  }

  const Run& run_;
  const Sets& sets_;
  Detection& out_;
  Outbox& box_;
  std::vector<LocationId> last_members_;  ///< by rank, of the operation visited last, ...
  GroupId last_group_;                    ///< ... and their group
};

/// Freeing waits for nobody, but MPI_Finalize does; MPI_Init is left out (see above).
Shape WaitFinder::effective_shape(const Part& part) const {
  const trace::CollectiveOp op = part.op->op;
  if (op != trace::CollectiveOp::destroy_handle && op != trace::CollectiveOp::create_handle) {
    return shape_of(op);
  }
  const CallPathId path = part.completed.path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  std::string_view name;
  if (region.valid()) name = run_.regions[region.index()].name;
  if (op == trace::CollectiveOp::destroy_handle) {
    return name == "MPI_Finalize" ? Shape::all_to_all : Shape::none;
  }
  if (name == "MPI_Init" || name == "MPI_Init_thread") return Shape::none;
  return shape_of(op);
}

void WaitFinder::visit(CommId comm, uint32_t ordinal, std::span<const Part> parts) {
  Operation operation{comm, ordinal, parts, effective_shape(parts[0]), 0};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].posted.enter > parts[operation.last].posted.enter) operation.last = i;
  }
  switch (operation.shape) {
    case Shape::barrier:
      return visit_all(operation);
    case Shape::all_to_all: {
      const bool sparse = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
        return part.op->sends_to.valid() || part.op->receives_from.valid();
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

void WaitFinder::add_wait(Pattern pattern, const Part& waiter, const Part& cause) {
  box_.wait(waiter.location, pattern, waiter.completed, cause.posted.enter, cause.posted_by);
}

void WaitFinder::add_pair(const Part& waiter, const Part& cause) {
  const Time w = waiter.completed.leave, c = cause.posted.leave;
  box_.sync(waiter.location, Sync::with(cause.posted_by, w, c));
  box_.sync(cause.posted_by, Sync::with(waiter.location, c, w));
}

/// Everybody waits for the last; once anybody did, every two members are synchronised.
void WaitFinder::visit_all(const Operation& operation) {
  const Part& last = operation.parts[operation.last];
  const Pattern found = operation.shape == Shape::barrier ? pattern("mpi.wait_at_barrier")
                                                          : pattern("mpi.wait_at_nxn");
  bool waited = false;
  for (const Part& part : operation.parts) {
    if (!waits(part, last.posted.enter)) continue;
    waited = true;
    add_wait(found, part, last);
  }
  if (waited) join_all(operation);
}

void WaitFinder::join_all(const Operation& operation) {
  const auto same = [](LocationId id, const Part& part) { return id == part.location; };
  if (!std::equal(last_members_.begin(), last_members_.end(), operation.parts.begin(),
                  operation.parts.end(), same)) {
    last_members_.clear();
    for (const Part& part : operation.parts) last_members_.push_back(part.location);
    std::vector<LocationId> sorted = last_members_;
    std::sort(sorted.begin(), sorted.end());
    last_group_ = out_.group_of(sorted);
  }
  const Instance instance{uint64_t{operation.comm.index()} << 32 | operation.ordinal};
  for (const Part& part : operation.parts) {
    box_.sync(part.location, Sync::of(last_group_, instance, part.completed.leave));
  }
}

bool WaitFinder::contains(culprit::GroupId group, const Part& part) const {
  if (!group.valid()) return true;
  const std::vector<ProcessId>& members = sets_[group.index()];
  return std::binary_search(members.begin(), members.end(), run_.location(part.location).process);
}

bool WaitFinder::gives(const Part& giver, const Part& taker) const {
  return contains(giver.op->sends_to, taker) && contains(taker.op->receives_from, giver);
}

/// Each waits for the last of those that it gets data from.
void WaitFinder::visit_sparse(const Operation& operation) {
  std::vector<const Part*> latest_first;
  for (const Part& part : operation.parts) latest_first.push_back(&part);
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [](const Part* a, const Part* b) { return a->posted.enter > b->posted.enter; });
  for (const Part& part : operation.parts) {
    for (const Part* cause : latest_first) {
      if (!waits(part, cause->posted.enter)) break;
      if (cause == &part || !gives(*cause, part)) continue;
      add_wait(pattern("mpi.wait_at_nxn"), part, *cause);
      add_pair(part, *cause);
      break;
    }
  }
}

void WaitFinder::visit_one_to_all(const Operation& operation) {
  const Part* root = root_of(operation);
  if (root == nullptr) return;
  for (const Part& part : operation.parts) {
    if (&part == root || !waits(part, root->posted.enter) || !gives(*root, part)) continue;
    add_wait(pattern("mpi.late_broadcast"), part, *root);
    add_pair(part, *root);
  }
}

void WaitFinder::visit_all_to_one(const Operation& operation) {
  const Part* root = root_of(operation);
  if (root == nullptr) return;
  const Part* last = root;
  for (const Part& part : operation.parts) {
    if (part.posted.enter > last->posted.enter && gives(part, *root)) last = &part;
  }
  if (!waits(*root, last->posted.enter)) return;
  add_wait(pattern("mpi.early_reduce"), *root, *last);
  for (const Part& part : operation.parts) {
    if (waits(*root, part.posted.enter) && gives(part, *root)) add_pair(*root, part);
  }
}

void WaitFinder::visit_prefix(const Operation& operation) {
  const Part* latest = &operation.parts[0];
  for (const Part& part : operation.parts.subspan(1)) {
    if (waits(part, latest->posted.enter)) {
      add_wait(pattern("mpi.early_scan"), part, *latest);
      add_pair(part, *latest);
    }
    if (part.posted.enter > latest->posted.enter) latest = &part;
  }
}

}  // namespace

void detect_collectives(Run& run, unsigned threads, Detection& out) {
  WaitFinder::Sets sets;
  for (const trace::Group& group : run.definitions->groups) {
    std::vector<ProcessId>& set = sets.emplace_back(group.members);
    std::sort(set.begin(), set.end());
  }
  std::vector<Outbox> boxes;
  match_collectives(
      run, threads,
      {[&](size_t shares) { boxes.resize(shares); },
       [&](size_t share) { return std::make_unique<WaitFinder>(run, sets, out, boxes[share]); }},
      out.losses);
  out.deliver(boxes, threads);
}

}  // namespace culprit::replay
