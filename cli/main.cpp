// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit: who made whom wait, where in the code, and what did it cost? This file is the table of
// contents; each subcommand lies in the file of its name.

#include <CLI/CLI.hpp>
#include <exception>

#include "cli/installation.h"
#include "cli/message.h"
#include "cli/subcommands.h"

namespace culprit::cli {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"run", "measure a program, analyse the run and print the report", add_run},
    {"record", "measure a program, for an analysis later", add_record},
    {"analyze", "find the causes of waiting in a recorded run or any OTF2 trace", add_analyze},
    {"report", "show what an analysis has found", add_report},
    {"doctor", "tell what this machine offers, and what is missing for what", add_doctor},
    {"patterns", "explain the kinds of waiting that culprit knows", add_patterns},
};

/// Cuts the command line at the first `--`: what follows is the program's and none of our business.
Program split_off_program(std::vector<std::string>& arguments) {
  const auto cut = std::find(arguments.begin(), arguments.end(), "--");
  if (cut == arguments.end()) return {};
  Program program(cut + 1, arguments.end());
  arguments.erase(cut, arguments.end());
  return program;
}

int tell_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  say("{} (see `culprit --help`)", error.what());
  return kUsage;
}

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const Program program = split_off_program(arguments);
  CLI::App app("Who made whom wait, where in the code, and what did it cost?", "culprit");
  app.set_version_flag("--version", "culprit " + std::string(kVersion));
  app.require_subcommand(0, 1);
  app.footer("The usual way: culprit run -- mpirun -n 4 ./program");
  Action chosen;
  for (const Subcommand& entry : kSubcommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    const Action action = entry.add(*command, program);
    command->callback([&chosen, action] { chosen = action; });
  }
  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return tell_usage_error(app, error);
  }
  if (chosen) return chosen();
  say("no subcommand given (see `culprit --help`)");
  return kUsage;
}

}  // namespace
}  // namespace culprit::cli

int main(int argc, char** argv) {
  try {
    return culprit::cli::main(argc, argv);
  } catch (const std::exception& problem) {
    culprit::cli::say("{}", problem.what());
    return culprit::cli::kFailure;
  }
}
