// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit export: a run in the format of another tool.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "trace/otf2/export.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("export");

struct ExportArguments {
  fs::path input;
  fs::path output;
  std::string format;
  unsigned threads = 0;
};

struct ExportFormat {
  const char* name;
  const char* summary;
  /// `losses`: what was lost so far.
  Result<void> (*write)(const trace::Source& source, const ExportArguments& arguments,
                        Losses& losses);
};

Result<void> write_otf2(const trace::Source& source, const ExportArguments& arguments,
                        Losses& losses) {
  return trace::export_otf2(source, arguments.output, arguments.threads, losses);
}

constexpr ExportFormat kFormats[] = {
    {"otf2", "an OTF2 archive in Score-P's conventions, for Vampir and Scalasca: a folder",
     write_otf2},
};

int run_export(const ExportArguments& arguments) {
  const auto info = read_info(arguments.input);
  if (!info) return fail(info.error());
  Losses losses;
  const auto opened = open_trace(arguments.input, info.value(), arguments.threads, losses);
  if (!opened) return fail(opened.error());
  for (const ExportFormat& format : kFormats) {
    if (arguments.format != format.name) continue;
    losses.merge(opened.value().facts.losses);
    const auto written = format.write(*opened.value().source, arguments, losses);
    if (!written) return fail(written.error());
    for (const auto& [name, loss] : losses.all()) {
      if (loss.severity == Severity::data_loss) kLog.warning("{} ({})", loss.advice, name);
    }
    kLog.info("wrote {}", for_display(fs::absolute(arguments.output)).string());
    return 0;
  }
  return kUsage;
}

}  // namespace

Action add_export(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ExportArguments>();
  std::vector<std::string> names;
  std::string help;
  for (const ExportFormat& format : kFormats) {
    names.emplace_back(format.name);
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", format.name, format.summary);
  }
  command.add_option("experiment", arguments->input, "an experiment folder")->required();
  command.add_option("--format", arguments->format, help)->required()->check(CLI::IsMember(names));
  command.add_option("-o,--output", arguments->output, "what to create; nothing is overwritten")
      ->required();
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  command.footer("culprit export run1 --format otf2 -o run1.otf2");
  return [arguments] { return run_export(*arguments); };
}

}  // namespace culprit::cli
