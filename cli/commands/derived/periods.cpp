// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit periods: the period of a run's recurring phases, and when the next one is expected.

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/printable.h"
#include "cli/commands/derived/derive.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/open_findings.h"
#include "cli/periods/look.h"
#include "cli/terminal.h"
#include "report/json/periods_json.h"
#include "report/table/selection.h"
#include "report/text_page/periods.h"

namespace culprit::cli {
namespace {

using blame::SeriesKind;

/// Makes an experiment of the run's findings with these periods.
int keep_periods(const PeriodsArguments& arguments, const FoundPeriods& found) {
  auto opened = open_findings(arguments.input);
  if (!opened) return fail(opened.error());
  opened->findings.periods = found.rows;
  return keep_derived(std::move(opened->findings), blame::Operation::periods, {arguments.input},
                      arguments.output);
}

/// Error if options on the command line contradict each other.
Result<void> check(const PeriodsArguments& arguments) {
  if (arguments.input.empty() == arguments.values.empty()) {
    return Error{"name an experiment, or a file of values with --csv"};
  }
  if (!arguments.values.empty() &&
      (arguments.follow || !arguments.output.empty() || arguments.profile ||
       !arguments.ranks.empty() || !arguments.series.empty() ||
       !arguments.selection.callpath.empty())) {
    return Error{
        "a file of values has no run, ranks, call paths or series: leave them out with --csv"};
  }
  if (arguments.follow && (arguments.profile || !arguments.output.empty())) {
    return Error{
        "a run that goes on has no findings yet: leave out --profile and -o with --follow"};
  }
  const predict::SeriesSelection& selection = arguments.selection;
  if (std::isnan(selection.from_s) || std::isnan(selection.to_s)) {
    return Error{"--from and --to are seconds of the run"};
  }
  if (auto part = predict::check_part(selection); !part) return part.error();
  if (!(arguments.every_s > 0 && arguments.every_s < 1e6)) {
    return Error{"--every is a number of seconds above 0"};
  }
  if (!std::isfinite(selection.rate_hz) || selection.rate_hz < 0) {
    return Error{"--rate is a number of values per second above 0"};
  }
  return {};
}

int periods(PeriodsArguments arguments) {
  if (auto checked = check(arguments); !checked) return fail(checked.error());
  if (!arguments.ranks.empty()) {
    auto ranks = report::parse_ranks(arguments.ranks);
    if (!ranks) return fail(ranks.error());
    arguments.selection.ranks = std::move(*ranks);
  }
  if (arguments.follow) return follow_periods(arguments);
  const auto found = look_for_periods(arguments);
  if (!found) return fail(found.error());
  if (!arguments.output.empty()) return keep_periods(arguments, *found);
  const bool json = arguments.format == "json";
  const bool written =
      json ? print(report::periods_json(found->rows))
           : print_page(printable("PERIODS\n" + report::periods_section(found->rows), "\n"));
  return written ? 0 : fail(lost_output());
}

void add_selection(CLI::App& command, PeriodsArguments& arguments) {
  std::vector<std::string> names;
  for (const std::string_view name : Words<SeriesKind>::kSpelled) {
    if (name != to_string(SeriesKind::file)) names.emplace_back(name);
  }
  command
      .add_option("--series", arguments.series,
                  "these series alone (default: all that have something in them)")
      ->check(CLI::IsMember(names));
  command.add_option("--callpath", arguments.selection.callpath,
                     "also the time in these call paths, and below them; * stands for anything");
  command.add_option("--rank", arguments.ranks, "of these ranks alone, as in 0,4-7");
  command.add_option("--from", arguments.selection.from_s, "from this second of the run on");
  command.add_option("--to", arguments.selection.to_s, "up to this second of the run");
  command.add_option("--rate", arguments.selection.rate_hz,
                     "values per second (default: by how much there is to see)");
  command.add_flag("--profile", arguments.profile,
                   "of the findings' intervals, although there is a trace");
}

}  // namespace

Action add_periods(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<PeriodsArguments>();
  command.add_option("experiment", arguments->input,
                     "an experiment folder, of a run that goes on or not, or its findings.db");
  command.add_option("--csv", arguments->values,
                     "instead of a run: a file with a line 'time,value' for each moment");
  add_selection(command, *arguments);
  command.add_flag("--follow", arguments->follow,
                   "look at a run that goes on again and again, until it ends");
  command
      .add_option("--every", arguments->every_s, "with --follow: seconds from one look to the next")
      ->capture_default_str();
  command.add_option("--format", arguments->format, "text, or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.add_option("-o,--output", arguments->output,
                     "make a new experiment of the findings and the periods");
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  return [arguments] { return periods(*arguments); };
}

}  // namespace culprit::cli
