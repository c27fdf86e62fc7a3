// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/log_options.h"

#include "base/log.h"

namespace culprit::cli {

void set_log_level(const char* name) {
  if (name == nullptr || *name == 0) return;
  if (const auto level = log::level_named(name)) return log::show_from(*level);
  log::Component("culprit").warning(
      "CULPRIT_LOG is '{}', which is not one of debug, info, warning and error; it is ignored",
      name);
}

void add_log_options(CLI::App& command) {
  CLI::Option* const verbose = command.add_flag_callback(
      "-v,--verbose", [] { log::show_from(log::Level::debug); },
      "show what culprit does in detail, with times (as CULPRIT_LOG=debug)");
  command
      .add_flag_callback(
          "-q,--quiet", [] { log::show_from(log::Level::error); },
          "show errors only (as CULPRIT_LOG=error)")
      ->excludes(verbose);
}

}  // namespace culprit::cli
