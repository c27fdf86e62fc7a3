// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process that spins writes samples all the while; one that sleeps writes nothing. So the end is
// the mark of the starter of the run, if it is later than all records.
#include "assemble/run/run_end.h"

#include <algorithm>
#include <cstring>

#include "assemble/raw/former_process.h"

namespace culprit::assemble {
namespace {

/// Beyond this a mark is garbage, or the clock was set meanwhile.
constexpr int64_t kLongest = int64_t{400} * 24 * 3600 * 1'000'000'000;

/// Signs of life come after each 0.1 s that a thread computes, and so later on a busy machine.
constexpr Duration kSignsApart = Duration::from_nanos(1'000'000'000);
/// A process without signs for longer sleeps. No launcher takes so long to notice that ranks died.
constexpr Duration kSlowLauncher = Duration::from_nanos(30'000'000'000);

/// When the mark was made.
std::optional<Time> marked_end(const GuardedPath& raw,
                               const std::vector<RawProcessFolder>& processes, const Clock& clock) {
  const auto mark = read_heartbeat(raw);
  if (!mark) return std::nullopt;
  // A process of the same node shares its steady clock; with others there is but the date.
  size_t reference = 0;
  bool same_node = false;
  for (size_t i = 0; i < processes.size() && !same_node; ++i) {
    same_node =
        mark->boot_id[0] != '\0' && std::strcmp(processes[i].process.boot_id, mark->boot_id) == 0;
    if (same_node) reference = i;
  }
  const trace::RawClockPair& known = processes[reference].process.last;
  const auto since = static_cast<int64_t>(same_node ? mark->monotonic_ns - known.monotonic_ns
                                                    : mark->realtime_ns - known.realtime_ns);
  if (since < 0 || since > kLongest) return std::nullopt;
  return clock.time(reference, known.ticks) + Duration::from_nanos(since);
}

/// The last sign of life of those that spun: runtimes may do so for a while before they sleep.
std::optional<Time> end_of_spinning(const std::vector<RawProcessFolder>& processes,
                                    const std::vector<ProcessAccount>& accounts,
                                    const Clock& clock) {
  constexpr Duration kLong = Duration::from_nanos(500'000'000);
  std::optional<Time> end;
  for (size_t i = 0; i < processes.size(); ++i) {
    const trace::RawProcess& process = processes[i].process;
    if (process.ended != 0 || processes[i].logs.empty()) continue;
    const Time alive = clock.time(i, process.last.ticks);
    if (alive - clock.time(i, accounts[i].survey.last_act_ticks) < kLong) continue;
    end = std::max(end.value_or(alive), alive);
  }
  return end;
}

}  // namespace

std::optional<trace::RawHeartbeat> read_heartbeat(const GuardedPath& raw) {
  const auto file = (raw / trace::kRawHeartbeatFile).open();
  trace::RawHeartbeat mark = {};
  if (!file || file->read_at(0, &mark, sizeof mark) < sizeof mark) return std::nullopt;
  const bool is_known = mark.version == trace::kRawVersion || mark.version == kFormerRawVersion;
  if (mark.magic != trace::kRawMagic || !is_known) return std::nullopt;
  mark.boot_id[sizeof mark.boot_id - 1] = '\0';
  return mark;
}

std::optional<Time> find_run_end(const GuardedPath& raw,
                                 const std::vector<RawProcessFolder>& processes,
                                 const std::vector<ProcessAccount>& accounts, const Clock& clock) {
  if (processes.empty()) return std::nullopt;
  const auto spun = end_of_spinning(processes, accounts, clock);
  const auto marked = marked_end(raw, processes, clock);
  if (!spun || !marked) return spun ? spun : marked;
  const Duration later = *marked - *spun;
  return later > kSignsApart && later < kSlowLauncher ? spun : std::max(*spun, *marked);
}

}  // namespace culprit::assemble
