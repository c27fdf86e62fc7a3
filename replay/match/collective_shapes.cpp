// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The kind of an operation decides; for neighbours and sparse exchanges the sets of ranks in the
// trace do. Sets are sorted, so that membership is a search.
#include "replay/match/collective_shapes.h"

#include <algorithm>

#include "trace/mpi_calls.h"

namespace culprit::replay {

namespace {

using trace::MpiTrait;

/// Whether the operation was begun in such a call; none: outside of MPI's calls.
bool is(const trace::MpiCall* call, MpiTrait trait) {
  return call != nullptr && call->is(trait);
}

CollectiveKind kind_of_making(const trace::MpiCall* call) {
  const bool init = is(call, MpiTrait::starts_world);
  return {Shape::all_to_all, init, init};
}

/// Freeing a communicator waits for no member, MPI_Finalize does.
CollectiveKind kind_of_freeing(const trace::MpiCall* call) {
  if (is(call, MpiTrait::ends_world)) return {Shape::all_to_all};
  return {is(call, MpiTrait::frees_together) ? Shape::all_to_all : Shape::none, false, true};
}

/// Of an operation that was begun in `call`, which matters where `op` leaves it open.
CollectiveKind kind_of(trace::CollectiveOp op, const trace::MpiCall* call) {
  using Op = trace::CollectiveOp;
  switch (op) {
    case Op::barrier:
      return {Shape::barrier};
    case Op::bcast:
    case Op::scatter:
    case Op::scatterv:
      return {Shape::one_to_all};
    case Op::gather:
    case Op::gatherv:
    case Op::reduce:
      return {Shape::all_to_one};
    case Op::scan:
    case Op::exscan:
      return {Shape::prefix};
    case Op::allgather:
    case Op::allgatherv:
    case Op::alltoall:
    case Op::alltoallv:
    case Op::alltoallw:
    case Op::allreduce:
    case Op::reduce_scatter:
    case Op::reduce_scatter_block:
      return {Shape::all_to_all};
    case Op::create_handle:
      return kind_of_making(call);
    case Op::destroy_handle:
      return kind_of_freeing(call);
    case Op::neighbor:
      return {Shape::neighbors};
    case Op::other:
      return {
          call != nullptr && call->kind == trace::MpiKind::file ? Shape::all_to_all : Shape::none,
          false, true};
  }
  return {};
}

}  // namespace

CollectiveShapes::CollectiveShapes(const Run& run) : run_(run) {
  for (const trace::Group& group : run.definitions->groups) {
    std::vector<ProcessId>& set = sets_.emplace_back(group.members);
    std::sort(set.begin(), set.end());
  }
}

CollectiveKind CollectiveShapes::of(std::span<const Part> parts) const {
  if (run_.is_window(parts[0].op->comm)) return {Shape::fence, false, true};
  const CallPathId path = parts[0].posted.path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  const trace::MpiCall* call = nullptr;
  if (region.valid()) call = trace::mpi_call(run_.regions[region.index()]);
  return kind_of(parts[0].op->op, call);
}

bool CollectiveShapes::sparse(std::span<const Part> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.side != Side::whole || part.op->sends_to.valid() || part.op->receives_from.valid();
  });
}

bool CollectiveShapes::contains(culprit::GroupId group, const Part& part) const {
  if (!group.valid()) return true;
  const std::vector<ProcessId>& members = sets_[group.index()];
  return std::binary_search(members.begin(), members.end(), run_.location(part.location).process);
}

bool CollectiveShapes::left_together(std::span<const Part> parts) {
  Time last = Time::min();
  for (const Part& part : parts) last = std::max(last, part.posted.enter);
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.side != Side::whole && part.completed.leave > last;
  });
}

const Part* CollectiveShapes::root_of(std::span<const Part> parts) {
  const uint32_t rank = parts[0].op->root;
  if (parts[0].side != Side::whole || rank >= CollectiveOp::kIsRoot) {
    const auto root = std::find_if(parts.begin(), parts.end(), [](const Part& part) {
      return part.op->root == CollectiveOp::kIsRoot;
    });
    return root == parts.end() ? nullptr : &*root;
  }
  const auto found = std::lower_bound(parts.begin(), parts.end(), rank,
                                      [](const Part& p, uint32_t r) { return p.rank < r; });
  return found != parts.end() && found->rank == rank ? &*found : nullptr;
}

}  // namespace culprit::replay
