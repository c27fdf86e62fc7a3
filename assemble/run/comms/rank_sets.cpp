// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sets are kept by their members, sorted.
#include "assemble/run/comms/rank_sets.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "base/result.h"

namespace culprit::assemble {
namespace {

std::optional<std::vector<ProcessId>> processes_of(const RankBits& set,
                                                   const std::vector<ProcessId>& group) {
  std::vector<ProcessId> processes;
  for (const auto& [index, bits] : set) {
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
      const uint64_t rank = index * 64 + static_cast<uint64_t>(std::countr_zero(rest));
      if (index > UINT32_MAX || rank >= group.size()) return std::nullopt;
      processes.push_back(group[rank]);
    }
  }
  std::sort(processes.begin(), processes.end());
  return processes;
}

}  // namespace

const std::vector<ProcessId>& partners_in(const trace::Comm& comm, ProcessId self) {
  const bool inter = comm.kind == trace::CommKind::mpi_inter;
  const bool member =
      inter && std::find(comm.members.begin(), comm.members.end(), self) != comm.members.end();
  return member ? comm.remote : comm.members;
}

RankSets::RankSets(const std::vector<trace::Group>& known) : known_(known.size()), groups_(known) {
  for (size_t i = 0; i < known.size(); ++i) ids_.try_emplace(known[i].members, GroupId(i));
}

void RankSets::pack(Packer& packer) const {
  for (size_t i = known_; i < groups_.size(); ++i) {
    packer.put_list(std::span<const ProcessId>(groups_[i].members));
  }
}

void RankSets::join(const std::vector<Parcel>& all) {
  std::erase_if(ids_, [&](const auto& one) { return one.second.index() >= known_; });
  groups_.resize(known_);
  for (const Parcel& parcel : all) {
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      auto members = unpacker.get_list<ProcessId>();
      const bool added = ids_.try_emplace(members, GroupId(groups_.size())).second;
      if (added) groups_.push_back({std::move(members)});
    }
  }
}

std::vector<trace::Group> RankSets::complete() {
  complete_ = true;
  return groups_;
}

GroupId RankSets::find(const RankBits& set, const trace::Comm& comm, ProcessId self) {
  const std::vector<ProcessId> only_self(1, self);
  const bool alone = comm.kind == trace::CommKind::mpi_self;
  auto processes = processes_of(set, alone ? only_self : partners_in(comm, self));
  if (!processes) return GroupId::none();
  const std::lock_guard lock(mutex_);
  const auto [it, added] = ids_.try_emplace(*processes, GroupId(groups_.size()));
  CULPRIT_CHECK(!complete_ || !added);
  if (added) groups_.push_back({std::move(*processes)});
  return it->second;
}

}  // namespace culprit::assemble
