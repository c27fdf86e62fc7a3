// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit ls: the experiments in a folder, a line for each. It reads only what each says of itself,
// so it is quick however large they are.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

std::string state_of(const fs::path& experiment, const ExperimentInfo& info) {
  std::error_code code;
  if (!info.operation.empty()) return info.operation;
  if (info.exit_status != 0) return fmt::format("failed ({})", info.exit_status);
  if (fs::exists(findings_file(experiment), code)) return "analyzed";
  return has_raw_records(experiment) ? "not analyzed" : "no results";
}

using Line = std::vector<std::string>;

std::string page_of(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string page;
  for (const Line& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) page += report::left(line[i], widths[i] + 2);
    page += line.back() + "\n";
  }
  return page;
}

int list(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    return fail({fmt::format("'{}' is no folder", printable(folder.string()))});
  }
  const auto found = experiments_in(folder);
  if (found.empty()) {
    return fail({fmt::format("there are no experiments in '{}'", printable(folder.string()))});
  }
  std::vector<Line> lines{{"date", "state", "experiment", "command"}};
  for (const auto& [path, info] : found) {
    const std::string date = info.date.substr(0, 16);
    lines.push_back({date.empty() ? "unknown" : printable(date), state_of(path, info),
                     printable(for_display(path).string()),
                     printable(info.command.empty() ? info.trace : info.command)});
    std::replace(lines.back()[0].begin(), lines.back()[0].end(), 'T', ' ');
  }
  return print(page_of(lines)) ? 0 : fail(lost_output());
}

}  // namespace

Action add_list(CLI::App& command, const Program&) {
  auto folder = std::make_shared<fs::path>(".");
  command.add_option("folder", *folder, "the folder to look in (default: the current one)");
  return [folder] { return list(*folder); };
}

}  // namespace culprit::cli
