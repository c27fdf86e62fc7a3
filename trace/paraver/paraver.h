// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads a Paraver trace (.prv, as Extrae writes it, plain or packed by gzip) as a trace::Source,
// with the .pcf beside it, which says what its numbers mean, and the .row, if there is one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::trace {

Result<std::unique_ptr<Source>> open_paraver(const std::filesystem::path& file, unsigned threads,
                                             Losses& losses, std::vector<std::string>& notes);

}  // namespace culprit::trace
