// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Makes a trace of the processes that an importer has read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/imported/process.h"
#include "trace/source.h"

namespace culprit::trace {

/// A job whose processes say nothing of each other has no `comms`; one that has some has a rank for
/// each process, in their order. `creator` is the tool that recorded, as users know it. Processes
/// come in the order of their ranks, those without one in the order given, and are numbered without
/// gaps; notes about that go to `notes`. Error if two processes are the same rank, or none has a
/// call or an operation.
Result<std::unique_ptr<Source>> make_source(std::vector<ImportedProcess> processes,
                                            std::string creator, unsigned threads, Losses& losses,
                                            std::vector<std::string>& notes,
                                            std::vector<ImportedComm> comms = {});

}  // namespace culprit::trace
