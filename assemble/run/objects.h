// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Windows and files that each process knows by a number of its own become one for all. MPI makes
// all members of a communicator create them in one order, so the n-th on a communicator is the same
// one on all of its processes.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assemble/run/comms/comms.h"

namespace culprit::assemble {

/// The meaning of one process's numbers. Ids are `none` where the communicator's members are not
/// known.
struct LocalObjects {
  struct FileOn {
    FileId file;
    CommId comm;
  };
  std::unordered_map<uint32_t, WindowId> windows;
  std::unordered_map<uint32_t, FileOn> files;
  /// By window and the ranks in it.
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, GroupId> groups;
};

struct ObjectTable {
  std::vector<trace::Window> windows;  ///< by WindowId
  std::vector<trace::File> files;      ///< by FileId
  std::vector<trace::Group> groups;    ///< by GroupId: all that synchronise on windows
  std::vector<LocalObjects> local;     ///< by process
};

ObjectTable unify_objects(const CommTable& comms, const std::vector<CommUser>& users);

}  // namespace culprit::assemble
