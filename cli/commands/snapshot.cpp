// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit snapshot: the report of now, of a program that goes on.

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/printable.h"
#include "cli/commands/option_checks.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "cli/top/metrics.h"
#include "cli/top/now.h"
#include "report/db/findings_db.h"
#include "report/formats.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("snapshot");

struct Arguments {
  fs::path experiment;
  std::string format{report::formats().front().name};
  fs::path output;
  fs::path metrics;
  unsigned threads = 1;
  bool profile = false;
  bool full = false;
};

int snapshot(const Arguments& arguments) {
  const auto now = look_now(arguments.experiment, arguments.threads,
                            arguments.profile ? Basis::profile : Basis::whichever);
  if (!now) return fail(now.error());
  if (!now->runs) {
    kLog.info("the program has ended: this is its report");
  } else if (now->newest_s > 0) {
    kLog.info("the program runs for {:.1f} s; this is what it had recorded {:.1f} s ago",
              now->findings.run.wall_s, wall_clock_s() - now->newest_s);
  }
  if (!now->hangs.empty()) kLog.warning("{}", now->hangs);
  if (!arguments.metrics.empty()) {
    auto written = write_metrics(*now, arguments.experiment, arguments.metrics);
    if (!written) return fail(written.error());
  }
  if (!arguments.output.empty()) {
    auto saved = report::save_findings(now->findings, arguments.output);
    if (!saved) return fail(saved.error());
  }
  const report::Format* format = report::find_format(arguments.format);
  if (format->for_people && arguments.full) format = &report::page_format(true);
  const std::string page = format->render(now->findings, fs::path());
  const bool printed = format->for_people ? print_page(page) : print(page);
  return printed ? 0 : fail(lost_output());
}

}  // namespace

Action add_snapshot(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<Arguments>();
  std::vector<std::string> names;
  for (const report::Format& format : report::formats()) names.emplace_back(format.name);
  command.add_option("experiment", arguments->experiment,
                     "the experiment of a run that goes on (default: the newest one here)");
  command.add_option("--format", arguments->format, "how the report is written")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  add_full(command, arguments->full);
  command.add_flag("--profile", arguments->profile,
                   "of the profile alone, which is read as fast late in a long run as early");
  command.add_option("-o,--output", arguments->output,
                     "keep the findings of now in this file, for culprit report and diff");
  command.add_option("--metrics", arguments->metrics,
                     "write this file, too: figures for Prometheus (node exporter's textfile "
                     "collector)");
  command.add_option("-j,--jobs", arguments->threads, "threads to use")->capture_default_str();
  return [arguments] { return snapshot(*arguments); };
}

}  // namespace culprit::cli
