// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit export: a run in the format of another tool. Formats of sums read the findings; formats
// of events read the trace.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands/derived/derive.h"
#include "cli/commands/part_options.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "report/exports/exports.h"
#include "trace/otf2/export.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("export");
constexpr const char* kOtf2 = "otf2";
constexpr const char* kExtraP = "extrap";

struct ExportArguments {
  fs::path input;
  std::vector<fs::path> more;  ///< of Extra-P's points
  fs::path output;
  std::string format;
  PartOptions part;
  unsigned threads = 0;
};

void warn_of(const Losses& losses) {
  for (const auto& [name, loss] : losses.all()) {
    if (loss.severity == Severity::data_loss) kLog.warning("{} ({})", loss.advice, name);
  }
}

/// Writes a format that needs the whole trace.
template <class Write>
Result<void> write_run(const ExportArguments& arguments, const Write& write) {
  if (arguments.part.given()) {
    return Error{arguments.format + " has the whole run: no part can be chosen"};
  }
  const auto info = read_info(arguments.input);
  if (!info) return info.error();
  Losses losses;
  const auto opened = open_trace(arguments.input, *info, arguments.threads, losses);
  if (!opened) return opened.error();
  auto written = write(*opened->source, arguments.output, arguments.threads, losses);
  if (written) warn_of(losses);
  return written;
}

Result<void> write_excerpt(const ExportArguments& arguments, const report::ExcerptExport& format) {
  const auto selection = selected_part(arguments.part);
  if (!selection) return selection.error();
  Losses losses;
  const auto excerpt = open_excerpt(arguments.input, *selection, arguments.threads, losses);
  if (!excerpt) return excerpt.error();
  if (excerpt->left_out > 0) {
    kLog.info("left out {} shorter than asked for",
              fmt::format("{} activities", excerpt->left_out));
  }
  auto written = format.write(*excerpt, arguments.output);
  if (written) warn_of(losses);
  return written;
}

Result<void> write_findings(const ExportArguments& arguments,
                            const report::FindingsExport& format) {
  if (arguments.part.given()) {
    return Error{
        fmt::format("{} has the sums of the whole run: a part can be chosen for formats of "
                    "events alone",
                    format.name)};
  }
  const auto findings = open_findings(arguments.input);
  return findings ? format.write(findings->findings, arguments.output)
                  : Result<void>(findings.error());
}

/// The points of a model, one file.
Result<void> write_points(const ExportArguments& arguments) {
  std::vector<fs::path> inputs = {arguments.input};
  inputs.insert(inputs.end(), arguments.more.begin(), arguments.more.end());
  const auto all = open_all(inputs);
  if (!all) return all.error();
  std::vector<const blame::Findings*> runs;
  for (const blame::Findings& each : *all) runs.push_back(&each);
  return report::export_extrap(runs, arguments.output);
}

Result<void> write(const ExportArguments& arguments) {
  const bool several = !arguments.more.empty();
  if (several && arguments.format != kExtraP) {
    return Error{"several experiments have one file in format extrap alone"};
  }
  if (arguments.format == kOtf2) {
    return write_run(arguments, trace::export_otf2);
  }
  std::error_code code;  // said before anything is read
  if (fs::exists(fs::symlink_status(arguments.output, code))) {
    return Error{"'" + arguments.output.string() + "' already exists: name a new one with -o"};
  }
  if (several) return write_points(arguments);
  for (const report::FindingsExport& format : report::findings_exports()) {
    if (format.name == arguments.format) return write_findings(arguments, format);
  }
  for (const report::ExcerptExport& format : report::excerpt_exports()) {
    if (format.name == arguments.format) return write_excerpt(arguments, format);
  }
  for (const report::RunExport& format : report::run_exports()) {
    if (format.name == arguments.format) return write_run(arguments, format.write);
  }
  return Error{"there is no format '" + arguments.format + "'"};
}

int run_export(const ExportArguments& arguments) {
  const auto written = write(arguments);
  if (!written) return fail(written.error());
  kLog.info("wrote {}", for_display(fs::absolute(arguments.output)).string());
  return 0;
}

}  // namespace

Action add_export(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ExportArguments>();
  std::vector<std::string> names;
  std::string help;
  const auto add = [&](std::string_view name, std::string_view summary) {
    names.emplace_back(name);
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", name, summary);
  };
  for (const auto& format : report::excerpt_exports()) add(format.name, format.summary);
  for (const auto& format : report::run_exports()) add(format.name, format.summary);
  add(kOtf2, "an OTF2 archive in Score-P's conventions, for Vampir and Scalasca: a folder");
  for (const auto& format : report::findings_exports()) add(format.name, format.summary);
  command.add_option("experiment", arguments->input,
                     "an experiment folder (default: the newest one here)");
  command.add_option("more", arguments->more,
                     "further ones, for extrap: all call paths are then given for each");
  command.add_option("--format", arguments->format, help)->required()->check(CLI::IsMember(names));
  command.add_option("-o,--output", arguments->output, "what to create; nothing is overwritten")
      ->required();
  add_part_options(command, arguments->part);
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  return [arguments] { return run_export(*arguments); };
}

}  // namespace culprit::cli
