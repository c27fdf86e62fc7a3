// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a share and a text, a handful for each question; shares below one percent are left out.
#include "report/text_page/glance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/functions.h"
#include "blame/judge/summary.h"
#include "report/text_page/devices.h"
#include "report/verdict/places.h"
#include "report/verdict/verdict.h"
#include "report/verdict/when.h"
#include "report/words/layout.h"
#include "report/words/patterns.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::DeviceTime;
using blame::Diagnosis;
using blame::Factor;
using blame::Findings;
using blame::NobodyReason;
using blame::OwnIdleness;
using blame::OwnWaiting;
using blame::Proportion;
using blame::Run;
using blame::Shape;
using blame::Waiting;

constexpr size_t kRows = 3;  ///< of each kind
constexpr double kRowMatters = blame::kWorthALine;
constexpr double kAsGoodAsOne = 0.9995;  ///< a factor that would be shown as 100.0 %

/// Returns the column where words begin; on a narrow page they are in the line below.
size_t words_column() {
  return page_width() >= kRoomBeside ? 14 : text_column();
}

/// Rows of a share and a text, below a line that says what they are shares of.
class Rows {
 public:
  Rows(std::string_view label, std::string_view whole)
      : lines_(fmt::format("  {}, of {}\n", label, whole)) {}

  /// `remark` is left out where the line has no room for it.
  void add(Proportion part, std::string_view what, const std::string& remark = "") {
    const size_t width = page_width() - words_column();
    std::string text(what);
    if (!remark.empty() && text.size() + 2 + remark.size() <= width) text += ": " + remark;
    add_lines(percent(part), std::string(words_column(), ' ') +
                                 (text.size() <= width ? text : shortened(text, width)) + '\n');
  }
  /// Goes on in further lines where it has no room: of factors all are needed.
  void add_whole(double part, const std::string& text) {
    add_lines(percent(Proportion::by_itself(part)), wrapped(text, words_column()));
  }
  bool full() const { return count_ == kRows; }
  /// "" if there are none.
  std::string lines() const { return count_ > 0 ? lines_ : ""; }

 private:
  void add_lines(const std::string& share, std::string lines) {
    const std::string head = right(share, words_column() - 2) + "  ";
    if (page_width() >= kRoomBeside) {
      lines_ += lines.replace(0, words_column(), head);
    } else {
      lines_ += "  " + share + '\n' + lines;
    }
    ++count_;
  }

  std::string lines_;
  size_t count_ = 0;
};

double efficiency(const Findings& findings, Factor factor) {
  for (const blame::FoundEfficiency& row : findings.efficiencies) {
    if (row.name == factor) return row.value;
  }
  return 1;
}

/// "MPI: load balance 95.0 % x serialization 93.0 %", factors of 1 left out.
std::string factors(const Findings& findings, std::string_view name,
                    std::initializer_list<std::pair<Factor, std::string_view>> parts) {
  std::string text;
  for (const auto& [factor, words] : parts) {
    const double value = efficiency(findings, factor);
    if (value >= kAsGoodAsOne) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", words,
                        percent(Proportion::by_itself(value)));
  }
  return text.empty() ? std::string(name) : fmt::format("{}: {}", name, text);
}

/// Archives do not say which library it was, but have its calls.
bool has_mpi(const Findings& findings) {
  return !findings.run.mpi.empty() ||
         std::any_of(findings.callpaths.begin(), findings.callpaths.end(),
                     [](const auto& path) { return is_of(path, trace::Paradigm::mpi); });
}

/// Without MPI its factors are of processes and threads that wait for each other, or of ranks whose
/// devices do.
std::string outer_level(const Findings& findings) {
  if (has_mpi(findings)) return "MPI";
  if (findings.run.ranks < 2) return "threads at work";
  return unit_of(findings) == "rank" ? "ranks" : "processes";
}

/// "MPI 60.8 % x OpenMP 65.7 %"; "" unless both lose something.
std::string outer_and_inner(const Findings& findings) {
  const double mpi = efficiency(findings, Factor::mpi), omp = efficiency(findings, Factor::omp);
  if (mpi >= kAsGoodAsOne || omp >= kAsGoodAsOne) return "";
  return fmt::format("{} {} x OpenMP {}", outer_level(findings),
                     percent(Proportion::by_itself(mpi)), percent(Proportion::by_itself(omp)));
}

