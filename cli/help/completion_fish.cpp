// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A line for each command, option and value.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/subcommands.h"
#include "cli/help/completion.h"
#include "cli/help/help_page.h"

namespace culprit::cli {
namespace {

/// In single quotes, where fish knows a backslash before a quote.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return "'" + out + "'";
}

std::string line_of(const CLI::App& command, const CLI::Option& option) {
  std::string line =
      fmt::format("complete -c culprit -n '__fish_seen_subcommand_from {}'", command.get_name());
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  if (!option.get_type_name().empty()) {
    const std::vector<std::string> choices = choices_of(option);
    line += choices.empty() ? " -r -F" : fmt::format(" -x -a '{}'", fmt::join(choices, " "));
  }
  return line + " -d " + quoted(brief(option.get_description())) + "\n";
}

}  // namespace

std::string fish_completion(const CLI::App& root) {
  std::string text = "# fish completion for culprit; made by `culprit completion fish`.\n";
  for (const CLI::App* command : visible_commands(root)) {
    text += fmt::format("complete -c culprit -n __fish_use_subcommand -f -a {} -d {}\n",
                        command->get_name(), quoted(brief(command->get_description())));
    for (const CLI::Option* option : shown_options(*command)) {
      if (!option->get_positional()) text += line_of(*command, *option);
    }
    if (takes_program(*command)) {
      text += fmt::format(
          "complete -c culprit -n '__fish_seen_subcommand_from {}' -x -a "
          "'(__fish_complete_subcommand --fcs-skip=2)'\n",
          command->get_name());
    }
  }
  return text;
}

}  // namespace culprit::cli
