// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads of a process that mostly did the same share an entry where there are many: a team of 128
// is one line.
#include "cli/attach/seen_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "report/words/layout.h"

namespace culprit::cli {
namespace {

using assemble::attach::Doing;
using assemble::attach::Seen;
using assemble::attach::SeenCulprit;
using assemble::attach::SeenProcess;
using assemble::attach::SeenThread;
using assemble::attach::Spot;

/// Threads that share an entry.
struct Group {
  std::vector<const SeenThread*> threads;
  std::vector<std::pair<Spot, double>> spots;  ///< and seconds
  double watched_s = 0, on_core_s = 0, without_core_s = 0;
  bool accounted = true;  ///< by the scheduler
};

std::string share(double part, double whole) {
  if (whole <= 0) return "-";
  const double percent = 100 * part / whole;
  return percent > 0 && percent < 1 ? "< 1 %" : fmt::format("{:.0f} %", percent);
}

/// "solve (solver.c:88)"; empty if neither is known.
std::string where(const Spot& spot) {
  if (spot.place.empty()) return spot.function;
  return spot.function.empty() ? spot.place : fmt::format("{} ({})", spot.function, spot.place);
}

std::string sentence(const Spot& spot) {
  std::string text = to_words(spot.doing);
  const std::string place = where(spot);
  if (spot.doing == Doing::computes) {
    if (!place.empty()) text += " in " + place;
    if (!spot.call.empty()) text += ", in the system (" + spot.call + ")";
    return text;
  }
  if (!spot.call.empty()) text += ": " + spot.call;
  if (!spot.object.empty()) text += " of " + spot.object;
  if (!place.empty()) text += ", called by " + place;
  return text;
}

std::string name_of(const Group& group) {
  const SeenThread& first = *group.threads.front();
  if (group.threads.size() == 1) return fmt::format("thread {} ({})", first.tid, first.name);
  constexpr size_t kNamed = 4;
  std::vector<std::string> names;
  for (const SeenThread* thread : group.threads) {
    if (names.size() < kNamed) names.push_back(fmt::format("{}", thread->tid));
  }
  const size_t more = group.threads.size() - names.size();
  return fmt::format("{} threads ({}{})", group.threads.size(), fmt::join(names, ", "),
                     more > 0 ? ", ..." : "");
}

void add(Group& group, const SeenThread& thread) {
  group.threads.push_back(&thread);
  group.watched_s += thread.watched_s;
  group.on_core_s += std::max(0.0, thread.on_core_s);
  group.without_core_s += std::max(0.0, thread.without_core_s);
  group.accounted = group.accounted && thread.on_core_s >= 0;
  for (const auto& seen : thread.spots) {
    Spot spot = seen.spot;
    spot.on_core = false;
    const auto known = std::find_if(group.spots.begin(), group.spots.end(),
                                    [&](const auto& each) { return each.first == spot; });
    if (known == group.spots.end()) {
      group.spots.emplace_back(spot, seen.seconds);
    } else {
      known->second += seen.seconds;
    }
  }
}

std::vector<Group> groups_of(const SeenProcess& process) {
  constexpr size_t kEachForItself = 16;
  std::vector<Group> groups;
  std::map<Spot, size_t> by_spot;
  for (const SeenThread& thread : process.threads) {
    if (thread.spots.empty()) continue;
    Spot most = thread.spots.front().spot;
    most.on_core = false;
    const bool alone = process.threads.size() <= kEachForItself;
    const auto [at, fresh] = by_spot.try_emplace(most, groups.size());
    if (fresh || alone) groups.emplace_back();
    add(alone ? groups.back() : groups[at->second], thread);
  }
  for (Group& group : groups) {
    std::stable_sort(group.spots.begin(), group.spots.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }
  return groups;
}

std::string lines_of(const Group& group, size_t top) {
  std::string account = "the scheduler's account is withheld";
  if (group.accounted) {
    account = fmt::format(
        "{} on a core, {} without one, {} asleep", share(group.on_core_s, group.watched_s),
        share(group.without_core_s, group.watched_s),
        share(std::max(0.0, group.watched_s - group.on_core_s - group.without_core_s),
              group.watched_s));
  }
  std::string text = report::wrapped(fmt::format("{}: {}", name_of(group), account), 2);
  double shown_s = 0, all_s = 0;
  for (const auto& spot : group.spots) all_s += spot.second;
  const size_t lines = top == 0 ? group.spots.size() : std::min(top, group.spots.size());
  for (size_t i = 0; i < lines; ++i) {
    const auto& [spot, seconds] = group.spots[i];
    shown_s += seconds;
    text += report::beside(report::right(share(seconds, group.watched_s), 12), sentence(spot));
  }
  if (lines < group.spots.size()) {
    text += report::beside(
        report::right(share(all_s - shown_s, group.watched_s), 12),
        fmt::format("{} more", report::counted(group.spots.size() - lines, "place")));
  }
  return text;
}

std::string heading(const SeenProcess& process) {
  double on_core_s = 0;
  for (const SeenThread& thread : process.threads) on_core_s += std::max(0.0, thread.on_core_s);
  std::string text = fmt::format("PROCESS {} ({}", process.pid, process.name);
  if (!process.user.empty()) text += ", of " + process.user;
  text += fmt::format("): {}", report::counted(process.threads.size(), "thread"));
  if (process.watched_s > 0) {
    text += fmt::format(", {:.1f} of them on a core at a time", on_core_s / process.watched_s);
  }
  if (process.ended) text += fmt::format("; it ended after {:.1f} s", process.watched_s);
  return report::wrapped(text, 0);
}

std::string process_section(const SeenProcess& process, size_t top) {
  std::string text = heading(process);
  if (!process.refusal.empty()) {
    text += report::wrapped(
        "What its threads do cannot be seen: " + process.refusal + ". The scheduler's account can.",
        2);
  }
  if (!process.debugger.empty()) {
    text += report::wrapped(
        "Its threads cannot be stopped for their stacks while " + process.debugger + " holds them.",
        2);
  }
  const std::vector<Group> groups = groups_of(process);
  const size_t shown = top == 0 ? groups.size() : std::min(4 * top, groups.size());
  for (size_t i = 0; i < shown; ++i) text += lines_of(groups[i], top);
  if (shown < groups.size()) {
    text += report::wrapped(
        fmt::format("{} that ran less (--top 0 shows all)",
                    report::counted(groups.size() - shown, "more thread", "more threads")),
        2);
  }
  return text + "\n";
}

std::string who_section(const Seen& seen, size_t top) {
  if (seen.waiting_s <= 0) return "";
  std::string text = report::wrapped(
      fmt::format("WHO IS WAITED FOR: threads waited {:.1f} s for threads of their process",
                  seen.waiting_s),
      0);
  const size_t lines = top == 0 ? seen.culprits.size() : std::min(2 * top, seen.culprits.size());
  double rest_s = 0;
  for (size_t i = 0; i < seen.culprits.size(); ++i) {
    const SeenCulprit& one = seen.culprits[i];
    if (i >= lines) {
      rest_s += one.waiting_s;
      continue;
    }
    std::string what = fmt::format("thread {} {}", one.tid, sentence(one.spot));
    if (seen.processes.size() > 1) what += fmt::format(", process {}", one.pid);
    if (one.locks_s > 0) {
      what += fmt::format(", and holds a lock ({} of it)", share(one.locks_s, one.waiting_s));
    }
    text += report::beside(report::right(share(one.waiting_s, seen.waiting_s), 12), what);
  }
  const auto line = [&](double part_s, const char* what) {
    if (part_s > 0) text += report::beside(report::right(share(part_s, seen.waiting_s), 12), what);
  };
  line(rest_s, "others");
  line(seen.nobody_s, "no thread of the process worked");
  line(seen.somebody_s, "for whom, cannot be seen from outside");
  return text + "\n";
}

bool is_seen(const Seen& seen, Doing doing) {
  for (const SeenProcess& process : seen.processes) {
    for (const SeenThread& thread : process.threads) {
      for (const auto& spot : thread.spots) {
        if (spot.spot.doing == doing) return true;
      }
    }
  }
  return false;
}

std::string limits_section(const Seen& seen) {
  std::string text = "WHAT THIS CAN AND CANNOT SAY\n";
  const auto line = [&](const std::string& sentence) {
    text += "- " + report::wrapped(sentence, 2).substr(2);
  };
  const double half = seen.looks > 0 ? 100 / std::sqrt(static_cast<double>(seen.looks)) : 100;
  line(
      fmt::format("Times on a core, without one and asleep are the system's account. Where they "
                  "were spent is known from {}: a share of 50 % of a thread's looks is right to "
                  "within {:.0f} percentage points.",
                  report::counted(seen.looks, "look"), half));
  if (is_seen(seen, Doing::mpi)) {
    line(
        "For which rank a call of MPI waits cannot be seen from outside, nor whether it waits or "
        "works: `culprit run` records it.");
  }
  line(
      "Calls, messages and the work of devices are not observed: who launches work for a GPU and "
      "waits for it is seen in its driver.");
  if (seen.stops > 0) {
    line(
        fmt::format("Threads that ran were stopped {} times for their stacks, for {:.2f} ms at "
                    "most, and {:.1f} ms in all. The looks took {:.1f} % of a core.",
                    report::grouped(seen.stops), 1e3 * seen.longest_stop_s, 1e3 * seen.stopped_s,
                    seen.seconds > 0 ? 100 * seen.own_core_s / seen.seconds : 0));
  }
  if (seen.refused > 0) {
    line(
        fmt::format("{} times a thread could not be stopped: a debugger holds it, or the system "
                    "refuses it.",
                    report::grouped(seen.refused)));
  }
  for (const SeenProcess& process : seen.processes) {
    if (process.nameless) {
      line(fmt::format("Functions of {} have no names: it was built without symbols.",
                       process.name));
    }
  }
  return text;
}

}  // namespace

std::string seen_page(const Seen& seen, size_t top) {
  std::string text = report::wrapped(
      fmt::format("culprit attach: {} in {:.1f} s at {}", report::counted(seen.looks, "look"),
                  seen.seconds, report::counted(seen.processes.size(), "process", "processes")),
      0);
  text += "\n";
  for (const SeenProcess& process : seen.processes) text += process_section(process, top);
  text += who_section(seen, top);
  text += limits_section(seen);
  return report::fitted(text);
}

}  // namespace culprit::cli
