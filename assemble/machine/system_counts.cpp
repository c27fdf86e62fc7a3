// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// As proc(5) and the kernel's cgroup-v1 and cgroup-v2 describe them; what does not look like that
// counts nothing.
#include "assemble/machine/system_counts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace culprit::assemble::machine {
namespace {

/// Calls visit(line) for each.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<uint64_t> number_in(std::string_view word) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

uint64_t take_count(std::string_view& text) {
  return number_in(take_word(text)).value_or(0);
}

/// Of a cpu.stat: microseconds in version 2, nanoseconds in version 1.
uint64_t throttled_in(std::string_view stat) {
  uint64_t sum = 0;
  for_each_line(stat, [&](std::string_view line) {
    const std::string_view key = take_word(line);
    if (key == "throttled_usec") sum = 1000 * take_count(line);
    if (key == "throttled_time") sum = take_count(line);
  });
  return sum;
}

struct Group {
  std::vector<std::string> mounts;  ///< where it may be mounted
  std::string path;
};

/// Where quotas are kept: the one hierarchy of version 2, or that of the controller "cpu".
std::vector<Group> groups_in(std::string_view text) {
  std::vector<Group> groups;
  for_each_line(text, [&](std::string_view line) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      groups.push_back({{"", "unified/"}, path});
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      groups.push_back({{controllers + "/", "cpu/"}, path});
    }
  });
  return groups;
}

}  // namespace

// "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; the first two hold the
// last two.
CoreCounts count_cores(std::string_view stat, const std::set<unsigned>& which, uint64_t tick_ns) {
  CoreCounts sum;
  for_each_line(stat, [&](std::string_view line) {
    const std::string_view name = take_word(line);
    if (!name.starts_with("cpu") || name.size() == 3) return;
    const auto core = number_in(name.substr(3));
    if (!core || !which.contains(static_cast<unsigned>(*core))) return;
    std::array<uint64_t, 8> ticks = {};
    for (uint64_t& each : ticks) each = take_count(line);
    const auto [user, nice, system, idle, io_wait, irq, soft_irq, steal] = ticks;
    sum.busy_ns += tick_ns * (user + nice + system + irq + soft_irq);
    sum.idle_ns += tick_ns * (idle + io_wait);
    sum.steal_ns += tick_ns * steal;
  });
  return sum;
}

std::optional<ProcessCount> count_process(std::string_view stat, uint64_t tick_ns) {
  constexpr uint32_t kKernelThreads = 2;  // the process that makes them
  const size_t open = stat.find('('), close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  std::string_view before = stat.substr(0, open), rest = stat.substr(close + 1);
  ProcessCount found;
  found.pid = static_cast<uint32_t>(take_count(before));
  found.name = std::string(stat.substr(open + 1, close - open - 1));
  // From field 3, the state, on.
  std::array<std::string_view, 50> fields = {};
  for (std::string_view& field : fields) field = take_word(rest);
  const auto field = [&](size_t number) { return number_in(fields[number - 3]).value_or(0); };
  found.parent = static_cast<uint32_t>(field(4));
  found.cpu_ns = tick_ns * (field(14) + field(15));
  found.started = field(22);
  found.core = static_cast<int>(field(39));
  found.of_kernel = found.pid == kKernelThreads || found.parent == kKernelThreads;
  if (found.pid == 0) return std::nullopt;
  return found;
}

// A quota may be that of any group around: each counts only what it did itself, so that the largest
// is at least what was lost.
uint64_t throttled_ns(std::string_view groups,
                      const std::function<std::optional<std::string>(const std::string&)>& read) {
  uint64_t most = 0;
  for (const Group& group : groups_in(groups)) {
    for (const std::string& mount : group.mounts) {
      // Inside a container the path may be that of outside: the mount itself is then the group.
      for (std::string path = group.path;;) {
        const std::string folder = path == "/"                ? ""
                                   : path.substr(0, 1) == "/" ? path.substr(1) + "/"
                                                              : "";
        if (const auto stat = read(mount + folder + "cpu.stat")) {
          most = std::max(most, throttled_in(*stat));
        }
        const size_t slash = path.rfind('/');
        if (path.empty() || path == "/" || slash == std::string::npos) break;
        path = slash == 0 ? "/" : path.substr(0, slash);
      }
    }
  }
  return most;
}

}  // namespace culprit::assemble::machine
