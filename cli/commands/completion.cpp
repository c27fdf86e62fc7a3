// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit completion: what a shell completes behind `culprit`, as a script on stdout, for the build
// to install. Commands, options and the values that options take come from the command line's own
// definition.

#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands/subcommands.h"
#include "cli/message.h"

namespace culprit::cli {
namespace {

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

/// "a b c" of a type like TEXT:{a,b,c}; empty if any value will do.
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string values = type.substr(begin + 1, end - begin - 1);
  for (char& c : values) {
    if (c == ',') c = ' ';
  }
  return values;
}

/// The arms of `case $command:$word in` for what follows an option: its values, or a file.
std::string value_arms(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_type_name().empty()) continue;  // a flag
    std::string pattern;
    for (const std::string& name : spellings(*option)) {
      pattern += (pattern.empty() ? "" : "|") + command.get_name() + ":" + name;
    }
    if (pattern.empty()) continue;
    text += "    " + pattern + ") takes=yes values='" + choices(*option) + "' ;;\n";
  }
  return text;
}

std::string option_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : spellings(*option)) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

constexpr const char* kHead = R"bash(# bash completion for culprit; made by `culprit completion`.

# What the option $2 of the command $1 takes: sets takes (yes or no) and values.
_culprit_takes() {
  takes=no values=
  case $1:$2 in
)bash";

constexpr const char* kBody = R"bash(  esac
}

# The program to be measured begins at word $1: it is completed as if it stood alone.
_culprit_program() {
  if ((COMP_CWORD > $1)) && declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD > $1)); then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
  fi
}

_culprit() {
  local current=${COMP_WORDS[COMP_CWORD]} command='' takes=no values='' i word words=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $takes == yes ]]; then takes=no; continue; fi
    if [[ $word == -- ]]; then _culprit_program "$((i + 1))"; return; fi
    if [[ $word == -* ]]; then _culprit_takes "$command" "$word"; continue; fi
    if [[ -z $command ]]; then command=$word; continue; fi
    case $command in run | record) _culprit_program "$i"; return ;; esac
  done
  if [[ $takes == yes ]]; then
    if [[ -n $values ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
    return
  fi
  if [[ $current == -* || -z $command ]]; then
    case $command in
)bash";

constexpr const char* kTail = R"bash(    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  case $command in
    run | record) _culprit_program "$COMP_CWORD" ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}
complete -o filenames -F _culprit culprit
)bash";

std::string bash_script(const CLI::App& root) {
  std::string arms, words, names;
  for (const CLI::App* command : visible_commands(root)) {
    arms += value_arms(*command);
    words += "      " + command->get_name() + ") words='" + option_words(*command) + "' ;;\n";
    names += command->get_name() + " ";
  }
  words += "      '') words='" + names + option_words(root) + "' ;;\n";
  return kHead + arms + kBody + words + kTail;
}  // namespace

int print(const CLI::App& root, const std::string& shell) {
  if (shell != "bash") return fail({"there is no completion for '" + shell + "', only for bash"});
  std::fputs(bash_script(root).c_str(), stdout);
  return 0;
}

}  // namespace

Action add_completion(CLI::App& command, const Program&) {
  command.group("");  // for the build, not for users
  auto shell = std::make_shared<std::string>("bash");
  command.add_option("shell", *shell, "the shell to be completed in");
  return [shell, &command] { return print(*command.get_parent(), *shell); };
}

}  // namespace culprit::cli
