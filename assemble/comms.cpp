// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/comms.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace culprit::assemble {
namespace {

using trace::Comm;
using trace::CommKind;
using trace::RawCommOrigin;

using Members = std::vector<ProcessId>;
/// Parent (none for inter-communicators: their two sides have different ones), both groups, and how
/// many with these came before on the process.
using Identity = std::tuple<CommId, Members, Members, uint32_t>;

class Unifier {
 public:
  explicit Unifier(const std::vector<World>& worlds, Losses& losses)
      : worlds_(worlds), losses_(losses) {
    for (const World& world : worlds_) {
      const bool first = world_ids_.empty();
      world_ids_.push_back(CommId(table_.comms.size()));
      table_.comms.push_back(
          {first ? "MPI_COMM_WORLD"
                 : fmt::format("MPI_COMM_WORLD of spawned processes {}", world_ids_.size() - 1),
           first ? CommKind::mpi_world : CommKind::mpi,
           world.members,
           {}});
    }
    if (!worlds_.empty()) {
      self_ = CommId(table_.comms.size());
      table_.comms.push_back({"MPI_COMM_SELF", CommKind::mpi_self, {}, {}});
    }
  }

  void add(const CommUser& user) {
    auto& local = table_.local.emplace_back();
    if (!user.world) return;
    local[trace::kRawCommWorld] = world_ids_[*user.world];
    local[trace::kRawCommSelf] = self_;
    std::map<Identity, uint32_t> seen;
    for (const CommDefinition& definition : user.survey->comms) {
      local[definition.comm] = identify(user, definition, local, seen);
    }
  }

  CommTable take() { return std::move(table_); }

 private:
  bool resolve(const CommUser& user, const std::vector<uint32_t>& ranks, Members& members) const {
    const Members& world = worlds_[*user.world].members;
    for (const uint32_t rank : ranks) {
      if (rank >= world.size()) return false;
      members.push_back(world[rank]);
    }
    return true;
  }

  CommId identify(const CommUser& user, const CommDefinition& definition,
                  const std::unordered_map<uint32_t, CommId>& local,
                  std::map<Identity, uint32_t>& seen) {
    if (definition.members.empty()) return CommId::none();  // MPI_COMM_NULL
    Members members;
    Members remote;
    if (definition.origin == RawCommOrigin::spawned ||
        !resolve(user, definition.members, members) || !resolve(user, definition.remote, remote)) {
      losses_.add("unknown_communicators", Severity::warning,
                  "A communicator joins processes of different worlds (MPI_Comm_spawn, "
                  "MPI_Comm_connect); what happens in it is not analysed.");
      return CommId::none();
    }
    const bool inter = !remote.empty();
    // The two sides tell the groups in opposite order.
    if (inter && remote < members) std::swap(members, remote);
    const auto parent = local.find(definition.parent);
    const bool has_parent = !inter && parent != local.end();
    Identity identity{has_parent ? parent->second : CommId::none(), members, remote, 0};
    std::get<3>(identity) = seen[identity]++;
    const auto [it, added] = ids_.try_emplace(identity, CommId(table_.comms.size()));
    if (added) {
      table_.comms.push_back({fmt::format("communicator {}", table_.comms.size()),
                              inter ? CommKind::mpi_inter : CommKind::mpi, std::move(members),
                              std::move(remote)});
    }
    return it->second;
  }

  const std::vector<World>& worlds_;
  Losses& losses_;
  CommTable table_;
  std::vector<CommId> world_ids_;
  CommId self_;
  std::map<Identity, CommId> ids_;
};

/// Every member must have told of its communicator; who did not either died before or disagrees.
void count_incomplete(const CommTable& table, const std::vector<CommUser>& users, Losses& losses) {
  std::vector<size_t> known(table.comms.size());
  for (size_t user = 0; user < users.size(); ++user) {
    for (const auto& [number, comm] : table.local[user]) {
      if (comm.valid()) ++known[comm.index()];
    }
  }
  for (size_t i = 0; i < table.comms.size(); ++i) {
    const Comm& comm = table.comms[i];
    if (comm.kind != CommKind::mpi && comm.kind != CommKind::mpi_inter) continue;
    if (known[i] < comm.members.size() + comm.remote.size()) {
      losses.add("incomplete_communicators", Severity::warning,
                 "Not all members of a communicator have recorded it; operations in it may stay "
                 "unmatched.");
    }
  }
}

}  // namespace

CommTable unify_comms(const std::vector<World>& worlds, const std::vector<CommUser>& users,
                      Losses& losses) {
  Unifier unifier(worlds, losses);
  for (const CommUser& user : users) unifier.add(user);
  CommTable table = unifier.take();
  count_incomplete(table, users, losses);
  return table;
}

}  // namespace culprit::assemble
