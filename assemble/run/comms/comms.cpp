// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators are settled once their parent is; those without a parent that all members know are
// settled by their members.
#include "assemble/run/comms/comms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "assemble/run/comms/comm_joins.h"

namespace culprit::assemble {
namespace {

using trace::Comm;
using trace::CommKind;

using Members = std::vector<ProcessId>;
/// Parent (none for inter-communicators: their two sides have different ones), both groups, the
/// value that all of them passed, and how many with these came before on the process.
using Identity = std::tuple<CommId, Members, Members, uint64_t, uint32_t>;

/// A definition that waits until its members are known, or has found them.
struct Entry {
  const CommUser* user;
  size_t process;  ///< index of `user`
  const CommDefinition* definition;
};

/// Own members and the others, in the process's own view.
struct Groups {
  Members own;
  Members remote;
};

class Unifier {
 public:
  Unifier(const std::vector<World>& worlds, Losses& losses) : worlds_(worlds), losses_(losses) {
    for (const World& world : worlds_) {
      const bool first = world_ids_.empty();
      world_ids_.push_back(CommId(table_.comms.size()));
      table_.comms.push_back(
          {first ? "MPI_COMM_WORLD" : fmt::format("MPI_COMM_WORLD {}", world_ids_.size()),
           first ? CommKind::mpi_world : CommKind::mpi,
           world.members,
           {}});
    }
    if (!worlds_.empty()) {
      self_ = CommId(table_.comms.size());
      table_.comms.push_back({"MPI_COMM_SELF", CommKind::mpi_self, {}, {}});
    }
  }

  CommTable unify(const std::vector<CommUser>& users) {
    std::vector<Entry> waiting;
    for (size_t i = 0; i < users.size(); ++i) begin(users[i], i, waiting);
    seen_.resize(users.size());
    // The members at the other side of one may determine the members of the next.
    do {
      std::erase_if(waiting, [&](const Entry& entry) { return settle(entry); });
    } while (pair_sides(sides_) && join_sides());
    for (const Entry& entry : waiting) settle_without_parent(entry);
    for (size_t side = 0; side < sides_.size(); ++side) {
      if (sides_[side].partner) continue;
      const bool ambiguous = is_ambiguous(sides_, side);
      for (const Entry& entry : told_[side]) ambiguous ? give_up_choice(entry) : give_up(entry);
    }
    return std::move(table_);
  }

 private:
  void begin(const CommUser& user, size_t process, std::vector<Entry>& waiting) {
    auto& local = table_.local.emplace_back();
    if (!user.world) return;
    local[trace::kRawCommWorld] = world_ids_[*user.world];
    local[trace::kRawCommSelf] = self_;
    for (const CommDefinition& definition : user.survey->comms) {
      waiting.push_back({&user, process, &definition});
    }
  }

  /// False if it has to wait for its parent.
  bool settle(const Entry& entry) {
    const CommDefinition& definition = *entry.definition;
    auto& local = table_.local[entry.process];
    if (definition.members.empty()) {  // MPI_COMM_NULL
      local[definition.comm] = CommId::none();
      return true;
    }
    const auto parent = local.find(definition.parent);
    if (parent == local.end()) return false;
    Groups groups;
    const bool known = resolve(entry, definition.members, groups.own) &&
                       resolve(entry, definition.remote, groups.remote);
    if (known) {
      local[definition.comm] = identify(entry, parent->second, std::move(groups));
    } else if (groups.own.size() == definition.members.size() && joins_worlds(definition)) {
      tell_side(entry, parent->second, std::move(groups.own));
    } else {
      give_up(entry);
    }
    return true;
  }

  /// The parent's definition is lost, or hangs on one whose members are not known.
  void settle_without_parent(const Entry& entry) {
    table_.local[entry.process].emplace(entry.definition->parent, CommId::none());
    settle(entry);
  }

  static bool joins_worlds(const CommDefinition& definition) {
    return definition.link >= trace::RawCommLink::intercomm && !definition.remote.empty();
  }

  /// The processes behind ranks; false if one is unknown.
  bool resolve(const Entry& entry, const std::vector<uint32_t>& ranks, Members& members) const {
    const Members& world = worlds_[*entry.user->world].members;
    const Groups parent =
        groups_of(table_.local[entry.process].at(entry.definition->parent), entry.user->process);
    for (const uint32_t rank : ranks) {
      if (rank < world.size()) {
        members.push_back(world[rank]);
        continue;
      }
      if (rank == ~0u || (rank & trace::kRawParentRank) == 0) return false;
      const size_t place = rank & ~trace::kRawParentRank;
      if (place < parent.own.size()) {
        members.push_back(parent.own[place]);
      } else if (place - parent.own.size() < parent.remote.size()) {
        members.push_back(parent.remote[place - parent.own.size()]);
      } else {
        return false;
      }
    }
    return true;
  }

