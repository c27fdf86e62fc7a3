// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Works on the finished page, line by line: the layout of a line shows its kind, so the code that
// writes the page need not handle colours.

#include "report/words/colours.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace culprit::report {
namespace {

constexpr std::string_view kBold = "\033[1m", kRed = "\033[31m", kYellow = "\033[33m",
                           kDim = "\033[2m", kWarm = "\033[38;5;208m", kPlain = "\033[0m";

struct Beginning {
  std::string_view words, colour;
};
constexpr std::array kBeginnings = {
    Beginning{"  ERROR:", kRed},          Beginning{"  Data loss:", kRed},
    Beginning{"DEADLOCK", kRed},          Beginning{"  Warning:", kYellow},
    Beginning{"  Note:", kDim},           Beginning{"Full results:", kDim},
    Beginning{"Machine-readable:", kDim},
};

std::string painted(std::string_view text, std::string_view colour) {
  return std::string(colour).append(text).append(kPlain);
}

/// "WAIT STATES: where time was lost": a word of two capitals or more at the beginning.
bool is_heading(std::string_view line) {
  return line.size() > 2 && std::isupper(static_cast<unsigned char>(line[0])) != 0 &&
         std::isupper(static_cast<unsigned char>(line[1])) != 0 && line.find(':') != line.npos;
}

/// Returns where the share at the head of an entry ends (" 1.2 s 12.3 %"), behind nothing but
/// figures and a unit; 0: it is no entry.
size_t end_of_share(std::string_view line) {
  constexpr size_t kFigures = 30;
  const size_t end = line.find(" % ");
  if (end == line.npos || end > kFigures) return 0;
  if (line.substr(0, end).find("s ") == line.npos) return 0;
  for (const char c : line.substr(0, end)) {
    if (std::string_view(" .<0123456789msun").find(c) == std::string_view::npos) return 0;
  }
  return end + 2;
}

std::string coloured_line(std::string_view line) {
  for (const Beginning& each : kBeginnings) {
    if (line.starts_with(each.words)) return painted(line, each.colour);
  }
  if (is_heading(line)) return painted(line, kBold);
  const size_t share = end_of_share(line);
  if (share == 0) return std::string(line);
  return painted(line.substr(0, share), kWarm).append(line.substr(share));
}

}  // namespace

std::string coloured(std::string_view page) {
  std::string out;
  while (!page.empty()) {
    const size_t end = std::min(page.find('\n'), page.size());
    out += coloured_line(page.substr(0, end));
    if (end < page.size()) out += '\n';
    page.remove_prefix(std::min(end + 1, page.size()));
  }
  return out;
}

}  // namespace culprit::report
