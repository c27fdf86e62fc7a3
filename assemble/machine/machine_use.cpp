// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lines of words, the first of which names the line's content. Files from a folder that others
// could write to are read within bounds: a line that does not fit ends the reading of its file.
#include "assemble/machine/machine_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace culprit::assemble::machine {
namespace {

constexpr std::string_view kPrefix = "machine.";
constexpr std::string_view kHead = "culprit-machine-1";
constexpr uint64_t kMostBytes = uint64_t{4} << 20;
constexpr size_t kMostIntervals = 4096;
constexpr size_t kMostOthers = 16;
/// No core can be used for longer: a greater number is not from us.
constexpr uint64_t kMost_ns = uint64_t{1} << 60;

GuardedPath file_of(const GuardedPath& raw, const std::string& host) {
  return raw / (std::string(kPrefix) + host);
}

/// A name may contain anything.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '?');
  return text;
}

std::string text_of(const MachineUse& use) {
  std::string text = fmt::format("{}\n{}\n{}\ncores {}\n", kHead, one_line(use.host),
                                 one_line(use.boot_id), use.cores);
  for (const Interval& each : use.intervals) {
    text += fmt::format("interval {} {} {} {} {} {} {}\n", each.begin_ns, each.end_ns, each.busy_ns,
                        each.idle_ns, each.steal_ns, each.throttled_ns, each.helpers_ns);
    for (const ProcessUse& other : each.others) {
      text += fmt::format("other {} {} {}\n", other.cpu_ns, other.pid, one_line(other.name));
    }
  }
  return text;
}

bool take_interval(std::istringstream& words, std::vector<Interval>& intervals) {
  Interval each;
  words >> each.begin_ns >> each.end_ns >> each.busy_ns >> each.idle_ns >> each.steal_ns >>
      each.throttled_ns >> each.helpers_ns;
  if (!words || intervals.size() == kMostIntervals || each.end_ns <= each.begin_ns) return false;
  if (!intervals.empty() && each.begin_ns < intervals.back().end_ns) return false;
  for (const uint64_t time : {each.end_ns, each.busy_ns, each.idle_ns, each.steal_ns,
                              each.throttled_ns, each.helpers_ns}) {
    if (time > kMost_ns) return false;
  }
  intervals.push_back(std::move(each));
  return true;
}

bool take_other(std::istringstream& words, std::vector<Interval>& intervals) {
  ProcessUse other;
  if (intervals.empty() || !(words >> other.cpu_ns >> other.pid)) return false;
  words.get();
  std::getline(words, other.name);
  if (other.cpu_ns > kMost_ns || intervals.back().others.size() == kMostOthers) return false;
  intervals.back().others.push_back(std::move(other));
  return true;
}

std::optional<MachineUse> read_machine(const GuardedPath& file) {
  const auto text = file.read(kMostBytes);
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::string line;
  MachineUse use;
  if (!std::getline(lines, line) || line != kHead) return std::nullopt;
  if (!std::getline(lines, use.host) || !std::getline(lines, use.boot_id)) return std::nullopt;
  std::string word;
  if (!(lines >> word >> use.cores) || word != "cores") return std::nullopt;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    const bool fits = what == "interval" ? take_interval(words, use.intervals)
                                         : what == "other" && take_other(words, use.intervals);
    if (!fits) break;
  }
  return use;
}

}  // namespace

void join(Interval& first, const Interval& second) {
  first.end_ns = second.end_ns;
  first.busy_ns += second.busy_ns;
  first.idle_ns += second.idle_ns;
  first.steal_ns += second.steal_ns;
  first.throttled_ns += second.throttled_ns;
  first.helpers_ns += second.helpers_ns;
  for (const ProcessUse& other : second.others) {
    const auto known = std::find_if(
        first.others.begin(), first.others.end(),
        [&](const ProcessUse& each) { return each.pid == other.pid && each.name == other.name; });
    if (known == first.others.end()) {
      first.others.push_back(other);
    } else {
      known->cpu_ns += other.cpu_ns;
    }
  }
  std::stable_sort(first.others.begin(), first.others.end(),
                   [](const ProcessUse& a, const ProcessUse& b) { return a.cpu_ns > b.cpu_ns; });
  if (first.others.size() > kMostOthers) first.others.resize(kMostOthers);
}

std::vector<MachineUse> read_machines(const GuardedPath& raw) {
  std::vector<MachineUse> machines;
  for (const std::string& name : raw.list()) {
    if (!name.starts_with(kPrefix)) continue;
    if (auto use = read_machine(raw / name)) machines.push_back(std::move(*use));
  }
  return machines;
}

bool begin_machine(const GuardedPath& raw, const MachineUse& use) {
  return file_of(raw, use.host).create(text_of(use)).ok();
}

void write_machine(const GuardedPath& raw, const MachineUse& use) {
  (void)file_of(raw, use.host).replace(text_of(use));
}

}  // namespace culprit::assemble::machine
