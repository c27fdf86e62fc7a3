// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a subcommand is: it adds its options to the command line and says what to do when it was
// chosen. A new one is a file in cli/commands/ with one function like these, and a line in
// main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace culprit::cli {

/// Does the subcommand's work, returns the exit status.
using Action = std::function<int()>;

/// The words after `--` on the command line: a program and its arguments, unchanged.
using Program = std::vector<std::string>;

struct Subcommand {
  const char* group;  ///< in which --help lists it
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& command, const Program& program);
  const char* example;      ///< that --help shows
  const char* behind = "";  ///< what its usage has behind the options
};

/// The subcommands that --help lists.
inline std::vector<const CLI::App*> visible_commands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

Action add_run(CLI::App& command, const Program& program);
Action add_record(CLI::App& command, const Program& program);
Action add_analyze(CLI::App& command, const Program& program);
Action add_top(CLI::App& command, const Program& program);
Action add_snapshot(CLI::App& command, const Program& program);
Action add_attach(CLI::App& command, const Program& program);
Action add_stuck(CLI::App& command, const Program& program);
Action add_export(CLI::App& command, const Program& program);
Action add_fold(CLI::App& command, const Program& program);
Action add_report(CLI::App& command, const Program& program);
Action add_view(CLI::App& command, const Program& program);
Action add_diff(CLI::App& command, const Program& program);
Action add_what_if(CLI::App& command, const Program& program);
Action add_model(CLI::App& command, const Program& program);
Action add_mean(CLI::App& command, const Program& program);
Action add_merge(CLI::App& command, const Program& program);
Action add_cut(CLI::App& command, const Program& program);
Action add_periods(CLI::App& command, const Program& program);
Action add_list(CLI::App& command, const Program& program);
Action add_info(CLI::App& command, const Program& program);
Action add_machine(CLI::App& command, const Program& program);
Action add_doctor(CLI::App& command, const Program& program);
Action add_patterns(CLI::App& command, const Program& program);
Action add_manual(CLI::App& command, const Program& program);
Action add_completion(CLI::App& command, const Program& program);

}  // namespace culprit::cli
