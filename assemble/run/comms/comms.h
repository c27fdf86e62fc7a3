// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators that each process knows by a number of its own become one communicator for all. Two
// local ones are the same if they have the same parent, the same members, and are the n-th with
// these on their process: MPI makes all members create their communicators of one parent in one
// order. Those that join processes of different worlds: comm_joins.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/run/clock.h"
#include "assemble/run/survey.h"
#include "base/ids.h"
#include "base/losses.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// The processes that share an MPI_COMM_WORLD, by rank. The program's own world is the first.
struct World {
  std::vector<ProcessId> members;
};

/// How one process takes part.
struct CommUser {
  ProcessId process;
  std::optional<size_t> world;  ///< index; none: the process has not initialised MPI
  const Survey* survey = nullptr;
  std::string name;    ///< "<job>.<rank>", the name that the processes it spawns get
  std::string parent;  ///< RawProcess::parent
  const Clock* clock = nullptr;
  size_t folder = 0;  ///< folder whose clock it uses

  Time time(uint64_t ticks) const {
    return clock ? clock->time(folder, ticks) : Time::from_nanos(static_cast<int64_t>(ticks));
  }
};

struct CommTable {
  std::vector<trace::Comm> comms;  ///< by CommId
  /// By process: its own number -> the common id; `none` where the members are not all known.
  std::vector<std::unordered_map<uint32_t, CommId>> local;
};

CommTable unify_comms(const std::vector<World>& worlds, const std::vector<CommUser>& users,
                      Losses& losses);

}  // namespace culprit::assemble
