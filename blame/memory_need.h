// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Refuses a trace that would fill the memory, before it does.
#pragma once

#include <cstdint>

#include "base/ranks/transport.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::blame {

/// Checks that memory suffices on each node for all its ranks. `given`: bytes that each rank may
/// take; 0: all free memory. Collective; the answer is the same on all ranks.
Result<void> check_memory(const trace::Source& source, Transport& ranks, uint64_t given);

}  // namespace culprit::blame
