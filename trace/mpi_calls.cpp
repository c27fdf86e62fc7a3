// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table is sorted by name when culprit is compiled, and searched in steps of halves: each
// region of a trace asks a few times, so that this costs nothing.
#include "trace/mpi_calls.h"

#include <algorithm>
#include <array>

namespace culprit::trace {

namespace {

constexpr auto kCalls = [] {
  using enum MpiTrait;
  auto calls = std::to_array<MpiCall>({
#define MPI_TRAIT(id, meaning)
#define MPI_CALL(name, kind, ...) MpiCall{name, MpiKind::kind, {__VA_ARGS__}},
#include "trace/mpi_calls.def"
  });
  std::sort(calls.begin(), calls.end(),
            [](const MpiCall& a, const MpiCall& b) { return a.name < b.name; });
  return calls;
}();

constexpr auto kTwice =
    std::adjacent_find(kCalls.begin(), kCalls.end(),
                       [](const MpiCall& a, const MpiCall& b) { return a.name == b.name; });
static_assert(kTwice == kCalls.end());

/// The name that all forms of a function have in the table.
std::string_view plain_name(std::string_view function) {
  constexpr std::string_view kLarge = "_c";
  function = name_to_programs(function);
  if (function.ends_with(kLarge)) function.remove_suffix(kLarge.size());
  return function;
}

}  // namespace

std::string_view name_to_programs(std::string_view function) {
  if (function.starts_with("PMPI_")) function.remove_prefix(1);
  return function;
}

const MpiCall* mpi_call(std::string_view function) {
  function = plain_name(function);
  const auto found =
      std::lower_bound(kCalls.begin(), kCalls.end(), function,
                       [](const MpiCall& call, std::string_view name) { return call.name < name; });
  return found != kCalls.end() && found->name == function ? &*found : nullptr;
}

const MpiCall* mpi_call(const Region& region) {
  return region.paradigm == Paradigm::mpi ? mpi_call(region.name) : nullptr;
}

bool is_mpi_call(const Region& region, MpiTrait trait) {
  const MpiCall* const call = mpi_call(region);
  return call != nullptr && call->is(trait);
}

bool is_mpi_call(const Region& region, MpiKind kind) {
  const MpiCall* const call = mpi_call(region);
  return call != nullptr && call->kind == kind;
}

RegionRole role_of_mpi(std::string_view function) {
  const MpiCall* const call = mpi_call(function);
  if (call == nullptr) return RegionRole::function;
  switch (call->kind) {
    case MpiKind::point_to_point:
    case MpiKind::probe:
    case MpiKind::request:
      return RegionRole::point_to_point;
    case MpiKind::collective:
      return call->is(MpiTrait::barrier) ? RegionRole::barrier : RegionRole::collective;
    default:
      return RegionRole::function;
  }
}

}  // namespace culprit::trace
