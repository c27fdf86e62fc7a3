// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The system's counters only grow, so each look is compared with the one before. A process that
// both began and ended between two looks is never seen: its time is the part of the cores' time
// that no other process accounts for.
#include "assemble/machine/machine_keeper.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include "assemble/look/proc.h"
#include "trace/raw/raw.h"

namespace culprit::assemble::machine {
namespace {

/// With more, pairs of intervals are joined.
constexpr size_t kMostIntervals = 240;
/// A process that used less of a core is not named.
constexpr double kWorthNaming = 0.01;
constexpr size_t kMostNamed = 6;

uint64_t nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t tick_ns() {
  const long ticks = sysconf(_SC_CLK_TCK);
  return 1'000'000'000u / static_cast<uint64_t>(ticks > 0 ? ticks : 100);
}

void add_cores_of(pid_t process, std::set<unsigned>& cores) {
  uint64_t words[trace::kRawCoreWords] = {};
  if (sched_getaffinity(process, sizeof words, reinterpret_cast<cpu_set_t*>(words)) != 0) return;
  for (unsigned core = 0; core < 64 * trace::kRawCoreWords; ++core) {
    if ((words[core / 64] >> core % 64 & 1) != 0) cores.insert(core);
  }
}

std::optional<std::string> file_of_groups(const std::string& name) {
  const std::string text = look::read_proc("/sys/fs/cgroup/" + name);
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The process of a folder of records, "<host>.<pid>.<ticks>", of this host; 0: none.
uint32_t process_of(const std::string& folder, const std::string& host) {
  if (!folder.starts_with(host + ".")) return 0;
  const std::string_view rest = std::string_view(folder).substr(host.size() + 1);
  uint32_t process = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), process);
  return error == std::errc() && end != rest.data() + rest.size() && *end == '.' ? process : 0;
}

template <class Number>
Number grown(Number now, Number before) {
  return now - std::min(now, before);
}

}  // namespace

MachineKeeper::MachineKeeper(std::filesystem::path experiment)
    : experiment_(std::move(experiment)) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  use_.host = host;
  use_.boot_id = look::read_proc("/proc/sys/kernel/random/boot_id");
  if (const size_t end = use_.boot_id.find('\n'); end != std::string::npos) {
    use_.boot_id.resize(end);
  }
  add_cores_of(0, cores_);
  use_.cores = cores_.size();
  before_ = count();
}

MachineKeeper::Counts MachineKeeper::count() const {
  Counts now;
  now.cores = count_cores(look::read_proc("/proc/stat"), cores_, tick_ns());
  now.throttled_ns = throttled_ns(look::read_proc("/proc/self/cgroup"), file_of_groups);
  for (const uint32_t pid : look::all_processes()) {
    auto process = count_process(look::read_proc(fmt::format("/proc/{}/stat", pid)), tick_ns());
    if (process) now.processes.emplace(pid, std::move(*process));
  }
  now.at_ns = nanoseconds(CLOCK_MONOTONIC);
  return now;
}

void MachineKeeper::step(bool last) {
  constexpr int kRarerThanItsCost = 200;
  if (role_ == Role::bystander || (!last && Clock::now() < next_)) return;
  const uint64_t begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  try {
    look();
  } catch (const std::exception&) {  // no memory: the program goes on, and its end is to be seen
    role_ = Role::bystander;
  }
  const std::chrono::nanoseconds cost(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin);
  next_ = Clock::now() +
          std::max(pause_, std::chrono::duration_cast<Clock::duration>(cost * kRarerThanItsCost));
}

