// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The options that choose a part of a run whose events are read again.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "blame/excerpt/excerpt.h"

namespace culprit::cli {

struct PartOptions {
  std::optional<double> from_s, to_s, shortest_s;
  std::string ranks;

  bool given() const { return from_s || to_s || shortest_s || !ranks.empty(); }
};

void add_part_options(CLI::App& command, PartOptions& part);

/// Error if the ranks are no list of ranks.
Result<blame::ExcerptSelection> selected_part(const PartOptions& part);

/// Reads that part of an experiment's trace.
Result<blame::Excerpt> open_excerpt(const std::filesystem::path& experiment,
                                    const blame::ExcerptSelection& selection, unsigned threads,
                                    Losses& losses, std::optional<uint64_t> window = {});

}  // namespace culprit::cli
