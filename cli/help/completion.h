// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What shells complete behind `culprit`: a script for each shell, made from the command line's own
// definition.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::cli {

std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

struct ShellCompletion {
  std::string_view shell;
  std::string (*script)(const CLI::App& root);
};

inline constexpr std::array kShellCompletions = {
    ShellCompletion{"bash", bash_completion},
    ShellCompletion{"zsh", zsh_completion},
    ShellCompletion{"fish", fish_completion},
};

/// An option's names: "--output", "-o".
std::vector<std::string> spellings(const CLI::Option& option);

/// Whether the words behind a command are those of a program to be measured.
bool takes_program(const CLI::App& command);

/// The first sentence of a description, which has room beside a name.
std::string brief(const std::string& description);

}  // namespace culprit::cli
