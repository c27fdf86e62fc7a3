// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes any trace as PyTorch's profiler would have recorded it: a text for each process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kineto_text.h"
#include "trace/source.h"

namespace culprit::trace {

/// Whether the trace says for which streams and events calls wait.
enum class SyncRecords { written, left_out };

std::vector<std::string> as_kineto(const Source& source, SyncRecords syncs);

}  // namespace culprit::trace
