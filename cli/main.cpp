// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit: who made whom wait, where in the code, and what did it cost? This file is the table of
// contents; each subcommand lies in the file of its name.

#include <CLI/CLI.hpp>
#include <map>

#include "base/settings.h"
#include "cli/commands/log_options.h"
#include "cli/commands/subcommands.h"
#include "cli/defaults.h"
#include "cli/experiment.h"
#include "cli/help/help_page.h"
#include "cli/help/misuse.h"
#include "cli/installation.h"
#include "cli/launcher.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "cli/problems.h"
#include "cli/terminal.h"

namespace culprit::cli {
namespace {

constexpr log::Component kLog("culprit");

/// The groups in which --help lists subcommands; those for the build it does not list.
constexpr const char* kMeasure = "Measure";
constexpr const char* kUnderstand = "Understand";
constexpr const char* kCompare = "Compare and predict";
constexpr const char* kGoingOn = "While a run goes on";
constexpr const char* kOthers = "Other tools, and this machine";
constexpr const char* kForTheBuild = "";

constexpr const char* kProgram = " -- PROGRAM [ARGUMENT...]";

constexpr Subcommand kSubcommands[] = {
    {kMeasure, "run", "measure a program, analyze the run and print the report", add_run,
     "culprit run -- mpirun -n 4 ./program    or    mpirun -n 4 culprit run -- ./program",
     kProgram},
    {kMeasure, "record", "measure a program, to be analyzed later", add_record,
     "culprit record -- mpirun -n 4 ./program    or    mpirun -n 4 culprit record -- ./program",
     kProgram},
    {kMeasure, "attach",
     "look at running programs from outside: who computes, who waits, and for whom", add_attach,
     "culprit attach 4242    or    culprit attach --children $(pidof mpirun)"},
    {kUnderstand, "analyze",
     "find the root causes of wait states in a recorded run or any OTF2 trace", add_analyze,
     "culprit analyze run1 --report"},
    {kUnderstand, "report", "show the findings of an analysis", add_report,
     "culprit report run1 --by callpath --rank 0-3 --top 10"},
    {kUnderstand, "view", "make a page for the browser: who waits for whom, where and when",
     add_view, "culprit view run1 -o run1.html"},
    {kUnderstand, "ls", "list the experiments of a folder, the newest first", add_list,
     "culprit ls runs"},
    {kUnderstand, "info",
     "say what is in an experiment, how large it is and whether it is complete", add_info,
     "culprit info run1"},
    {kUnderstand, "patterns", "explain the wait patterns that culprit knows", add_patterns,
     "culprit patterns mpi.late_sender"},
    {kCompare, "diff", "say what got better and worse between runs, and whether that exceeds noise",
     add_diff,
     "culprit diff run1 run2 -o change    or    culprit diff --before a1 a2 a3 --after b1 b2 b3"},
    {kCompare, "whatif", "say how long a run would take, if something in it took more or less time",
     add_what_if, "culprit whatif run1 --scale 'main/*/forces=0.5' --rank 3"},
    {kCompare, "model",
     "find out how figures depend on ranks, threads or a parameter, and what grows worst",
     add_model,
     "culprit model run_*    or    culprit model run_* --param size=@1 --predict size=1e6"},
    {kCompare, "mean", "make an experiment of the mean of several", add_mean,
     "culprit mean run1 run2 run3 -o mean"},
    {kCompare, "merge", "add counters of other runs of a program to an experiment", add_merge,
     "culprit merge cycles cache -o both"},
    {kCompare, "cut", "make an experiment of a part of the call paths", add_cut,
     "culprit cut run1 --root 'main/*/solve' -o solve"},
    {kCompare, "periods",
     "find the period of I/O phases and other series, and when the next phase comes", add_periods,
     "culprit periods run1    or, of a run that goes on: culprit periods run1 --follow"},
    {kGoingOn, "top", "watch a run that goes on: who makes whom wait, so far", add_top,
     "culprit top run1"},
    {kGoingOn, "snapshot", "print the report of now, of a run that goes on", add_snapshot,
     "culprit snapshot run1    or    culprit snapshot run1 --metrics run1.prom"},
    {kGoingOn, "stuck", "show who waits for whom in a hung run", add_stuck, "culprit stuck run1"},
    {kOthers, "export", "write a run in the format of another tool", add_export,
     "culprit export run1 --format perfetto -o run1.pftrace"},
    {kOthers, "fold",
     "make the profile of a run from its trace again, and compare it with the run's own", add_fold,
     "culprit fold run1"},
    {kOthers, "machine", "measure the noise of this machine and, behind a launcher, its messages",
     add_machine, "mpirun -n 2 culprit machine -o machine.json"},
    {kOthers, "doctor",
     "check what this machine offers, what is missing, and which feature needs it", add_doctor,
     "culprit doctor"},
    {kForTheBuild, "manual", "print the manual page", add_manual, "culprit manual | man -l -"},
    {kForTheBuild, "completion", "print what a shell needs to complete commands", add_completion,
     "source <(culprit completion bash)"},
};

/// Cuts the command line at the first `--`: what follows belongs to the program.
Program split_off_program(std::vector<std::string>& arguments) {
  const auto cut = std::find(arguments.begin(), arguments.end(), "--");
  if (cut == arguments.end()) return {};
  Program program(cut + 1, arguments.end());
  arguments.erase(cut, arguments.end());
  return program;
}

int usage_error(const CLI::App& app, const std::vector<std::string>& arguments,
                const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  kLog.error("{}", misuse(app, arguments, error));
  return kUsage;
}

/// Commands that start a program leave all words from its name on to it. A word there that looks
/// like an option is one that the command does not have: no program is called so.
int refuse_unknown_option(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const std::vector<std::string> left = command->remaining();
    if (left.empty() || !left.front().starts_with('-')) continue;
    return usage_error(app, {command->get_name(), left.front()},
                       CLI::ExtrasError(command->get_name(), {left.front()}));
  }
  return 0;
}

/// Whether the command has got a file of values in place of an experiment.
bool has_values(const CLI::App& command) {
  const CLI::Option* const values = command.get_option_no_throw("--csv");
  return values != nullptr && values->count() > 0;
}

/// Commands that are given no experiment take the newest one here.
Result<void> take_newest(const CLI::App& app) {
  for (CLI::App* command : app.get_subcommands()) {
    CLI::Option* const option = command->get_option_no_throw("experiment");
    if (option == nullptr || option->count() > 0 || option->get_required()) continue;
    if (has_values(*command)) continue;
    const auto newest = newest_experiment(".");
    if (!newest) return newest.error();
    kLog.info("{}: the newest experiment here", for_display(newest->string()).string());
    option->add_result(newest->string());
    option->run_callback();
  }
  return {};
}

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const Program program = split_off_program(arguments);
  std::vector<std::string> commands;
  for (const Subcommand& entry : kSubcommands) commands.emplace_back(entry.name);
  arguments = without_help_command(std::move(arguments), commands);
  take_defaults();
  CLI::App app("Who made whom wait, where in the code, and what did it cost?", "culprit");
  app.set_version_flag("--version", "culprit " + version_in_words());
  app.require_subcommand(0, 1);
  use_terminals();
  app.footer(
      "Typical use: culprit run -- mpirun -n 4 ./program. `culprit help COMMAND` explains a "
      "command "
      "and its options, `man culprit` all of them.");
  add_log_options(app);
  Action chosen;
  for (const Subcommand& entry : kSubcommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->group(entry.group);
    add_log_options(*command);
    command->footer("Example: " + std::string(entry.example));
    const Action action = entry.add(*command, program);
    command->callback([&chosen, action] { chosen = action; });
  }
  std::map<std::string, std::string> behind;
  for (const Subcommand& entry : kSubcommands) behind.emplace(entry.name, entry.behind);
  use_help_pages(app, behind);
  set_log_level(process_environment(variable(Setting::log)));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return usage_error(app, arguments, error);
  }
  if (const int refused = refuse_unknown_option(app); refused != 0) return refused;
  if (const auto taken = take_newest(app); !taken) return fail(taken.error());
  if (chosen) return chosen();
  kLog.error("no subcommand given (see `culprit --help`)");
  return kUsage;
}

}  // namespace
}  // namespace culprit::cli

int main(int argc, char** argv) {
  namespace cli = culprit::cli;
  cli::reserve_standard_files();
  cli::end_where_pages_are_gone();
  const auto status = cli::guarded([=]() -> culprit::Result<int> { return cli::main(argc, argv); });
  const int ended = status ? status.value() : cli::fail(status.error());
  if (cli::all_was_printed()) return ended;
  cli::fail(cli::lost_output());
  return ended != 0 ? ended : cli::kFailure;
}
