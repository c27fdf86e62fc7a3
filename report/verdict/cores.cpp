// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time in which threads could run and had no core, against the time in which they did. All threads
// of a process are in both, its libraries' own as well, which no location stands for. Time taken by
// other programs is reported separately from time that the run took from itself: no change of the
// program helps against the former.
#include "report/verdict/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/cores/thread_libraries.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

namespace {

using blame::CoreTakerKind;
using blame::FoundCoreTaker;

struct Node {
  size_t processes = 0, threads = 0, cores = 0;
  double core_wait_s = 0;
};

/// A thread that used less of the run is no worker.
constexpr double kBusyThread = 0.05;
constexpr size_t kMostNamed = 3;

bool is_outside(CoreTakerKind kind) {
  switch (kind) {
    case CoreTakerKind::others:
    case CoreTakerKind::helpers:
    case CoreTakerKind::quota:
    case CoreTakerKind::hypervisor:
      return true;
    case CoreTakerKind::binding:
    case CoreTakerKind::own:
    case CoreTakerKind::unknown:
      break;
  }
  return false;
}

double taken_by(const CoreShortage& shortage, CoreTakerKind kind) {
  double sum = 0;
  for (const FoundCoreTaker& taker : shortage.takers) {
    if (taker.kind == kind) sum += taker.time_s;
  }
  return sum;
}

std::string of_runnable(const CoreShortage& shortage, double time_s) {
  return percent(blame::Proportion::by_itself(time_s / shortage.runnable_s));
}

/// "stress (4711)", "cc1plus (8 processes)".
std::string name_of(const FoundCoreTaker& taker) {
  if (taker.process != 0) return fmt::format("{} ({})", taker.name, taker.process);
  return fmt::format("{} ({})", taker.name, counted(taker.processes, "process", "processes"));
}

/// Other programs by name, as far as they took much of what others did.
std::string other_programs(const CoreShortage& shortage) {
  constexpr double kWorthAName = 0.1;
  const double all_s = taken_by(shortage, CoreTakerKind::others);
  std::vector<std::string> names;
  double named_s = 0;
  for (const FoundCoreTaker& taker : shortage.takers) {
    if (taker.kind != CoreTakerKind::others || taker.name.empty()) continue;
    if (names.size() == kMostNamed || taker.time_s < kWorthAName * all_s) continue;
    names.push_back(name_of(taker));
    named_s += taker.time_s;
  }
  if (names.empty()) return "other programs (unseen from here)";
  if (named_s < (1 - kWorthAName) * all_s) names.push_back("others");
  return listed(names);
}

/// Threads of libraries among those of the run, busy ones, on a node.
struct LibraryThreads {
  size_t recorded = 0, others = 0;
  double time_s = 0;
};
std::map<std::string, LibraryThreads> library_threads(
    const blame::Findings& findings, const std::map<uint32_t, std::string>& node_of,
    const std::string& node) {
  std::map<std::string, LibraryThreads> by_library;
  for (const blame::FoundTask& task : findings.tasks) {
    const auto at = node_of.find(task.rank);
    if (task.library.empty() || at == node_of.end() || at->second != node) continue;
    // OpenMP's are the program's own.
    if (task.library == kOwnThreadLibrary) continue;
    const ThreadLibrary* const known = thread_library(task.library);
    if (task.recorded && (known == nullptr || known->serves)) continue;
    const double time_s = task.on_core_s + task.core_wait_s;
    if (time_s < kBusyThread * findings.run.wall_s * static_cast<double>(task.threads)) continue;
    LibraryThreads& sum = by_library[task.library];
    (task.recorded ? sum.recorded : sum.others) += task.threads;
    sum.time_s += time_s;
  }
  return by_library;
}

std::string known_name(const std::string& file) {
  const ThreadLibrary* const library = thread_library(file);
  return library != nullptr ? std::string(library->name) : file.substr(0, file.find('.'));
}

std::map<uint32_t, std::string> nodes_of(const blame::Findings& findings) {
  std::map<uint32_t, std::string> node_of;
  for (const blame::FoundProcess& process : findings.processes) {
    node_of[process.rank] = process.node;
  }
  return node_of;
}

/// For each rank's threads: their waiting, and their time in start-up and shutdown. Lack of a core
/// during these times does not show a lack during work.
struct Idle {
  double waiting_s = 0, start_up_s = 0;
};
std::map<uint32_t, Idle> waits_and_start_up(const blame::Findings& findings) {
  std::map<uint32_t, Idle> sums;
  for (const blame::FoundLocation& location : findings.locations) {
    if (location.stream.empty()) sums[location.rank].waiting_s += location.waiting_s;
  }
  const auto add = [&](const auto& row, double time_s) {
    const blame::FoundLocation& location = findings.locations[row.location.index()];
    const bool start_up = row.callpath.valid() && findings.callpaths[row.callpath.index()].start_up;
    if (start_up && location.stream.empty()) sums[location.rank].start_up_s += time_s;
  };
  for (const blame::FoundProfile& row : findings.profile) add(row, row.time_s);
  for (const blame::FoundWait& row : findings.waits) add(row, -row.time_s);  // these are in already
  return sums;
}

}  // namespace

