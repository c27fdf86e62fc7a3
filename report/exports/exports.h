// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs in the formats of other tools. Each is a file of its own with one function, and a row of
// exports.def. Exports of findings have sums; those of excerpts have single events with times;
// those of runs read the whole trace themselves.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/result.h"
#include "blame/excerpt/excerpt.h"
#include "blame/findings/findings.h"
#include "trace/source.h"

namespace culprit::report {

/// Writes findings to `output`, which does not exist yet.
struct FindingsExport {
  std::string_view name, summary;
  Result<void> (*write)(const blame::Findings& findings, const std::filesystem::path& output);
};

/// The same for an excerpt.
struct ExcerptExport {
  std::string_view name, summary;
  Result<void> (*write)(const blame::Excerpt& excerpt, const std::filesystem::path& output);
};

/// Exports a whole trace, on `threads` threads (0: all cores).
struct RunExport {
  std::string_view name, summary;
  Result<void> (*write)(const trace::Source& source, const std::filesystem::path& output,
                        unsigned threads, Losses& losses);
};

/// Points of a model. Extra-P refuses a file in which a call path is not in all of them, so each
/// run has all that any of them has.
Result<void> export_extrap(std::span<const blame::Findings* const> runs,
                           const std::filesystem::path& output);

std::span<const FindingsExport> findings_exports();
std::span<const ExcerptExport> excerpt_exports();
std::span<const RunExport> run_exports();

#define FINDINGS_EXPORT(id, summary) \
  Result<void> export_##id(const blame::Findings&, const std::filesystem::path& output);
#define EXCERPT_EXPORT(id, summary) \
  Result<void> export_##id(const blame::Excerpt&, const std::filesystem::path& output);
#define RUN_EXPORT(id, summary)                                                       \
  Result<void> export_##id(const trace::Source&, const std::filesystem::path& output, \
                           unsigned threads, Losses& losses);
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
#undef RUN_EXPORT

}  // namespace culprit::report
