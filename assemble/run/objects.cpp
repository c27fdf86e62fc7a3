// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The same unification for windows and for files, by their communicator and their place in its
// order.
#include "assemble/run/objects.h"

#include <fmt/format.h>

#include <tuple>

namespace culprit::assemble {
namespace {

/// On a communicator (of MPI_COMM_SELF, which has one id for all, a process's own), the n-th.
using Identity = std::tuple<CommId, ProcessId, uint32_t>;

/// Numbers one kind of object.
template <class ObjectId>
class Numbering {
 public:
  void next_process() { seen_.clear(); }
  /// The object and whether it is new.
  std::pair<ObjectId, bool> identify(CommId comm, ProcessId owner) {
    const uint32_t before = seen_[comm]++;
    const auto [it, added] = ids_.try_emplace({comm, owner, before}, ObjectId(ids_.size()));
    return {it->second, added};
  }

 private:
  std::map<CommId, uint32_t> seen_;
  std::map<Identity, ObjectId> ids_;
};

class Unifier {
 public:
  explicit Unifier(const CommTable& comms) : comms_(comms) {}

  void add(const CommUser& user, const std::unordered_map<uint32_t, CommId>& local_comms) {
    LocalObjects& local = table_.local.emplace_back();
    windows_.next_process();
    files_.next_process();
    for (const WindowDefinition& definition : user.survey->windows) {
      add_window(user, find(local_comms, definition.comm), definition, local);
    }
    for (const FileDefinition& definition : user.survey->files) {
      add_file(user, find(local_comms, definition.comm), definition, local);
    }
    for (const auto& group : user.survey->epoch_groups) add_group(user, group, local);
  }

  ObjectTable take() { return std::move(table_); }

 private:
  static CommId find(const std::unordered_map<uint32_t, CommId>& local, uint32_t comm) {
    const auto known = local.find(comm);
    return known == local.end() ? CommId::none() : known->second;
  }

  ProcessId owner(const CommUser& user, CommId comm) const {
    const bool self = comms_.comms[comm.index()].kind == trace::CommKind::mpi_self;
    return self ? user.process : ProcessId::none();
  }

  void add_window(const CommUser& user, CommId comm, const WindowDefinition& definition,
                  LocalObjects& local) {
    if (!comm.valid()) return;
    const auto [id, added] = windows_.identify(comm, owner(user, comm));
    if (added) table_.windows.push_back({fmt::format("window {}", id.index()), comm});
    local.windows[definition.window] = id;
  }

  void add_file(const CommUser& user, CommId comm, const FileDefinition& definition,
                LocalObjects& local) {
    if (!comm.valid()) return;
    const auto [id, added] = files_.identify(comm, owner(user, comm));
    if (added) table_.files.push_back({definition.name, "MPI-IO", comm});
    local.files[definition.file] = {id, comm};
  }

  void add_group(const CommUser& user, const EpochGroup& group, LocalObjects& local) {
    const auto window = local.windows.find(group.first);
    if (window == local.windows.end()) return;
    const trace::Comm& comm = comms_.comms[table_.windows[window->second.index()].comm.index()];
    std::vector<ProcessId> members;
    for (const uint32_t rank : group.second) {
      if (comm.kind == trace::CommKind::mpi_self) members.push_back(user.process);
      if (rank < comm.members.size()) members.push_back(comm.members[rank]);
    }
    const auto [it, added] = groups_.try_emplace(members, GroupId(table_.groups.size()));
    if (added) table_.groups.push_back({std::move(members)});
    local.groups[group] = it->second;
  }

  const CommTable& comms_;
  ObjectTable table_;
  Numbering<WindowId> windows_;
  Numbering<FileId> files_;
  std::map<std::vector<ProcessId>, GroupId> groups_;
};

}  // namespace

ObjectTable unify_objects(const CommTable& comms, const std::vector<CommUser>& users) {
  Unifier unifier(comms);
  for (size_t i = 0; i < users.size(); ++i) unifier.add(users[i], comms.local[i]);
  return unifier.take();
}

}  // namespace culprit::assemble