CoreShortage core_shortage(const blame::Findings& findings) {
  CoreShortage shortage;
  std::map<std::string, Node> nodes;
  const std::map<uint32_t, std::string> node_of = nodes_of(findings);
  std::map<uint32_t, Idle> idle_of = waits_and_start_up(findings);
  std::map<uint32_t, double> lives;
  for (const blame::FoundLocation& location : findings.locations) {
    if (location.stream.empty()) lives[location.rank] += location.life_s;
  }
  double on_core_s = 0;
  for (const blame::FoundProcess& process : findings.processes) {
    Node& node = nodes[process.node];
    ++node.processes;
    node.cores = std::max<size_t>(node.cores, process.node_cores);
    if (process.core_wait_s < 0) continue;
    shortage.known = true;
    on_core_s += process.on_core_s;
    shortage.core_wait_s += process.core_wait_s;
    const Idle& idle = idle_of[process.rank];
    const double left_s = std::max(process.core_wait_s - idle.waiting_s, 0.0);
    const double busy_s = lives[process.rank] - idle.waiting_s;
    const double work = busy_s > 0 ? std::max(0.0, 1 - idle.start_up_s / busy_s) : 0;
    shortage.working_s += std::max(left_s - idle.start_up_s, 0.0);
    shortage.at_work_s += work * left_s;
    node.core_wait_s += process.core_wait_s;
  }
  if (!shortage.known) return shortage;
  for (const blame::FoundLocation& location : findings.locations) {
    if (!location.stream.empty() || location.life_s <= 0) continue;
    shortage.allocated_s += location.life_s;
    if (const auto node = node_of.find(location.rank); node != node_of.end()) {
      ++nodes[node->second].threads;
    }
  }
  shortage.runnable_s = on_core_s + shortage.core_wait_s;
  if (shortage.runnable_s > 0) shortage.share = shortage.core_wait_s / shortage.runnable_s;
  shortage.takers = findings.core_takers;
  std::stable_sort(
      shortage.takers.begin(), shortage.takers.end(),
      [](const FoundCoreTaker& a, const FoundCoreTaker& b) { return a.time_s > b.time_s; });
  for (const FoundCoreTaker& taker : shortage.takers) {
    if (is_outside(taker.kind)) shortage.outside_s += taker.time_s;
  }
  shortage.outside_s = std::min(shortage.outside_s, shortage.core_wait_s);
  const auto worst = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.core_wait_s < b.second.core_wait_s;
  });
  shortage.node = worst->first;
  shortage.processes = worst->second.processes;
  shortage.threads = worst->second.threads;
  shortage.cores = worst->second.cores;
  return shortage;
}

namespace {

/// Returns the kind of what is not the program that took most.
CoreTakerKind worst_of_others(const CoreShortage& shortage) {
  CoreTakerKind worst = CoreTakerKind::others;
  for (const CoreTakerKind kind :
       {CoreTakerKind::helpers, CoreTakerKind::quota, CoreTakerKind::hypervisor}) {
    if (taken_by(shortage, kind) > taken_by(shortage, worst)) worst = kind;
  }
  return worst;
}

}  // namespace

std::string taker_words(const CoreShortage& shortage) {
  if (!shortage.disturbed()) return "";
  const CoreTakerKind worst = worst_of_others(shortage);
  double all_s = 0;  // may be more than what threads lacked
  for (const FoundCoreTaker& taker : shortage.takers) {
    if (is_outside(taker.kind)) all_s += taker.time_s;
  }
  const double part = taken_by(shortage, worst) / all_s;
  const std::string share =
      rounded(blame::Proportion::by_itself(part * shortage.outside_work_s() / shortage.work_s()));
  switch (worst) {
    case CoreTakerKind::quota:
      return fmt::format("a CPU quota (cgroup) kept threads from cores for {} of the time", share);
    case CoreTakerKind::hypervisor:
      return fmt::format("the hypervisor gave cores to other machines for {} of the time", share);
    case CoreTakerKind::helpers:
      return fmt::format("culprit and what starts the program took cores for {} of the time",
                         share);
    default:
      return fmt::format("{} took cores for {} of the time", other_programs(shortage), share);
  }
}

