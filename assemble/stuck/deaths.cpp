// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// After MPI_Finalize a process may end in any way: that is a death only if a signal ended it.
#include "assemble/stuck/deaths.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <optional>

#include "assemble/look/ends.h"
#include "assemble/stuck/whereabouts.h"

namespace culprit::assemble::stuck {
namespace {

struct Death {
  size_t process = 0;  ///< its place among them
  size_t folder = 0;
  std::optional<look::End> end;  ///< if it was seen

  int signal() const {
    return end && end->status >= 0 && WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
  }
};

std::vector<Death> deaths_of(const EndedRun& run) {
  std::vector<Death> deaths;
  for (size_t slot = 0; slot < run.processes.slots.size(); ++slot) {
    const auto folder = run.processes.slots[slot].folder;
    if (!folder || !run.folders[*folder].was_cut()) continue;
    const trace::RawProcess& process = run.folders[*folder].process;
    const Death death{slot, *folder, look::read_end(run.folders[*folder].folder).end};
    if (process.world_rank < 0 || process.finalized == 0 || death.signal() != 0) {
      deaths.push_back(death);
    }
  }
  return deaths;
}

/// Where the process was: of its threads, the first that is known to have been anywhere.
std::string place_of(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                     const std::vector<ProcessEnd>& processes, size_t process) {
  for (const size_t lane : processes[process].lanes) {
    if (run.lanes[lane].log == nullptr || ends[lane].ended) continue;
    std::string place = last_place(run, ends[lane], processes, lane);
    if (!place.empty()) return place;
  }
  return "";
}

std::string of_what(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal)
                         : fmt::format("signal {} (SIG{})", signal, name);
}

/// Since the start of the run.
double moment_of(const EndedRun& run, const Death& death) {
  const trace::RawClockPair& known = run.folders[death.folder].process.last;
  const auto since = static_cast<int64_t>(death.end->at_ns - known.monotonic_ns);
  return (run.clock.time(death.folder, known.ticks) + Duration::from_nanos(since) - Time())
      .seconds();
}

}  // namespace

std::string first_death(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                        const std::vector<ProcessEnd>& processes) {
  const std::vector<Death> deaths = deaths_of(run);
  const Death* first = nullptr;
  for (const Death& death : deaths) {
    if (deaths.size() > 1 && !death.end) continue;
    if (first == nullptr || death.end->at_ns < first->end->at_ns) first = &death;
  }
  if (first == nullptr) return "";
  const std::string place = place_of(run, ends, processes, first->process);
  const bool ranked = run.processes.slots[first->process].world.has_value();
  const std::string who = run.processes.slots.size() < 2
                              ? "The program died"
                              : fmt::format("{} {} died{}", ranked ? "Rank" : "Process",
                                            first->process, deaths.size() > 1 ? " first" : "");
  const int signal = first->signal();
  if (signal == 0 && place.empty()) return "";
  return fmt::format("{}{}{}{}", who, signal != 0 ? ", of " + of_what(signal) : "",
                     first->end ? fmt::format(" at {:.2f} s", moment_of(run, *first)) : "",
                     place.empty() ? "" : ", in " + place) +
         (signal == SIGKILL ? "; `dmesg` says whether memory ran out." : ".");
}

}  // namespace culprit::assemble::stuck