std::string efficiency_rows(const Findings& findings) {
  if (findings.efficiencies.empty()) return "";
  Rows rows("Efficiency", "the threads' time without start-up and shutdown");
  const double mpi = efficiency(findings, Factor::mpi), omp = efficiency(findings, Factor::omp);
  const std::string outer = outer_level(findings);
  const std::string both = outer_and_inner(findings);
  rows.add_whole(efficiency(findings, Factor::parallel),
                 both.empty() ? "parallel efficiency" : "parallel efficiency: " + both);
  if (mpi < kAsGoodAsOne) {
    rows.add_whole(
        mpi,
        has_mpi(findings) || findings.run.ranks > 1
            ? factors(findings, outer,
                      {{Factor::mpi_load_balance, "load balance"},
                       {Factor::mpi_serialisation, "serialization"},
                       {Factor::mpi_transfer, has_mpi(findings) ? "transfer" : "others at work"}})
            : outer);
  }
  if (omp < kAsGoodAsOne) {
    rows.add_whole(omp, factors(findings, "OpenMP",
                                {{Factor::omp_serial, "serial regions"},
                                 {Factor::omp_load_balance, "load balance"},
                                 {Factor::omp_runtime, "runtime"}}));
  }
  return rows.lines();
}

std::string wait_rows(const Findings& findings) {
  Rows rows("Wait states", "allocated time");
  for (const blame::PatternTotal& total : waiting_by_pattern(findings)) {
    if (rows.full() || total.time_s < kRowMatters * findings.identities.waiting_s) break;
    rows.add(Proportion::of(Amount<Waiting>(total.time_s), blame::allocation(findings)),
             pattern_name(total.pattern));
  }
  return rows.lines();
}

/// The function, for a line that has no room for its place and what it calls.
std::string function_of(CallPathId path, const PageNames& names) {
  const blame::FoundCallPath* found = names.find(path);
  for (; found != nullptr && blame::is_in_call_of_system(*found); found = names.find(path)) {
    path = found->parent;
  }
  return names.region(path);
}

/// Adds advice on devices.
void add_advice(const Findings& findings, const PageNames& names, Rows& rows) {
  if (const auto* row = find_diagnosis(findings, Diagnosis::launch_ahead)) {
    rows.add(blame::proportion(*row), fmt::format("on the critical path: launch ahead of {}",
                                                  function_of(row->callpath, names)));
  }
  if (const auto* row = find_diagnosis(findings, Diagnosis::speed_up_or_overlap)) {
    rows.add(blame::proportion(*row),
             fmt::format("on the critical path: speed up {}, or overlap it with other work",
                         names.region(row->callpath)));
  }
}

/// Returns the rows on idle devices: which code causes that, and what to do.
std::string device_rows(const Findings& findings, const PageNames& names) {
  if (findings.devices.empty()) return "";
  Rows rows("Devices", "the devices' time");
  double busy = 0;
  for (const blame::FoundDevice& device : findings.devices) busy += device.busy_s;
  const Amount<DeviceTime> whole(static_cast<double>(findings.devices.size()) *
                                 findings.run.wall_s);
  const Amount<DeviceTime> late(findings.identities.device_idle_s);
  const Proportion busy_part = Proportion::of(Amount<DeviceTime>(busy), whole);
  if (find_diagnosis(findings, Diagnosis::idle_for_unknown_reasons) != nullptr) {
    rows.add(busy_part, "busy; cause of idle time unknown");
  } else if (late < kRowMatters * whole) {
    rows.add(busy_part, "busy; devices hardly wait for hosts");
  } else {
    const auto blamed = blame::own_idle_device(findings);
    rows.add(Proportion::of(late, whole), "idle: nothing had been launched");
    if (blamed.empty()) return rows.lines();
    std::string text = "while hosts executed " + names.code(blamed.front().callpath);
    if (text.size() > page_width() - words_column()) {
      text = "while hosts executed " + function_of(blamed.front().callpath, names);
    }
    rows.add(Proportion::of(Amount<DeviceTime>(blamed.front().time_s), whole), text);
  }
  add_advice(findings, names, rows);
  return rows.lines();
}

