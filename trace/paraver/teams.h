// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which threads of a process execute a parallel region together.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/imported/process.h"
#include "trace/paraver/thread_builder.h"

namespace culprit::trace {

/// A thread of a process, by its key there.
struct TeamThread {
  int64_t key = 0;
  const BuiltThread* built = nullptr;
};

/// Adds what makes a team of the threads that execute the body of a region while that is open: the
/// fork, its members, and their wait for each other until the region is left.
void add_teams(const std::vector<TeamThread>& threads, ImportedProcess& process,
               ImportedRegions& regions, uint64_t& numbers);

}  // namespace culprit::trace
