// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's buffers of records, and the events that are made from each record. Records go straight on
// into the log, so that buffers are never hoarded: there are as many as CUPTI fills at once. Since
// 13.0 that is one for each thread that uses CUDA, until the next flush, even if the thread ends
// meanwhile.
#pragma once

#include "gpu/cuda/cupti_library.h"

namespace culprit::gpu::cuda {

/// Enables the kinds of records that are needed. Returns CUPTI_SUCCESS, or the reason why kernels
/// cannot be recorded. `graph_nodes`: each node of a graph by itself, not the whole launch.
CUptiResult enable_activities(const Cupti& cupti, bool graph_nodes);

/// Disables them again: whoever comes next has its own.
void disable_activities(const Cupti& cupti);

}  // namespace culprit::gpu::cuda