/// By function; how its load is distributed is known by call path: said if one has most of it.
std::string delay_rows(const Findings& findings, const PageNames& names) {
  Rows rows("Root causes", all_waiting(findings));
  const Amount<OwnWaiting> waiting = blame::own_waiting(findings);
  for (const blame::Cause& cause : causes(findings)) {
    if (rows.full() || cause.cost() < kRowMatters * waiting) break;
    const bool one_path = cause.costliest_s >= cause.cost_s / 2;
    rows.add(Proportion::of(cause.cost(), waiting), name_of(cause, names),
             one_path ? distribution_words(findings, cause.costliest) : "");
  }
  return rows.lines();
}

/// By function, as root causes are.
std::string critical_rows(const Findings& findings, const PageNames& names) {
  Rows rows("Critical path", "the run time");
  for (const blame::FunctionTime& each : blame::critical_functions(findings)) {
    if (rows.full() || each.time_s < kRowMatters * findings.run.wall_s) break;
    rows.add(Proportion::of(Amount<Run>(each.time_s), blame::run_time(findings)),
             names.code(each.example));
  }
  return rows.lines();
}

std::string_view reason_words(NobodyReason reason) {
  switch (reason) {
    case NobodyReason::io:
      return "in file I/O";
    case NobodyReason::mpi:
      return "in MPI";
    case NobodyReason::mpi_wait:
      return "waiting in MPI";
    case NobodyReason::mutex:
      return "waiting for a lock";
    case NobodyReason::waking:
      return "waking up";
    case NobodyReason::device:
      return "waiting for a device";
    case NobodyReason::absent:
      return "all idle or absent";
    case NobodyReason::start_up:
      break;  // has a line of its own
  }
  return to_string(reason);
}

std::string idle_rows(const Findings& findings, const PageNames& names) {
  Rows rows("Idle threads", "their idle time");
  double idle = findings.identities.idle_s;
  for (const blame::FoundNobody& row : findings.idle_nobody) {
    if (row.reason == NobodyReason::start_up) idle -= row.time_s;
  }
  if (idle < kRowMatters * findings.run.allocation_s) return "";
  for (const blame::IdleTotal& total : idle_totals(findings)) {
    if (rows.full() || total.time_s < kRowMatters * idle) break;
    if (total.reason == NobodyReason::start_up) continue;
    rows.add(Proportion::of(Amount<OwnIdleness>(total.time_s), Amount<OwnIdleness>(idle)),
             total.reason ? fmt::format("no thread worked: {}", reason_words(*total.reason))
                          : fmt::format("while others executed {}", names.code(total.callpath)));
  }
  return rows.lines();
}

}  // namespace

std::string efficiency_line(const Findings& findings) {
  if (findings.efficiencies.empty()) return "";
  const std::string both = outer_and_inner(findings);
  return fmt::format("{} of the threads' time is useful{}.",
                     percent(Proportion::by_itself(efficiency(findings, Factor::parallel))),
                     both.empty() ? "" : fmt::format(" ({})", both));
}

std::string at_a_glance(const Findings& findings, const PageNames& names) {
  if (findings.identities.waiting_s <= 0) return "";
  return "\nAT A GLANCE\n" + efficiency_rows(findings) + device_rows(findings, names) +
         wait_rows(findings) + delay_rows(findings, names) + critical_rows(findings, names) +
         idle_rows(findings, names);
}

std::string_view all_waiting(const Findings& findings) {
  return findings.run.operation == blame::Operation::cut
             ? "all waiting time that these call paths cause"
             : "all waiting time";
}

namespace {

/// When something began, since the run's begin: fine enough to find it in a trace viewer.
std::string moment(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.1f} ms", seconds * 1e3)
                         : fmt::format("{:.1f} us", seconds * 1e6);
}

