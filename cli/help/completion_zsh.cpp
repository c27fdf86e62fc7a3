// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function for zsh's _arguments, which has a list of specifications for each command.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/subcommands.h"
#include "cli/help/completion.h"
#include "cli/help/help_page.h"

namespace culprit::cli {
namespace {

/// In single quotes, where brackets and colons mean something to _arguments.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// What follows an option: nothing, one of some words, or a file.
std::string value_of(const CLI::Option& option) {
  if (option.get_type_name().empty()) return "";
  const std::vector<std::string> choices = choices_of(option);
  if (choices.empty()) return ":value:_files";
  return fmt::format(":value:({})", fmt::join(choices, " "));
}

std::string arguments_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : shown_options(command)) {
    for (const std::string& name : spellings(*option)) {
      text += fmt::format("        '{}[{}]{}' \\\n", name, quoted(brief(option->get_description())),
                          value_of(*option));
    }
  }
  return text + (takes_program(command) ? "        '*::program:_normal'\n"
                                        : "        '*:experiment:_files'\n");
}

}  // namespace

std::string zsh_completion(const CLI::App& root) {
  std::string commands, arms;
  for (const CLI::App* command : visible_commands(root)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(),
                            quoted(brief(command->get_description())));
    arms += fmt::format("    {})\n      _arguments -S \\\n{}      ;;\n", command->get_name(),
                        arguments_of(*command));
  }
  return "#compdef culprit\n# zsh completion for culprit; made by `culprit completion zsh`.\n\n"
         "_culprit() {\n  local -a commands\n  commands=(\n    'help:explain a command'\n" +
         commands +
         "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=${words[2]}\n  shift words\n  ((CURRENT--))\n  case $command in\n"
         "    help) _describe command commands ;;\n" +
         arms +
         "  esac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _culprit "
         "\"$@\"\nelse\n  compdef _culprit culprit\nfi\n";
}

}  // namespace culprit::cli
