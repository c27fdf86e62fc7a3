// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit manual: the manual page (man 1 culprit) as troff on stdout, and with --folder those of
// all commands (man 1 culprit-run) as files, for the build to install. What they say of commands,
// options and environment variables is taken from the command line's own definition, so that it
// cannot differ from --help.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/settings.h"
#include "cli/commands/subcommands.h"
#include "cli/installation.h"
#include "cli/launch/settings.h"
#include "cli/message.h"

namespace culprit::cli {
namespace {

/// Text that troff prints as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}

/// "-o, --output TEXT", or a positional argument's name.
std::string spelling(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += bold("-" + name) + ", ";
  for (const std::string& name : option.get_lnames()) names += bold("--" + name) + ", ";
  if (names.empty()) return "\\fI" + escaped(option.get_name(true)) + "\\fR";
  names.resize(names.size() - 2);
  if (option.get_type_name().empty()) return names;  // a flag
  return names + " \\fI" + escaped(option.get_type_name()) + "\\fR";
}

std::string options_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) {
    text += ".TP\n" + spelling(*option) + "\n" + escaped(option->get_description());
    if (!option->get_default_str().empty()) {
      text += " (default: " + escaped(option->get_default_str()) + ")";
    }
    if (!option->get_envname().empty()) text += " [" + bold(option->get_envname()) + "]";
    text += "\n";
  }
  return text;
}

std::string commands_text(const CLI::App& root) {
  std::string text = ".SH COMMANDS\n";
  for (const CLI::App* command : visible_commands(root)) {
    text += ".SS culprit " + escaped(command->get_name()) + "\n";
    text += escaped(command->get_description()) + "\n" + options_text(*command);
    // Commands without one of their own have the program's.
    const std::string footer = command->get_footer();
    if (footer != root.get_footer()) text += ".PP\n" + escaped(footer) + "\n";
  }
  return text;
}

/// Returns the text on a setting without an option.
std::string variable_text(const SettingText& row) {
  if (row.shape.kind != Shape::Kind::choice) return row.help;
  return fmt::format("{} (one of {}; default: {})", row.help, listed(row.shape.words), row.initial);
}

std::string environment_text(const CLI::App& root) {
  std::vector<std::string> lines;
  for (const CLI::App* command : visible_commands(root)) {
    for (const CLI::Option* option : options_of(*command)) {
      if (option->get_envname().empty()) continue;
      lines.push_back(".TP\n" + bold(option->get_envname()) + "\nas " + bold(option->get_name()) +
                      "\n");
    }
  }
  for (const SettingText& row : kSettings) {
    if (row.has_option() || row.handed_on) continue;
    lines.push_back(".TP\n" + bold(row.variable) + "\n" + escaped(variable_text(row)) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string text =
      ".SH ENVIRONMENT\nAn option on the command line takes precedence over its variable.\n";
  for (const std::string& line : lines) text += line;
  return text;
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TP
0
success; with \fBrun\fR and \fBrecord\fR, the program succeeded, too
.TP
{failure}
culprit failed, and said why in one sentence
.TP
{usage}
wrong usage
.TP
{damaged}
results were found, but records are damaged or missing
.TP
{contradiction}
results were found, but their sums do not agree: a bug in culprit
.TP
{stuck}
results were found, and the run was stuck: a deadlock, or a wait for what never comes
.TP
{idle}
\fBculprit stuck\fR: none is known to be stuck, and none makes progress; \fBculprit diff\fR: a regression
.TP
{cannot}, {absent}
the program cannot be executed, or was not found
.PP
\fBculprit run\fR and \fBculprit record\fR otherwise return the status of the program.
)";

constexpr const char* kFiles = R"(.SH FILES
.TP
culprit.\fIprogram\fR.\fItime\fR/
the experiment folder of a run: the trace (OTF2) and the results
.TP
~/.cache/culprit/names
names and lines of functions that were looked up before, by binary; may be deleted
.SH SEE ALSO
.BR culprit\-run (1)
and the pages of the other commands,
.BR mpirun (1),
.BR otf2\-print (1)
)";

std::string exit_status_text() {
  return fmt::format(fmt::runtime(kExitStatus), fmt::arg("failure", kFailure),
                     fmt::arg("usage", kUsage), fmt::arg("damaged", kDamaged),
                     fmt::arg("contradiction", kContradiction), fmt::arg("stuck", kStuck),
                     fmt::arg("idle", kNoProgress), fmt::arg("cannot", kCannotExecute),
                     fmt::arg("absent", kNotFound));
}

std::string heading(std::string_view name) {
  return fmt::format(".TH {} 1 \"\" \"culprit {}\" \"User Commands\"\n", name, kVersion);
}

std::string manual(const CLI::App& root) {
  std::string text = heading("CULPRIT");
  text += ".SH NAME\nculprit \\- find out which code makes an MPI, OpenMP or GPU program wait\n";
  text +=
      ".SH SYNOPSIS\n.B culprit\n\\fIcommand\\fR [\\fIoptions\\fR] [\\-\\-] "
      "[\\fIprogram\\fR [\\fIarguments\\fR]]\n";
  text +=
      ".SH DESCRIPTION\nculprit measures an unmodified program that uses MPI, OpenMP or GPUs, "
      "replays the trace,\nand reports which code made which rank or thread wait, and what "
      "that cost.\n";
  if (!root.get_footer().empty()) text += ".PP\n" + escaped(root.get_footer()) + "\n";
  text += ".SH OPTIONS\n" + options_text(root);
  return text + commands_text(root) + environment_text(root) + exit_status_text() + kFiles;
}

}  // namespace

