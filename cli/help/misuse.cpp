// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each complaint names the words that were given, never what the parser calls them.
#include "cli/help/misuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/did_you_mean.h"
#include "cli/help/help_page.h"

namespace culprit::cli {
namespace {

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands) names.push_back(each->get_name());
  return names;
}

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto commands = all_commands(app);
  for (const std::string& word : arguments) {
    for (const CLI::App* each : commands) {
      if (each->get_name() == word) return each;
    }
  }
  return nullptr;
}

/// "--output" of "--output=mine", "-j" of "-j4".
std::string option_in(const std::string& argument) {
  constexpr size_t kLetterOption = 2;
  return argument.starts_with("--") ? argument.substr(0, argument.find('='))
                                    : argument.substr(0, kLetterOption);
}

/// The first word that looks like an option, and is none of `app`.
std::optional<std::string> unknown_option(const CLI::App& app,
                                          const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = options_of(app);
  for (const std::string& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (!is_option) continue;
    const std::string word = option_in(argument);
    if (std::find(known.begin(), known.end(), word) == known.end()) return word;
  }
  return std::nullopt;
}

/// What is said of an argument that is missing; "" if none is.
std::string missing(const CLI::App& command) {
  for (const CLI::Option* each : shown_options(command)) {
    const auto given = static_cast<int>(each->count());
    const int wanted = each->get_items_expected_min();
    const bool may_lack = !each->get_required() && given == 0;
    if (!each->get_positional() || may_lack || given >= wanted) continue;
    if (wanted == 1) return fmt::format("{} is missing", spelling_of(*each));
    return fmt::format("{}: at least {} are needed, and {} {} given", spelling_of(*each), wanted,
                       given, given == 1 ? "was" : "were");
  }
  return "";
}

std::string complaint(const CLI::App& app, const CLI::App* command,
                      const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
    const std::string words = command == nullptr ? "" : missing(*command);
    return words.empty() ? error.what() : words;
  }
  const auto word = std::find_if(arguments.begin(), arguments.end(),
                                 [](const std::string& each) { return !each.starts_with('-'); });
  if (command == nullptr && word != arguments.end()) {
    return fmt::format("there is no command '{}'{}", *word,
                       did_you_mean(*word, names_of(all_commands(app))));
  }
  const CLI::App& asked = command == nullptr ? app : *command;
  if (const auto option = unknown_option(asked, arguments)) {
    return fmt::format("there is no option '{}'{}", *option,
                       did_you_mean(*option, options_of(asked)));
  }
  return error.what();
}

}  // namespace

std::string misuse(const CLI::App& app, const std::vector<std::string>& arguments,
                   const CLI::ParseError& error) {
  const CLI::App* const command = command_of(app, arguments);
  const std::string help =
      command == nullptr ? app.get_name() : app.get_name() + " " + command->get_name();
  return fmt::format("{} (see `{} --help`)", complaint(app, command, arguments, error), help);
}

std::vector<std::string> without_help_command(std::vector<std::string> arguments,
                                              const std::vector<std::string>& commands) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  if (arguments.size() > 1) arguments.resize(1);
  const bool is_unknown =
      !arguments.empty() && !arguments.front().starts_with('-') &&
      std::find(commands.begin(), commands.end(), arguments.front()) == commands.end();
  if (is_unknown) return arguments;
  arguments.emplace_back("--help");
  return arguments;
}

}  // namespace culprit::cli
