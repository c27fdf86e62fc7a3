// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What --help shows: options and subcommands in two columns, wrapped at the terminal's width, the
// subcommands in groups. All words come from the command line's own definition.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace culprit::cli {

/// The help of `app`, which is `culprit` itself or a subcommand. `behind`: what its usage has
/// behind the options: " -- PROGRAM".
std::string help_page(const CLI::App& app, const std::string& behind);

/// Has `app` and its subcommands show that. `behind`: by subcommand.
void use_help_pages(CLI::App& app, std::map<std::string, std::string> behind);

/// "-o, --output" of an option, or a positional argument's name in capitals.
std::string spelling_of(const CLI::Option& option);

/// The options that users are shown.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

/// "gcc, libomp, none" of an option that takes one of these; else empty.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace culprit::cli