  Groups groups_of(CommId id, ProcessId process) const {
    if (!id.valid()) return {};
    const Comm& comm = table_.comms[id.index()];
    const auto& remote = comm.remote;
    const bool swapped = std::find(remote.begin(), remote.end(), process) != remote.end();
    return swapped ? Groups{remote, comm.members} : Groups{comm.members, remote};
  }

  /// The value that all members passed; where there are roots, only they know it.
  static uint64_t key_of(const CommDefinition& definition) {
    const bool all = definition.link == trace::RawCommLink::tag ||
                     definition.link == trace::RawCommLink::intercomm;
    return all ? definition.key : 0;
  }

  CommId identify(const Entry& entry, CommId parent, Groups groups) {
    const bool inter = !groups.remote.empty();
    // The two sides list the groups in opposite order.
    if (inter && groups.remote < groups.own) std::swap(groups.own, groups.remote);
    Identity identity{inter ? CommId::none() : parent, groups.own, groups.remote,
                      key_of(*entry.definition), 0};
    std::get<4>(identity) = seen_[entry.process][identity]++;
    const auto [it, added] = ids_.try_emplace(identity, CommId(table_.comms.size()));
    if (added) add_comm(std::move(groups));
    return it->second;
  }

  CommId add_comm(Groups groups) {
    const bool inter = !groups.remote.empty();
    table_.comms.push_back({fmt::format("communicator {}", table_.comms.size()),
                            inter ? CommKind::mpi_inter : CommKind::mpi, std::move(groups.own),
                            std::move(groups.remote)});
    return CommId(table_.comms.size() - 1);
  }

  /// Adds to the same side on all its members: made from the same parent, and the n-th like that.
  void tell_side(const Entry& entry, CommId parent, Members own) {
    const CommDefinition& definition = *entry.definition;
    const Members size(definition.remote.size(), entry.user->process.none());
    Identity identity{parent, own, size, static_cast<uint64_t>(definition.link), 0};
    std::get<4>(identity) = seen_[entry.process][identity]++;
    const auto [it, added] = side_ids_.try_emplace(identity, sides_.size());
    if (added) {
      sides_.emplace_back();
      sides_.back().members = std::move(own);
      sides_.back().remote_size = definition.remote.size();
      sides_.back().link = definition.link;
      told_.emplace_back();
    }
    describe_side(entry, sides_[it->second]);
    told_[it->second].push_back(entry);
  }

  void describe_side(const Entry& entry, JoinSide& side) const {
    const CommDefinition& definition = *entry.definition;
    const CommUser& user = *entry.user;
    const Time entered = user.time(definition.entered);
    const bool root = definition.root && side.members[*definition.root] == user.process;
    if (definition.key != 0) side.key = definition.key;
    if (root || !definition.root) side.root_entered = std::min(side.root_entered, entered);
    side.last_entered = std::max(side.last_entered, entered);
    side.first_left = std::min(side.first_left, user.time(definition.ticks));
    if (side.link == trace::RawCommLink::spawn && root) side.spawner = user.name;
    if (side.link == trace::RawCommLink::parent) {
      side.spawner = user.parent;
      side.whole_world = side.members == worlds_[*user.world].members;
    }
  }

  /// Pairs of sides become communicators. True if there were any.
  bool join_sides() {
    bool any = false;
    for (size_t a = 0; a < sides_.size(); ++a) {
      if (!sides_[a].partner || *sides_[a].partner < a || told_[a].empty()) continue;
      const size_t b = *sides_[a].partner;
      const CommId comm = add_comm({sides_[a].members, sides_[b].members});
      for (const size_t side : {a, b}) {
        for (const Entry& entry : told_[side]) {
          table_.local[entry.process][entry.definition->comm] = comm;
        }
        told_[side].clear();
      }
      any = true;
    }
    return any;
  }

  void give_up(const Entry& entry) {
    table_.local[entry.process][entry.definition->comm] = CommId::none();
    losses_.add(LossKind::unknown_communicators);
  }

  void give_up_choice(const Entry& entry) {
    table_.local[entry.process][entry.definition->comm] = CommId::none();
    losses_.add(LossKind::ambiguous_communicators);
  }

  const std::vector<World>& worlds_;
  Losses& losses_;
  CommTable table_;
  std::vector<CommId> world_ids_;
  CommId self_;
  std::map<Identity, CommId> ids_;
  std::vector<std::map<Identity, uint32_t>> seen_;  ///< by process
  std::map<Identity, size_t> side_ids_;
  std::vector<JoinSide> sides_;
  std::vector<std::vector<Entry>> told_;  ///< by side, until it has found its partner
};

/// Every member must have recorded its communicator; one that did not either died before or
/// disagrees.
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
      losses.add(LossKind::incomplete_communicators);
    }
  }
}

}  // namespace

CommTable unify_comms(const std::vector<World>& worlds, const std::vector<CommUser>& users,
                      Losses& losses) {
  CommTable table = Unifier(worlds, losses).unify(users);
  count_incomplete(table, users, losses);
  return table;
}

}  // namespace culprit::assemble
