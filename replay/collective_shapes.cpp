// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/collective_shapes.h"

#include <algorithm>
#include <string_view>

namespace culprit::replay {

namespace {

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
    case Op::destroy_handle:  // only MPI_Finalize synchronises: see below
    case Op::neighbor:
    case Op::other:
      return Shape::none;
  }
  return Shape::none;
}

}  // namespace

CollectiveShapes::CollectiveShapes(const Run& run) : run_(run) {
  for (const trace::Group& group : run.definitions->groups) {
    std::vector<ProcessId>& set = sets_.emplace_back(group.members);
    std::sort(set.begin(), set.end());
  }
}

Shape CollectiveShapes::of(std::span<const Part> parts) const {
  const trace::CollectiveOp op = parts[0].op->op;
  if (op != trace::CollectiveOp::destroy_handle && op != trace::CollectiveOp::create_handle) {
    return shape_of(op);
  }
  const CallPathId path = parts[0].completed.path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  std::string_view name;
  if (region.valid()) name = run_.regions[region.index()].name;
  if (op == trace::CollectiveOp::destroy_handle) {
    return name == "MPI_Finalize" ? Shape::all_to_all : Shape::none;
  }
  if (name == "MPI_Init" || name == "MPI_Init_thread") return Shape::none;
  return shape_of(op);
}

bool CollectiveShapes::sparse(std::span<const Part> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.op->sends_to.valid() || part.op->receives_from.valid();
  });
}

bool CollectiveShapes::contains(culprit::GroupId group, const Part& part) const {
  if (!group.valid()) return true;
  const std::vector<ProcessId>& members = sets_[group.index()];
  return std::binary_search(members.begin(), members.end(), run_.location(part.location).process);
}

const Part* CollectiveShapes::root_of(std::span<const Part> parts) {
  const uint32_t rank = parts[0].op->root;
  const auto found = std::lower_bound(parts.begin(), parts.end(), rank,
                                      [](const Part& p, uint32_t r) { return p.rank < r; });
  return found != parts.end() && found->rank == rank ? &*found : nullptr;
}

}  // namespace culprit::replay
