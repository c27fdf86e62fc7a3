// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/log_options.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "cli/launch/settings.h"

namespace culprit::cli {
namespace {

std::string as_variable(const char* help, const char* level) {
  return fmt::format("{} (as {}={})", help, variable(Setting::log), level);
}

}  // namespace

void set_log_level(const std::string& name) {
  if (name.empty()) return;
  if (const auto level = log::level_named(name)) return log::show_from(*level);
  log::Component("culprit").warning("{} is '{}', which is not one of {}; it is ignored",
                                    variable(Setting::log), name,
                                    listed(text(Setting::log).shape.words));
}

void add_log_options(CLI::App& command) {
  CLI::Option* const verbose = command.add_flag_callback(
      "-v,--verbose", [] { log::show_from(log::Level::debug); },
      as_variable("show what culprit does in detail, with times", "debug"));
  command
      .add_flag_callback(
          "-q,--quiet", [] { log::show_from(log::Level::error); },
          as_variable("show errors only", "error"))
      ->excludes(verbose);
}

}  // namespace culprit::cli
