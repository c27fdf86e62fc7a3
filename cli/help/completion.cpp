// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit completion: the script for a shell on stdout, for the build to install, or to be sourced.

#include "cli/help/completion.h"

#include <cstdio>
#include <memory>

#include "cli/commands/subcommands.h"
#include "cli/message.h"

namespace culprit::cli {

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

bool takes_program(const CLI::App& command) {
  return command.get_name() == "run" || command.get_name() == "record";
}

std::string brief(const std::string& description) {
  constexpr size_t kMost = 72;
  const std::string first = description.substr(0, description.find_first_of(";:("));
  std::string words = first.size() < description.size() && first.size() < 12 ? description : first;
  if (words.size() > kMost) words = words.substr(0, words.rfind(' ', kMost)) + "...";
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

Action add_completion(CLI::App& command, const Program&) {
  auto shell = std::make_shared<std::string>("bash");
  std::vector<std::string> names;
  for (const ShellCompletion& each : kShellCompletions) names.emplace_back(each.shell);
  command.add_option("shell", *shell, "the shell to be completed in")->check(CLI::IsMember(names));
  return [shell, &command] {
    for (const ShellCompletion& each : kShellCompletions) {
      if (each.shell == *shell) std::fputs(each.script(*command.get_parent()).c_str(), stdout);
    }
    return 0;
  };
}

}  // namespace culprit::cli
