// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Traces of PyTorch's profiler (Kineto): one JSON file a rank, plain or packed by gzip.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::trace {

/// Reads the files of one job, several at a time. What users should know of the trace besides
/// losses comes as sentences in `notes`. Errors, one sentence each: a file that is no such trace,
/// or that lacks what waits are found by (operations of devices, and the calls that launch them).
Result<std::unique_ptr<Source>> open_kineto(const std::vector<std::filesystem::path>& files,
                                            unsigned threads, Losses& losses,
                                            std::vector<std::string>& notes);

}  // namespace culprit::trace
