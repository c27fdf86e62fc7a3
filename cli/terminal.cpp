// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a terminal is asked, and which of its answers count: the size by ioctl, the rest by
// variables that people set.

#include "cli/terminal.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/progress/progress.h"
#include "cli/launcher.h"
#include "report/words/colours.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

/// A wider page than this is tiring to read.
constexpr size_t kMostColumns = 160;

size_t columns_of(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return report::kUsualWidth;
  return size.ws_col;
}

/// One that can move its cursor, with a person before it: launchers give their ranks terminals of
/// their own, and pass on what is written there to wherever it goes.
bool is_terminal(int file) {
  if (detect_job(process_environment)) return false;
  const char* kind = std::getenv("TERM");
  return isatty(file) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

/// As https://no-color.org has it.
bool wants_colours() {
  const char* no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

/// The lines that stdout has room for; 0: unknown.
size_t rows_of_terminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/// The command that shows pages; empty: none is wanted. As git has it, less ends by itself where a
/// page fits, keeps colours, and leaves the page on the screen.
std::string pager() {
  const char* given = std::getenv("PAGER");
  if (given != nullptr) return std::string_view(given) == "cat" ? "" : given;
  return "less";
}

/// False if the pager could not be started; nothing was printed then.
bool shown_by(const std::string& command, std::string_view page) {
  setenv("LESS", "FRX", /*overwrite=*/0);
  std::FILE* const pipe = popen(
      ("command -v " + command.substr(0, command.find(' ')) + " >/dev/null && exec " + command)
          .c_str(),
      "we");
  if (pipe == nullptr) return false;
  // Who has read enough ends the pager: that is no failure, and no reason to end this process.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::fwrite(page.data(), 1, page.size(), pipe);
  constexpr int kNotThere = 127 << 8, kNoSuchCommand = 1 << 8;
  const int status = pclose(pipe);
  std::signal(SIGPIPE, before);
  return status != kNotThere && status != kNoSuchCommand;
}

}  // namespace

void reserve_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    const int way = file == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    (void)!open("/dev/null", way | O_CLOEXEC);
  }
}

void use_terminals() {
  if (isatty(STDOUT_FILENO) == 1 && !detect_job(process_environment)) {
    report::set_page_width(std::min(columns_of(STDOUT_FILENO), kMostColumns));
  }
  if (is_terminal(STDERR_FILENO)) progress::show(STDERR_FILENO, columns_of(STDERR_FILENO));
}

bool is_interactive() {
  return is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
}

bool print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return true;
  // The caller says so: nothing is left for all_was_printed() to find.
  __fpurge(stdout);
  std::clearerr(stdout);
  return false;
}

bool all_was_printed() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

bool print_page(std::string_view page) {
  if (!is_terminal(STDOUT_FILENO) || !wants_colours()) return print(page);
  return print(report::coloured(page));
}

bool show_page(std::string_view page) {
  const size_t rows = rows_of_terminal();
  const auto lines = static_cast<size_t>(std::count(page.begin(), page.end(), '\n'));
  const std::string command = is_interactive() && rows > 0 && lines >= rows ? pager() : "";
  if (command.empty()) return print_page(page);
  std::fflush(stdout);
  const std::string text = wants_colours() ? report::coloured(page) : std::string(page);
  return shown_by(command, text) || print_page(page);
}

}  // namespace culprit::cli
