// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function that follows the words of the line up to the cursor, and tables of what each option
// takes.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/subcommands.h"
#include "cli/help/completion.h"
#include "cli/help/help_page.h"

namespace culprit::cli {
namespace {

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
    text += "    " + pattern + ") takes=yes values='" +
            fmt::format("{}", fmt::join(choices_of(*option), " ")) + "' ;;\n";
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

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::string arms, words, names;
  for (const CLI::App* command : visible_commands(root)) {
    arms += value_arms(*command);
    words += "      " + command->get_name() + ") words='" + option_words(*command) + "' ;;\n";
    names += command->get_name() + " ";
  }
  words += "      '') words='help " + names + option_words(root) + "' ;;\n";
  return kHead + arms + kBody + words + kTail;
}

}  // namespace culprit::cli
