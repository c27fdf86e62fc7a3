// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See measure_options.h. The options are the rows of base/settings.def that have one. The program
// may stand behind `--`, or be the first word that is no option: from there on everything is its
// own.

#include "cli/commands/measure_options.h"

#include <fmt/format.h>

#include <memory>

#include "base/setting_values.h"
#include "cli/commands/option_checks.h"
#include "cli/message.h"

namespace culprit::cli {

namespace {

constexpr log::Component kLog("measure");

/// Returns the placeholder of the value in help. Alternatives are in braces (completion reads
/// them).
std::string type_name(const Shape& shape) {
  using Kind = Shape::Kind;
  switch (shape.kind) {
    case Kind::flag:
      return "";
    case Kind::number:
      return fmt::format("NUMBER:{}..{}", shape.least, shape.most);
    case Kind::size:
      return "SIZE";
    case Kind::choice:
      return fmt::format("TEXT:{{{}}}", shape.words);
    case Kind::window:
      return "WINDOW";
    case Kind::ranks:
      return "RANKS";
    case Kind::phase:
      return "PHASE";
    case Kind::frequent_events:
      return "EVENTS";
    case Kind::text:
      return "TEXT";
    case Kind::path:
      return "PATH";
  }
  return "";
}

std::string help(const SettingText& row) {
  std::string text = row.help;
  if (row.shape.kind != Shape::Kind::frequent_events) return text;
  for (const FrequentText& events : kFrequentEvents)
    text += fmt::format("{}{}", &events == kFrequentEvents.begin() ? ": " : ", ", events.name);
  return text;
}

/// The value is checked when the command line has been read: a variable's just as an option's.
void add_setting(CLI::App& command, const SettingText& row, std::string& value) {
  CLI::Option* const option = row.shape.kind == Shape::Kind::flag
                                  ? command.add_flag(row.option, value, help(row))
                                  : command.add_option(row.option, value, help(row));
  if (row.shape.kind != Shape::Kind::flag) option->type_name(type_name(row.shape));
  if (!row.initial.empty()) option->default_str(std::string(row.initial));
  option->envname(row.variable);
}

}  // namespace

void add_settings(CLI::App& command, GivenSettings& given, bool report) {
  for (size_t i = 0; i < kSettings.size(); ++i) {
    const bool fits = report || Setting(i) != Setting::estimate;
    if (kSettings[i].has_option() && fits) {
      add_setting(command, kSettings[i], given[Setting(i)]);
    }
  }
}

Action add_measuring(CLI::App& command, const Program& program, bool report) {
  auto options = std::make_shared<MeasureOptions>();
  options->report = report;
  add_settings(command, options->settings, report);
  if (report) add_full(command, options->full);
  command.prefix_command();
  return [options, &command, &program] {
    options->settings.take_variables(process_environment);
    std::vector<std::string> words = command.remaining();
    words.insert(words.end(), program.begin(), program.end());
    options->command = Command(std::move(words));
    if (options->command.empty()) {
      kLog.error("no program given (as in `culprit {} -- mpirun -n 4 ./program`)",
                 command.get_name());
      return kUsage;
    }
    return measure(*options);
  };
}

}  // namespace culprit::cli
