// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit report: findings of an earlier analysis, in any of the formats.

#include <memory>
#include <system_error>

#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "report/db/findings_db.h"
#include "report/formats.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  fs::path input;
  std::string format{report::formats().front().name};
};

/// The findings file that `input` means: itself, or the one in the experiment.
Result<fs::path> find_findings(const fs::path& input) {
  std::error_code code;
  if (!fs::exists(input, code)) return Error{"there is no '" + input.string() + "'"};
  if (!fs::is_directory(input, code)) return input;
  if (fs::exists(findings_file(input), code)) return findings_file(input);
  const auto info = read_info(input);
  if (!info) return info.error();
  return Error{"'" + input.string() + "' has not been analyzed yet: run `culprit analyze " +
               input.string() + "`"};
}

int show(const ReportArguments& arguments) {
  const auto file = find_findings(arguments.input);
  if (!file) return fail(file.error());
  const auto findings = report::load_findings(file.value());
  if (!findings) return fail(findings.error());
  const fs::path folder = fs::absolute(file.value()).lexically_normal().parent_path();
  const std::string text =
      report::find_format(arguments.format)->render(findings.value(), for_display(folder));
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    return fail({"cannot write the report to standard output"});
  return 0;
}

}  // namespace

Action add_report(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ReportArguments>();
  std::vector<std::string> names;
  std::string help;
  for (const report::Format& format : report::formats()) {
    names.emplace_back(format.name);
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", format.name, format.summary);
  }
  command.add_option("experiment", arguments->input, "an experiment folder, or its findings.db")
      ->required();
  command.add_option("--format", arguments->format, help)
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  return [arguments] { return show(*arguments); };
}

}  // namespace culprit::cli
