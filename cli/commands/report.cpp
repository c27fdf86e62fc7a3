// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit report: findings of an earlier analysis, as a page or a table, in any of the formats.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/commands/option_checks.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "report/formats.h"
#include "report/table/tables.h"
#include "report/table/write.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

/// Rows that people are shown of a table; programs get all.
constexpr size_t kTop = 20;

struct ReportArguments {
  fs::path input;
  std::string format{report::formats().front().name};
  std::string by, ranks;
  report::Selection selection;
  std::optional<size_t> top;
  std::optional<uint64_t> window;
  bool full = false;
};

/// A table is asked for by what it is by, by a part of the run, or by a format that only tables
/// have.
bool is_table(const ReportArguments& arguments) {
  return !arguments.by.empty() || !arguments.selection.everything() || arguments.top ||
         report::find_format(arguments.format) == nullptr;
}

/// Returns the format of a page; null for one that only tables have.
const report::Format* format_of(const ReportArguments& arguments) {
  const report::Format* const format = report::find_format(arguments.format);
  return format != nullptr && format->for_people && arguments.full ? &report::page_format(true)
                                                                   : format;
}

Result<std::string> table_of(const ReportArguments& arguments, const blame::Findings& findings) {
  report::GroupBy by = report::GroupBy::callpath;
  for (size_t i = 0; i < report::kGroupBy.size(); ++i) {
    if (report::kGroupBy[i].id == arguments.by) by = static_cast<report::GroupBy>(i);
  }
  const bool for_people = arguments.format == "text" || arguments.format == "markdown";
  const size_t top = arguments.top.value_or(for_people ? kTop : 0);
  const auto table = report::make_table(findings, by, arguments.selection, top);
  if (!table) return table.error();
  return report::find_table_format(arguments.format)->write(table.value());
}

Result<std::string> render(const ReportArguments& arguments, const blame::Findings& findings,
                           const fs::path& folder) {
  if (is_table(arguments)) return table_of(arguments, findings);
  return format_of(arguments)->render(findings, for_display(folder));
}

int show(ReportArguments arguments) {
  if (!arguments.ranks.empty()) {
    auto ranks = report::parse_ranks(arguments.ranks);
    if (!ranks) return fail(ranks.error());
    arguments.selection.ranks = std::move(ranks).value();
  }
  const auto opened = open_findings(arguments.input, arguments.window);
  if (!opened) return fail(opened.error());
  const auto text = render(arguments, opened->findings, opened->folder);
  if (!text) return fail(text.error());
  const report::Format* const format = format_of(arguments);
  const bool for_people = format != nullptr && format->for_people;
  const bool written = for_people ? show_page(text.value()) : print(text.value());
  return written ? 0 : fail({"cannot write the report to standard output"});
}

}  // namespace

Action add_report(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ReportArguments>();
  std::vector<std::string> names, groups;
  std::string help, group_help;
  const auto add = [](std::string_view name, std::string_view summary, std::string& text) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, summary);
  };
  for (const report::Format& format : report::formats()) {
    names.emplace_back(format.name);
    add(format.name, format.summary, help);
  }
  for (const report::TableFormat& format : report::table_formats()) {
    if (report::find_format(format.name) != nullptr) continue;
    names.emplace_back(format.name);
    add(format.name, format.summary, help);
  }
  for (const report::GroupByText& group : report::kGroupBy) {
    groups.emplace_back(group.id);
    add(group.id, group.rows, group_help);
  }
  command.add_option("experiment", arguments->input,
                     "an experiment folder, or its findings.db (default: the newest one here)");
  command.add_option("--format", arguments->format, help)
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command
      .add_option("--by", arguments->by,
                  "a table instead of the page, a row for each: " + group_help)
      ->check(CLI::IsMember(groups));
  command.add_option("--rank", arguments->ranks, "of these ranks alone, as in 0,4-7")
      ->check(not_empty());
  command
      .add_option(
          "--pattern", arguments->selection.pattern,
          "waits of this pattern or family alone (culprit patterns lists them), or of one of "
          "your own by its name")
      ->check(not_empty());
  command
      .add_option("--callpath", arguments->selection.callpath,
                  "of these call paths alone; * stands for anything")
      ->check(not_empty());
  add_full(command, arguments->full);
  command.add_option("--window", arguments->window,
                     "of a long run, one of its windows alone (0: the part from its begin of which "
                     "everything is recorded)");
  command.add_option("--top", arguments->top, "maximum number of rows (0: no limit)")
      ->check(some_number());
  return [arguments] { return show(*arguments); };
}

}  // namespace culprit::cli
