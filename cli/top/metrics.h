// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The figures of a run as Prometheus' text format has them, for node exporter's textfile collector:
// a site then sees the efficiency of its jobs, and the blamed function, over their time. The number
// of series is bounded: at most kMostNamed functions and patterns, whatever the program is like.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/top/now.h"

namespace culprit::cli {

/// Names that a label takes of each list.
inline constexpr size_t kMostNamed = 5;

/// `experiment` is its name.
std::string metrics_text(const Now& now, const std::string& experiment);

/// Writes it beside `file` and renames it, as the collector wants it: it reads whole files only.
Result<void> write_metrics(const Now& now, const std::filesystem::path& experiment,
                           const std::filesystem::path& file);

}  // namespace culprit::cli
