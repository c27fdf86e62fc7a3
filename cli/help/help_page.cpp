// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See help_page.h. Values and variables of an option stand behind its description, since the name
// of a type says little.

#include "cli/help/help_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands/subcommands.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

/// The column in which descriptions begin; longer names have a line of their own.
constexpr size_t kOptionColumn = 28, kCommandColumn = 14;

/// A name, and beside it a description of any length.
std::string entry(const std::string& name, const std::string& words, size_t column) {
  std::string lines = report::wrapped(words, column);
  const std::string shown = "  " + name;
  if (shown.size() + 1 >= column) return shown + "\n" + lines;
  return lines.replace(0, column, report::left(shown, column));
}

/// What a value is to look like: "N", "PATH", "TEXT", or nothing for a flag.
std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.empty()) return "";
  if (!choices_of(option).empty()) return "WORD";
  const std::string word = type.substr(0, type.find_first_of(":= "));
  if (word == "UINT" || word == "INT" || word == "FLOAT" || word == "NUMBER") return "N";
  return word;
}

std::string description_of(const CLI::Option& option) {
  std::string words = option.get_description();
  const std::vector<std::string> choices = choices_of(option);
  // Some descriptions explain each choice, and need no list of them.
  const bool all_named = std::all_of(choices.begin(), choices.end(), [&](const std::string& each) {
    return words.find(each) != words.npos;
  });
  if (!choices.empty() && !all_named) words += fmt::format(": {}", fmt::join(choices, ", "));
  const std::string initial = option.get_default_str();
  if (!initial.empty() && words.find("default") == words.npos) {
    words += fmt::format(" (default: {})", initial);
  }
  if (!option.get_envname().empty()) words += fmt::format(" [{}]", option.get_envname());
  return words;
}

std::string options_text(const CLI::App& app) {
  std::string arguments, options;
  for (const CLI::Option* option : shown_options(app)) {
    const bool positional = option->get_positional();
    const std::string value = positional ? "" : value_name(*option);
    const std::string name = spelling_of(*option) + (value.empty() ? "" : " " + value);
    (positional ? arguments : options) += entry(name, description_of(*option), kOptionColumn);
  }
  if (!arguments.empty()) arguments = "\nArguments:\n" + arguments;
  return arguments + (options.empty() ? "" : "\nOptions:\n" + options);
}

std::string commands_text(const CLI::App& app) {
  std::vector<std::string> groups;
  const std::vector<const CLI::App*> commands = visible_commands(app);
  for (const CLI::App* each : commands) {
    if (std::find(groups.begin(), groups.end(), each->get_group()) == groups.end()) {
      groups.push_back(each->get_group());
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const CLI::App* each : commands) {
      if (each->get_group() != group) continue;
      text += entry(each->get_name(), each->get_description(), kCommandColumn);
    }
  }
  return text;
}

/// "usage: culprit report [options] [EXPERIMENT]".
std::string usage_of(const CLI::App& app) {
  const bool is_root = app.get_parent() == nullptr;
  std::string text =
      "usage: " + (is_root ? app.get_name() : app.get_parent()->get_name() + " " + app.get_name());
  if (!visible_commands(app).empty()) return text + " COMMAND [options]";
  text += " [options]";
  for (const CLI::Option* option : shown_options(app)) {
    if (!option->get_positional()) continue;
    const std::string name = spelling_of(*option) + (option->get_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(std::map<std::string, std::string> behind) : behind_(std::move(behind)) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const auto behind = behind_.find(app->get_name());
    return help_page(*app, behind == behind_.end() ? "" : behind->second);
  }

 private:
  std::map<std::string, std::string> behind_;
};

}  // namespace

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> choices{""};
  for (size_t i = begin + 1; i < end; ++i) {
    if (type[i] == ',') {
      choices.emplace_back();
    } else {
      choices.back() += type[i];
    }
  }
  return choices;
}

std::string spelling_of(const CLI::Option& option) {
  if (option.get_positional()) {
    std::string name = option.get_name(true);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    return name;
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string help_page(const CLI::App& app, const std::string& behind) {
  std::string text = usage_of(app) + behind + "\n\n" + report::wrapped(app.get_description(), 0);
  text += commands_text(app) + options_text(app);
  if (!app.get_footer().empty()) text += "\n" + report::wrapped(app.get_footer(), 0);
  return text;
}

void use_help_pages(CLI::App& app, std::map<std::string, std::string> behind) {
  const auto pages = std::make_shared<HelpFormatter>(std::move(behind));
  app.formatter(pages);
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) each->formatter(pages);
}

}  // namespace culprit::cli
