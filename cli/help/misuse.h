// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is said of a command line that culprit does not understand: what is wrong with it, which
// command or option was probably meant, and where the help about it is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace culprit::cli {

/// The sentence about `arguments`, which `app` refused with `error`.
std::string misuse(const CLI::App& app, const std::vector<std::string>& arguments,
                   const CLI::ParseError& error);

/// The same command line, where `culprit help report` stands for `culprit report --help`. Help
/// about what is none of `commands` is left to be refused.
std::vector<std::string> without_help_command(std::vector<std::string> arguments,
                                              const std::vector<std::string>& commands);

}  // namespace culprit::cli