/// Why the awaited one came late: by what it did, or because it had to wait for others.
std::string why_late(const blame::FoundInstance& wait, const PageNames& names) {
  if (wait.indirect_s > wait.time_s / 2) return ", which had itself been waiting";
  return wait.cause_callpath.valid() ? ", delayed in " + names.code(wait.cause_callpath) : "";
}

}  // namespace

std::string longest_waits(const Findings& findings, const PageNames& names) {
  std::vector<const blame::FoundInstance*> longest;  // of each pattern
  for (const blame::PatternTotal& total : waiting_by_pattern(findings)) {
    if (total.time_s < kRowMatters * findings.identities.waiting_s) break;
    const auto worst = std::find_if(
        findings.instances.begin(), findings.instances.end(),
        [&](const blame::FoundInstance& instance) { return instance.pattern == total.pattern; });
    if (worst != findings.instances.end()) longest.push_back(&*worst);
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto* a, const auto* b) { return a->time_s > b->time_s; });
  std::string lines;
  for (const blame::FoundInstance* const worst : longest) {
    const std::string text = fmt::format(
        "{} at t = {}: {} in {} waited for {}{}", pattern_name(worst->pattern),
        moment(worst->begin_s), names.location(worst->location), names.region(worst->callpath),
        names.location(worst->cause_location), why_late(*worst, names));
    std::string entry = wrapped(text, 25);
    entry.replace(0, 25, left(right(TimeFormat(worst->time_s)(worst->time_s), 14), 25));
    lines += entry;
  }
  return lines.empty() ? "" : "\nLONGEST SINGLE WAITS\n" + lines;
}

namespace {

const blame::FoundDistribution* find_distribution(const Findings& findings, CallPathId callpath) {
  for (const blame::FoundDistribution& row : findings.distributions) {
    if (row.callpath == callpath) return &row;
  }
  return nullptr;
}

/// What shares the work: "rank" where each has one thread that does.
std::string_view sharer(const Findings& findings, const blame::FoundDistribution& row) {
  for (const blame::FoundDelay& delay : findings.delays) {
    if (delay.callpath != row.callpath) continue;
    if (!findings.locations[delay.location.index()].stream.empty()) return "stream";
    break;
  }
  const bool ranks = findings.run.ranks > 1 && row.locations <= findings.run.ranks;
  return ranks ? unit_of(findings) : "thread";
}

std::string all_of(size_t count, std::string_view one) {
  return counted(count, one, one == "process" ? "processes" : "");
}

/// The load is the time that each of those who share the work spends in it.
std::string shape_words(const blame::FoundDistribution& row, std::string_view who) {
  const auto some = [&](size_t count, std::string_view amount) {
    return fmt::format("{} of {} {} {} than the other{}", grouped(count),
                       all_of(row.locations, who), count == 1 ? "has" : "have", amount,
                       count + 1 == row.locations ? "" : "s");
  };
  switch (row.shape) {
    case Shape::overloaded_minority:
      return some(row.high, "more");
    case Shape::underloaded_minority:
      return some(row.low, "less");
    case Shape::clusters:
      return fmt::format("in groups, among {}", all_of(row.locations, who));
    case Shape::spread:
      return fmt::format("uneven over {}", all_of(row.locations, who));
    case Shape::even:
      return fmt::format("even over {}", all_of(row.locations, who));
    case Shape::single:
      break;  // there is no other
  }
  return "";
}

}  // namespace

std::string distribution_words(const Findings& findings, CallPathId callpath) {
  const blame::FoundDistribution* row = find_distribution(findings, callpath);
  if (row == nullptr) return "";
  const std::string_view who = sharer(findings, *row);
  std::string words = shape_words(*row, who);
  const TimeFormat time(findings.run.wall_s);
  const bool moves = row->movement != blame::Movement::stays;
  // The overload in total says little where the load moves from one location to another.
  if (moves) words = fmt::format("on {}", all_of(row->locations, who));
  words += movement_words(*row, findings) + when_words(*row, findings, time);
  return words.starts_with(", ") ? words.substr(2) : words;
}

std::string distribution_sentence(const Findings& findings, CallPathId callpath) {
  const std::string words = distribution_words(findings, callpath);
  return words.empty() ? "" : fmt::format("Load: {}.", words);
}

}  // namespace culprit::report