namespace {

/// The arguments that stand behind the options.
std::string arguments_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command)) {
    if (!option->get_positional()) continue;
    const std::string name = spelling(*option) + (option->get_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  if (command.get_prefix_command()) text += " \\-\\- \\fIprogram\\fR [\\fIargument\\fR...]";
  return text;
}

/// Page 1 of "culprit-report", as `man culprit-report` and `man culprit report` look for it.
std::string page_of(const CLI::App& command) {
  const std::string name = "culprit-" + command.get_name();
  std::string capitals = name;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  std::string text = heading(escaped(capitals));
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.get_description()));
  text += fmt::format(".SH SYNOPSIS\n{} [\\fIoptions\\fR]{}\n",
                      bold("culprit " + command.get_name()), arguments_of(command));
  text += ".SH OPTIONS\n" + options_text(command);
  const std::string footer = command.get_footer();
  if (footer != command.get_parent()->get_footer()) {
    constexpr std::string_view kLabel = "Example: ";
    const bool labeled = footer.starts_with(kLabel);
    text += labeled ? ".SH EXAMPLE\n" + escaped(footer.substr(kLabel.size())) + "\n"
                    : ".PP\n" + escaped(footer) + "\n";
  }
  return text + ".SH SEE ALSO\n.BR culprit (1)\nhas all commands, exit statuses and variables\n";
}

int write_pages(const CLI::App& root, const std::filesystem::path& folder) {
  const GuardedPath place(folder);
  const auto write = [&](const std::string& name, const std::string& page) {
    const auto written = (place / (name + ".1")).replace(page);
    return written ? 0 : fail(written.error());
  };
  int status = write("culprit", manual(root));
  for (const CLI::App* command : visible_commands(root)) {
    if (status != 0) break;
    status = write("culprit-" + command->get_name(), page_of(*command));
  }
  return status;
}

}  // namespace

Action add_manual(CLI::App& command, const Program&) {
  auto folder = std::make_shared<std::filesystem::path>();
  command.add_option("--folder", *folder, "write the pages of all commands into this folder");
  return [&command, folder] {
    if (!folder->empty()) return write_pages(*command.get_parent(), *folder);
    std::fputs(manual(*command.get_parent()).c_str(), stdout);
    return 0;
  };
}

}  // namespace culprit::cli