namespace {

/// "2 ranks with 4 threads (2 of them OpenBLAS's, not recorded)".
struct Crowd {
  std::string who;
  std::string remedy;  ///< "" if none is known
  size_t threads = 0;  ///< all that were busy
};

Crowd crowd_of(const CoreShortage& shortage, const blame::Findings& findings) {
  const auto libraries = library_threads(findings, nodes_of(findings), shortage.node);
  Crowd crowd{.who = {}, .remedy = {}, .threads = shortage.threads};
  std::string makers;
  double most_s = 0;
  for (const auto& [file, threads] : libraries) {
    const ThreadLibrary* const known = thread_library(file);
    crowd.threads += threads.others;
    const size_t all = threads.recorded + threads.others;
    makers += fmt::format("{}{} of them {}'s{}", makers.empty() ? "" : ", ", all, known_name(file),
                          threads.others == 0 ? "" : ", not recorded");
    if (known == nullptr || known->remedy.empty() || threads.time_s <= most_s) continue;
    most_s = threads.time_s;
    crowd.remedy = known->remedy;
  }
  const std::string_view unit = unit_of(findings);
  const std::string processes =
      counted(shortage.processes, unit, unit == "process" ? "processes" : "");
  const std::string threads = counted(crowd.threads, "thread");
  crowd.who = crowd.threads == shortage.processes ? processes
              : shortage.processes == 1           ? threads
                                                  : fmt::format("{} with {}", processes, threads);
  if (!makers.empty()) crowd.who += fmt::format(" ({})", makers);
  return crowd;
}

/// Returns how a process gets more cores, by its launcher.
std::string unbinding(const blame::Findings& findings, size_t threads_of_process) {
  const std::string& command = findings.run.command;
  if (command.find("srun") != std::string::npos) {
    return fmt::format("with srun --cpus-per-task={}", threads_of_process);
  }
  if (findings.run.mpi.starts_with("Open MPI")) return "with mpirun --bind-to none";
  if (!findings.run.mpi.empty()) return "with mpiexec -bind-to none";
  return "without taskset or OMP_PROC_BIND";
}

/// Returns what keeps others from the run's cores.
std::string_view without_others(CoreTakerKind worst) {
  switch (worst) {
    case CoreTakerKind::quota:
      return "with a larger CPU quota";
    case CoreTakerKind::hypervisor:
      return "on a machine of its own";
    case CoreTakerKind::helpers:
      return "with a core to spare";
    default:
      return "while nothing else runs there (srun --exclusive)";
  }
}

std::string consequence_of(const CoreShortage& shortage, const blame::Findings& findings) {
  const std::string remedy = own_core_remedy(shortage, findings);
  return shortage.comes_first()
             ? fmt::format("which delays everything below: re-run {}.", remedy)
             : fmt::format(
                   "mostly while busy-waiting, which may not have slowed the run. To be sure, "
                   "re-run {}.",
                   remedy);
}

}  // namespace

bool is_bound(const CoreShortage& shortage) {
  return taken_by(shortage, CoreTakerKind::binding) > shortage.own_wait_s() / 2;
}

std::string own_core_remedy(const CoreShortage& shortage, const blame::Findings& findings) {
  const Crowd crowd = crowd_of(shortage, findings);
  if (is_bound(shortage)) {
    const size_t processes = std::max<size_t>(1, shortage.processes);
    return unbinding(findings, (crowd.threads + processes - 1) / processes);
  }
  return crowd.remedy.empty() ? "with one core per thread" : "with " + crowd.remedy;
}

std::string core_remedy(const CoreShortage& shortage, const blame::Findings& findings) {
  return shortage.disturbed() ? std::string(without_others(worst_of_others(shortage)))
                              : own_core_remedy(shortage, findings);
}

std::string bound_words(const CoreShortage& shortage, const blame::Findings& findings) {
  return fmt::format("{} bound to {}", crowd_of(shortage, findings).who,
                     counted(shortage.cores, "core"));
}

std::string core_words(const CoreShortage& shortage, const blame::Findings& findings) {
  return fmt::format(
      "{} on {} had no core for {} of the time", crowd_of(shortage, findings).who,
      counted(shortage.cores, "core"),
      rounded(blame::Proportion::by_itself(shortage.own_wait_s() / shortage.runnable_s)));
}

std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings) {
  if (!shortage.matters()) return "";
  const std::string share = of_runnable(shortage, shortage.own_wait_s());
  const Crowd crowd = crowd_of(shortage, findings);
  const bool several_nodes =
      std::any_of(findings.processes.begin(), findings.processes.end(),
                  [&](const blame::FoundProcess& p) { return p.node != shortage.node; });
  const std::string where = several_nodes ? fmt::format(" on {}", shortage.node) : "";
  if (is_bound(shortage)) {
    return fmt::format(
        "{}{} {} bound to {}, although there are more: for {} of the time in which threads could "
        "run, they had no core, {}",
        crowd.who, where, crowd.threads == 1 ? "is" : "are", counted(shortage.cores, "core"), share,
        consequence_of(shortage, findings));
  }
  const std::string consequence = consequence_of(shortage, findings);
  if (shortage.cores > 0 && crowd.threads > shortage.cores) {
    return fmt::format("{} shared {}{}: threads were runnable but had no core {} of the time, {}",
                       crowd.who, counted(shortage.cores, "core"), where, share, consequence);
  }
  const bool was_watched =
      taken_by(shortage, CoreTakerKind::unknown) <= 0 && !shortage.takers.empty();
  return fmt::format(
      "Threads were runnable but had no core {} of the time, although {}{} could use {} "
      "({}), {}",
      share, crowd.who, where, counted(shortage.cores, "core"),
      was_watched ? "other threads of the program had them"
                  : "other programs, a CPU quota, or threads bound to one core",
      consequence);
}

}  // namespace culprit::report
