// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/part_options.h"

#include "cli/commands/option_checks.h"
#include "cli/pipeline.h"
#include "report/table/selection.h"

namespace culprit::cli {

void add_part_options(CLI::App& command, PartOptions& part) {
  command
      .add_option("--from", part.from_s, "of a trace, what happens from this second of the run on")
      ->check(some_seconds());
  command.add_option("--to", part.to_s, "of a trace, what happens up to this second of the run")
      ->check(some_seconds());
  command.add_option("--rank", part.ranks, "of a trace, these ranks alone, as in 0,4-7")
      ->check(not_empty());
  command
      .add_option("--shortest", part.shortest_s,
                  "of a trace, no activities and waits of fewer seconds")
      ->check(some_seconds());
}

Result<blame::ExcerptSelection> selected_part(const PartOptions& part) {
  blame::ExcerptSelection selection;
  if (part.from_s) selection.from_s = *part.from_s;
  if (part.to_s) selection.to_s = *part.to_s;
  if (part.shortest_s) selection.shortest_s = *part.shortest_s;
  if (part.ranks.empty()) return selection;
  auto ranks = report::parse_ranks(part.ranks);
  if (!ranks) return ranks.error();
  selection.ranks = std::move(*ranks);
  return selection;
}

Result<blame::Excerpt> open_excerpt(const std::filesystem::path& experiment,
                                    const blame::ExcerptSelection& selection, unsigned threads,
                                    Losses& losses, std::optional<uint64_t> window) {
  const auto info = read_info(experiment);
  if (!info) return info.error();
  if (window) {
    const assemble::LongRun run(trace_of(experiment, *info).parent_path(), threads);
    const auto opened = run.open(*window, assemble::Keep::nothing);
    if (!opened) return opened.error();
    return blame::read_excerpt(*opened->records.source, selection, threads, losses);
  }
  const auto opened = open_trace(experiment, *info, threads, losses);
  if (!opened) return opened.error();
  return blame::read_excerpt(*opened->source, selection, threads, losses);
}

}  // namespace culprit::cli
