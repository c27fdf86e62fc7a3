// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Such a line is "#Paraver (26/01/04 at 16:35):260199_ns:1(4):1:2(1:1,1:1),8": behind the date and
// the length come nodes (or 0), the number of applications, and for each "tasks(threads:node,...)",
// then the number of communicators' lines. Only what is spelled is believed: numbers may promise
// anything.
#include "trace/paraver/header.h"

#include <charconv>

namespace culprit::trace {
namespace {

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

/// "4(1:1,1:2,1:3,1:4)"
std::optional<std::vector<ParaverTask>> take_application(std::string_view& text) {
  if (!take_number(text)) return {};
  take(text, ":");  // some writers put one there
  if (!take(text, "(")) return {};
  std::vector<ParaverTask> tasks;
  while (!take(text, ")")) {
    if (!tasks.empty() && !take(text, ",")) return {};
    const auto threads = take_number(text);
    if (!threads || *threads < 0) return {};
    ParaverTask task{static_cast<uint64_t>(*threads), 0};
    if (take(text, ":")) {
      const auto node = take_number(text);
      if (!node || *node < 0) return {};
      task.node = static_cast<uint64_t>(*node);
    }
    tasks.push_back(task);
  }
  return tasks;
}

}  // namespace

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::optional<ParaverHeader> parse_paraver_header(std::string_view line) {
  if (!take(line, kParaverMark)) return {};
  const size_t date = line.find("):");
  if (date == line.npos) return {};
  line.remove_prefix(date + 2);
  ParaverHeader header;
  if (!take_number(line)) return {};
  header.nanoseconds = take(line, "_ns");
  if (!take(line, ":") || !take_number(line)) return {};
  if (take(line, "(")) {
    const size_t end = line.find(')');
    if (end == line.npos) return {};
    line.remove_prefix(end + 1);
  }
  if (!take(line, ":") || !take_number(line)) return {};
  while (take(line, ":")) {
    auto tasks = take_application(line);
    if (!tasks) return {};
    header.applications.push_back(std::move(*tasks));
    const size_t next = line.find(':');
    if (next == line.npos) break;
    line.remove_prefix(next);  // ",8": communicators' lines, which are recognized as they come
  }
  if (header.applications.empty()) return {};
  return header;
}

}  // namespace culprit::trace