void MachineKeeper::look() {
  const GuardedPath raw = GuardedPath(experiment_) / "raw";
  for (const std::string& folder : raw.list()) {
    if (const uint32_t process = process_of(folder, use_.host)) records_.insert(process);
  }
  Counts now = count();
  if (now.at_ns > before_.at_ns) keep(since(now));
  // Ranks are bound to cores when they are started: other processes elsewhere do not affect them.
  std::set<unsigned> cores;
  for (const uint32_t process : records_) add_cores_of(static_cast<pid_t>(process), cores);
  if (!cores.empty() && cores != cores_) {
    cores_ = std::move(cores);
    now.cores = count_cores(look::read_proc("/proc/stat"), cores_, tick_ns());
  }
  before_ = std::move(now);
  if (!records_.empty()) write();
}

std::set<uint32_t> MachineKeeper::of_the_run(const Counts& now) const {
  std::set<uint32_t> all = records_;
  all.insert(static_cast<uint32_t>(getpid()));
  const std::set<uint32_t> roots = all;
  const auto parent_of = [&](uint32_t pid) {
    const auto found = now.processes.find(pid);
    return found == now.processes.end() ? 0 : found->second.parent;
  };
  // The processes that started them wait for them: shells, launchers' daemons.
  for (const uint32_t root : roots) {
    for (uint32_t pid = parent_of(root); pid > 1 && all.insert(pid).second;) pid = parent_of(pid);
  }
  // The processes that they started, but not their siblings.
  for (const auto& [pid, process] : now.processes) {
    std::vector<uint32_t> line;
    uint32_t at = pid;
    while (at > 1 && !roots.contains(at) && line.size() < 64) {
      line.push_back(at);
      at = parent_of(at);
    }
    if (roots.contains(at)) all.insert(line.begin(), line.end());
  }
  return all;
}

Interval MachineKeeper::since(const Counts& now) const {
  Interval interval{.begin_ns = before_.at_ns,
                    .end_ns = now.at_ns,
                    .busy_ns = grown(now.cores.busy_ns, before_.cores.busy_ns),
                    .idle_ns = grown(now.cores.idle_ns, before_.cores.idle_ns),
                    .steal_ns = grown(now.cores.steal_ns, before_.cores.steal_ns),
                    .throttled_ns = grown(now.throttled_ns, before_.throttled_ns)};
  const std::set<uint32_t> ours = of_the_run(now);
  const auto least = static_cast<uint64_t>(
      kWorthNaming * static_cast<double>(interval.end_ns - interval.begin_ns));
  for (const auto& [pid, process] : now.processes) {
    const auto known = before_.processes.find(pid);
    const bool is_same =
        known != before_.processes.end() && known->second.started == process.started;
    const uint64_t cpu_ns = grown(process.cpu_ns, is_same ? known->second.cpu_ns : 0);
    if (cpu_ns == 0 || records_.contains(pid)) continue;
    if (ours.contains(pid)) {
      interval.helpers_ns += cpu_ns;
    } else if (cpu_ns >= least && !process.of_kernel &&
               cores_.contains(static_cast<unsigned>(process.core))) {
      interval.others.push_back({pid, process.name, cpu_ns});
    }
  }
  std::stable_sort(interval.others.begin(), interval.others.end(),
                   [](const ProcessUse& a, const ProcessUse& b) { return a.cpu_ns > b.cpu_ns; });
  if (interval.others.size() > kMostNamed) interval.others.resize(kMostNamed);
  return interval;
}

void MachineKeeper::keep(Interval interval) {
  std::vector<Interval>& all = use_.intervals;
  all.push_back(std::move(interval));
  if (all.size() < kMostIntervals) return;
  for (size_t i = 0; 2 * i + 1 < all.size(); ++i) {
    Interval joined = std::move(all[2 * i]);
    join(joined, all[2 * i + 1]);
    all[i] = std::move(joined);
  }
  all.resize(all.size() / 2);
  pause_ *= 2;
}

void MachineKeeper::write() {
  const GuardedPath raw = GuardedPath(experiment_) / "raw";
  if (role_ == Role::undecided) {
    role_ = begin_machine(raw, use_) ? Role::keeper : Role::bystander;
  } else {
    write_machine(raw, use_);
  }
}

}  // namespace culprit::assemble::machine
