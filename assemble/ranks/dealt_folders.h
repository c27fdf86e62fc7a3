// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first thing that analysis ranks do together: they find the processes of a run, and share them
// out. Each reads the heads of some; all know all heads then, and the logs of each process are read
// by one rank.
#pragma once

#include <cstddef>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/processes.h"
#include "base/files/guarded_path.h"
#include "base/ids.h"
#include "base/losses.h"
#include "base/ranks/transport.h"

namespace culprit::assemble {

struct DealtFolders {
  std::vector<RawProcessFolder> folders;  ///< in order of start; without logs
  std::vector<size_t> owners;             ///< by folder: the rank that reads its logs
};

/// Collective. Shares are runs of processes, in the order of `order_of`, whose logs are about as
/// large. `losses`: of the heads that this rank has read.
DealtFolders deal_folders(Transport& ranks, const GuardedPath& raw, Losses& losses);

/// The first process of rank 1, 2, ... (trace::Source::shares()). A process that left nothing
/// belongs to the rank of the one before.
std::vector<ProcessId> first_processes(const Processes& processes,
                                       const std::vector<size_t>& owners, size_t ranks);

}  // namespace culprit::assemble
