// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which process folder is which process of the trace. Those of the program's MPI_COMM_WORLD come
// first, in order of rank and without gaps (a rank that left nothing keeps its place); then worlds
// of spawned processes; then processes without MPI. Where any process has a runtime that is
// observed, those that only have threads of their own are left out: scripts and tools around the
// program.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/comms/comms.h"
#include "base/ids.h"
#include "base/losses.h"

namespace culprit::assemble {

struct ProcessSlot {
  std::optional<size_t> folder;  ///< index; none: this rank left nothing
  std::optional<size_t> world;   ///< index; none: no MPI
};

struct Processes {
  std::vector<ProcessSlot> slots;  ///< by ProcessId
  std::vector<World> worlds;
};

/// The order in which `folders` become processes, those included that will be left out, as far as
/// their own records say.
std::vector<size_t> order_of(const std::vector<RawProcessFolder>& folders);

/// `folders` in order of start. Sentences that the reader must know are added to `notes`.
Processes arrange_processes(const std::vector<RawProcessFolder>& folders, Losses& losses,
                            std::vector<std::string>& notes);

}  // namespace culprit::assemble
