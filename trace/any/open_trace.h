// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Opens traces of all formats that culprit reads. Files are known by how they begin, not by their
// names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::trace {

/// Whether the file may be a trace of another tool than those that write OTF2.
bool is_foreign_trace(const std::filesystem::path& file);

/// The traces in a folder: the anchor of an archive, or else files of another tool, all of one
/// format, in the order of their names. None if there is nothing of the kind.
std::vector<std::filesystem::path> find_traces(const std::filesystem::path& folder);

/// Opens one archive, or the files of one job, a file for each rank. `notes` gets what users should
/// know besides losses.
Result<std::unique_ptr<Source>> open_traces(const std::vector<std::filesystem::path>& files,
                                            unsigned threads, Losses& losses,
                                            std::vector<std::string>& notes);

}  // namespace culprit::trace
