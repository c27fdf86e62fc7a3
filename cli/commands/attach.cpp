// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit attach: what can be known of processes that run without culprit.

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <memory>

#include "assemble/attach/attach.h"
#include "base/printable.h"
#include "cli/attach/seen_page.h"
#include "cli/commands/option_checks.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/terminal.h"

namespace culprit::cli {
namespace {

namespace attach = assemble::attach;

constexpr log::Component kLog("attach");

std::atomic<bool> g_enough{false};

void enough(int) {
  g_enough.store(true);
}

/// The first Ctrl-C ends the looks, the second the command.
void end_looks_by_signals() {
  struct sigaction action = {};
  action.sa_handler = enough;
  action.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

struct Arguments {
  std::vector<pid_t> processes;
  bool children = false;
  attach::AttachOptions options;
  size_t top = 4;
  std::string format = "text";
};

int attach_to(Arguments arguments) {
  std::vector<pid_t> processes = arguments.processes;
  if (arguments.children) processes = attach::with_descendants(processes);
  std::vector<attach::Target> targets;
  for (const pid_t process : processes) {
    auto target = attach::find_target(process);
    if (target) {
      targets.push_back(std::move(target.value()));
    } else {
      kLog.warning("{}", target.error().sentence);
    }
  }
  if (targets.empty()) return fail({"there is no process to look at"});
  kLog.info("looking at {}{}; Ctrl-C shows the result", targets.front().name,
            targets.size() > 1 ? fmt::format(" and {} more", targets.size() - 1) : "");
  end_looks_by_signals();
  const attach::Seen seen = attach::attach(std::move(targets), arguments.options, g_enough);
  const bool printed = arguments.format == "json"
                           ? print(seen_json(seen))
                           : print_page(printable(seen_page(seen, arguments.top), "\n"));
  return printed ? 0 : fail(lost_output());
}

}  // namespace

Action add_attach(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<Arguments>();
  command.add_option("process", arguments->processes, "numbers of processes that run on this host")
      ->required()
      ->type_name("PID")
      ->check(CLI::PositiveNumber);
  command.add_flag("--children", arguments->children,
                   "look at the processes that these have started, too");
  command
      .add_option("--for", arguments->options.seconds,
                  "seconds to look (0: until Ctrl-C, or until the processes end)")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9));
  command
      .add_option("--rate", arguments->options.looks_per_s,
                  "looks per second; fewer where they would take more than 5 % of a core")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1000.0));
  command.add_option("--top", arguments->top, "maximum number of places per thread (0: no limit)")
      ->capture_default_str()
      ->check(some_number());
  command.add_option("--format", arguments->format, "text, or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return [arguments] { return attach_to(*arguments); };
}

}  // namespace culprit::cli
