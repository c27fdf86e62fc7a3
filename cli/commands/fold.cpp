// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit fold: the profile of a run that was traced whole, made again from its records, and
// whether it is the one that the run kept.

#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "assemble/refold.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/terminal.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using assemble::KeptProfile;
using assemble::RefoldedLog;

struct Arguments {
  fs::path experiment;
  unsigned threads = 0;
};

constexpr std::string_view kStates[] = {
#define STATE(name, meaning) #name,
#include "trace/raw/profile_rows.def"
};

constexpr std::string_view words_of(KeptProfile kept) {
  switch (kept) {
    case KeptProfile::same:
      return "the same";
    case KeptProfile::different:
      return "different";
    case KeptProfile::beyond:
      return "of more records";
    case KeptProfile::none:
      break;
  }
  return "none";
}

std::string head_of_table() {
  std::string line = fmt::format("{:>6} {:>11} {:>7}", "log", "records", "rows");
  for (const std::string_view state : kStates) line += fmt::format(" {:>9}", state);
  return line + "  kept by the run\n";
}

std::string line_of(const RefoldedLog& log) {
  std::string line = fmt::format("{:>6} {:>11} {:>7}", log.log, log.records, log.rows);
  for (const double seconds : log.seconds) line += fmt::format(" {:>9.3f}", seconds);
  return line + fmt::format("  {}\n", words_of(log.kept));
}

int run_fold(const Arguments& arguments) {
  if (const auto info = read_info(arguments.experiment); !info) return fail(info.error());
  const auto processes = assemble::refold(arguments.experiment, arguments.threads);
  if (!processes) return fail(processes.error());
  std::string page = "Seconds of each thread's log by state\n";
  uint64_t different = 0;
  for (const assemble::RefoldedProcess& process : processes.value()) {
    const std::string rank = process.rank < 0 ? "" : fmt::format(", rank {}", process.rank);
    page += fmt::format("\n{}{}\n{}", printable(process.name), rank, head_of_table());
    for (const RefoldedLog& log : process.logs) {
      page += line_of(log);
      different += log.kept == KeptProfile::different ? 1 : 0;
    }
  }
  if (!print(page)) return fail(lost_output());
  if (different == 0) return 0;
  return fail({fmt::format("the run kept another profile of {} than its records give",
                           different == 1 ? "a log" : fmt::format("{} logs", different))});
}

}  // namespace

Action add_fold(CLI::App& command, const Program&) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("experiment", arguments->experiment,
                     "the experiment folder (default: the newest one here)");
  command
      .add_option("--threads", arguments->threads, "how many threads read (default: one a core)")
      ->check(CLI::PositiveNumber);
  return [arguments] { return run_fold(*arguments); };
}

}  // namespace culprit::cli
