// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One function for each fact that a reader should know, each of which adds its sentence or its
// loss; gather_facts() at the end is the list of them.
#include "assemble/run/gather_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "assemble/names/static_parts.h"
#include "assemble/run/process_cores.h"
#include "trace/objects.h"

namespace culprit::assemble {
namespace {

using trace::RawProcess;

/// From this overhead on, in percent, a reader should know what to do about it.
constexpr double kTooMuch = 5;

/// Percent of the process's life that its busiest thread spent in the collector. Looking for call
/// paths and taking them from the stack is known for the process only: each thread has its part of
/// it by the number of its call paths, but none has less than where they cost what they do at best.
double overhead_pct(const RawProcess& process, const ProcessAccount& account, Duration life,
                    double ns_per_tick) {
  uint64_t paths = 0;
  for (const ToolTime& tool : account.threads) paths += tool.paths;
  const auto taking_ns =
      static_cast<double>(process.unwind_ticks + process.search_ticks) * ns_per_tick;
  double worst_ns = 0;
  for (const ToolTime& tool : account.threads) {
    const double part =
        paths > 0 ? static_cast<double>(tool.paths) / static_cast<double>(paths) : 1;
    const double ns =
        static_cast<double>(tool.records) * process.event_cost_ps * 1e-3 +
        std::max(static_cast<double>(tool.paths) * process.path_cost_ps * 1e-3, taking_ns * part) +
        static_cast<double>(tool.ticks) * ns_per_tick;
    worst_ns = std::max(worst_ns, ns);
  }
  return life > Duration::zero() ? 100 * worst_ns / static_cast<double>(life.nanos()) : 0;
}

void count_losses(const RawProcess& process, const Survey& survey, Losses& losses) {
  losses.add(LossKind::dropped_records, process.dropped_records);
  losses.add(LossKind::skipped_callbacks, process.skipped_callbacks);
  losses.add(LossKind::failed_unwinds, process.failed_unwinds);
  losses.add(LossKind::forgotten_paths, process.forgotten_paths);
  losses.add(LossKind::stopped_at_limit, process.stopped_at_limit);
  losses.add(LossKind::failed_counters, process.failed_counters);
  losses.add(LossKind::slowed_samplers, process.slowed_samplers);
  losses.add(LossKind::displaced_samplers, process.displaced_samplers);
  losses.add(LossKind::confined_samplers, process.confined_samplers);
  losses.add(LossKind::nvtx_ranges_not_placed, process.nvtx_ranges);
  losses.add(LossKind::nvtx_marks, process.nvtx_marks);
  losses.add(LossKind::refused_probes, process.refused_probes);
  losses.add(LossKind::damaged_logs, survey.damaged_logs);
  losses.add(LossKind::skipped_records, survey.skipped);
  losses.add(LossKind::truncated_communicators, survey.truncated_comms ? 1 : 0);
}

bool ended_early(const RawProcess& process) {
  // It cannot be known of those that stopped recording before.
  if (process.stopped_at_limit != 0 || process.confined_samplers != 0) return false;
  // After MPI_Finalize a process may end in any way (_exit is not recorded).
  const bool uses_mpi = process.world_rank >= 0;
  return uses_mpi ? process.finalized == 0 : process.ended == 0;
}

bool is_forked(const Survey& survey) {
  return std::any_of(survey.node_awaited.begin(), survey.node_awaited.end(), [](uint64_t object) {
    return trace::kind_of(object) == trace::ObjectKind::fork;
  });
}

/// Pools end their workers by a signal: then the program has come to its end all the same.
void note_early_end(const std::vector<RawProcessFolder>& folders,
                    const std::vector<ProcessAccount>& accounts, RunFacts& facts) {
  size_t early = 0, workers = 0;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (folders[i].logs.empty() || !ended_early(folders[i].process)) continue;
    ++(is_forked(accounts[i].survey) ? workers : early);
  }
  if (workers > 0) {
    facts.notes.push_back(
        fmt::format("{} of the {} processes were forked by others and killed, or left without an "
                    "exit: what they did last may be missing.",
                    workers, folders.size()));
  }
  if (early == 0) return;
  facts.notes.push_back(
      fmt::format("The program ended early: {} of its {} processes were killed, aborted, or exited "
                  "without MPI_Finalize. What they did until then is analyzed.",
                  early, folders.size()));
  facts.losses.add(LossKind::early_ends, static_cast<uint64_t>(early));
}

/// The collector cost more than the user allows, and left something out from then on.
void note_thinned(const std::vector<RawProcessFolder>& folders, RunFacts& facts) {
  size_t without_tests = 0, short_bursts = 0;
  for (const RawProcessFolder& folder : folders) {
    without_tests += (folder.process.thinned & trace::kRawThinnedTests) != 0 ? 1 : 0;
    short_bursts += (folder.process.thinned & trace::kRawThinnedBursts) != 0 ? 1 : 0;
  }
  if (without_tests > 0) {
    facts.notes.push_back(
        fmt::format("Measuring cost more than --overhead allows in {} of the {} processes: "
                    "unsuccessful tests of MPI were not recorded from then on.",
                    without_tests, folders.size()));
  }
  if (short_bursts > 0) {
    facts.notes.push_back(
        "Bursts were shortened on nodes where measuring still cost more than "
        "--overhead allows.");
  }
}

void note_unknown_python(const std::vector<ProcessAccount>& accounts, RunFacts& facts) {
  uint32_t version = 0;
  for (const ProcessAccount& account : accounts) {
    version = std::max(version, account.survey.unknown_python);
  }
  if (version == 0) return;
  const bool has_lock = (version & 0xffff) == 0;
  facts.notes.push_back(fmt::format(
      "Python's own functions are missing from call paths, and their time is the interpreter's: it "
      "is Python {}.{}{}, and culprit reads what CPython 3.8 to 3.13 execute, in builds with the "
      "global interpreter lock.",
      version >> 24, version >> 16 & 0xff, has_lock ? "" : " without that lock"));
}

/// A process that dies inside of our handler may have died of it.
void note_end_in_sample(const std::vector<RawProcessFolder>& folders, RunFacts& facts) {
  const auto inside = std::count_if(folders.begin(), folders.end(), [](const auto& folder) {
    return folder.process.samples_begun != 0 && ended_early(folder.process);
  });
  facts.losses.add(LossKind::ended_in_samples, static_cast<uint64_t>(inside));
  for (const RawProcessFolder& folder : folders) {
    facts.sampling_signal = std::max(facts.sampling_signal, folder.process.sampling_signal);
  }
}

/// For processes that did not end in order, records not yet written are missing.
void note_written_behind(const std::vector<RawProcessFolder>& folders, RunFacts& facts) {
  uint64_t count = 0, refusal = 0;
  for (const RawProcessFolder& folder : folders) {
    if (folder.process.written_behind == 0 || folder.process.ended != 0) continue;
    ++count;
    refusal = folder.process.written_behind;
  }
  if (count == 0) return;
  facts.notes.push_back(fmt::format(
      "Files could not be mapped into memory ({}), so records were written every 16 KiB of each "
      "thread and at the end. What {} of the {} processes recorded after they had last written is "
      "lost, as they did not end in order: another file system (-o) may keep it.",
      std::generic_category().message(static_cast<int>(refusal)), count, folders.size()));
}

/// The users' term for the feature that a function of libgomp implements.
std::string_view feature_of(std::string_view function) {
  struct Family {
    std::string_view prefix;
    std::string_view feature;
  };
  static constexpr Family kFamilies[] = {
      {"GOMP_target", "target regions"},
      {"GOMP_offload", "target regions"},
      {"omp_target", "device memory routines"},
      {"GOMP_teams4", "teams"},
      {"GOMP_scope_start", "scope"},
      {"GOMP_doacross_", "ordered loops with depend"},
      {"GOMP_loop_doacross_", "ordered loops with depend"},
      {"GOMP_loop_ull_doacross_", "ordered loops with depend"},
      {"GOMP_loop_", "reductions with scan or task, or lastprivate(conditional:)"},
      {"GOMP_sections2_start", "reductions with task, or lastprivate(conditional:)"},
      {"omp_fulfill_event", "detached tasks"},
      {"omp_init_allocator", "memory allocators"},
      {"omp_set_affinity_format", "a custom affinity format"},
      {"GOACC_", "OpenACC"},
      {"acc_", "OpenACC"},
  };
  for (const Family& family : kFamilies) {
    if (function.starts_with(family.prefix)) return family.feature;
  }
  return function.ends_with("_8_") ? "8-byte default integers" : "a function of libgomp";
}

/// From this number of tasks a second on, each costs a microsecond or so of every hundred.
constexpr uint64_t kTaskHeavy = 10'000;

uint64_t most_tasks_a_second(const std::vector<RawProcessFolder>& folders,
                             const std::vector<ProcessAccount>& accounts, const Clock& clock) {
  uint64_t most = 0;
  for (size_t i = 0; i < folders.size(); ++i) {
    const Survey& survey = accounts[i].survey;
    const double life_s =
        (clock.time(i, survey.last_ticks) - clock.time(i, folders[i].process.start_ticks))
            .seconds();
    if (life_s <= 0 || folders[i].process.gomp_redirected != 1) continue;
    most =
        std::max(most, static_cast<uint64_t>(static_cast<double>(accounts[i].made_tasks) / life_s));
  }
  return most;
}

void note_redirection(const std::vector<RawProcessFolder>& folders,
                      const std::vector<ProcessAccount>& accounts, const Clock& clock,
                      RunFacts& facts) {
  const auto processes_with = [&](uint32_t answer) {  // see RawProcess::gomp_redirected
    return std::count_if(folders.begin(), folders.end(), [&](const auto& folder) {
      return folder.process.gomp_redirected == answer;
    });
  };
  if (processes_with(1) > 0) {
    facts.notes.emplace_back(
        "The program was built for GNU OpenMP; culprit ran it on LLVM's OpenMP runtime (libomp), "
        "as requested. Spinning and scheduling may differ.");
  }
  const uint64_t tasks = most_tasks_a_second(folders, accounts, clock);
  if (processes_with(1) > 0 && tasks >= kTaskHeavy) {
    facts.notes.push_back(fmt::format(
        "The program makes many tasks ({} a second in a process). GNU's and LLVM's runtimes differ "
        "by several times in what a task costs, so without culprit it may be much faster or slower "
        "than measured here; `--openmp gcc` observes it on its own runtime.",
        tasks));
  }
  const auto refused = processes_with(2);
  if (refused == 0) return;
  facts.notes.push_back(why_openmp_is_not_observed(folders));
  facts.losses.add(LossKind::openmp_not_observed, static_cast<uint64_t>(refused));
}

void note_clocks(const ClockQuality& clocks, RunFacts& facts) {
  if (clocks.nodes < 2) return;
  facts.clock_error_ns = clocks.error_ns;
  if (clocks.unrelated + 1 < clocks.nodes) {
    facts.notes.push_back(fmt::format(
        "The clocks of {} nodes were synchronized at the start and end of MPI, to within about "
        "{:.1f} us: shorter waits between nodes are not reliable.",
        clocks.nodes - clocks.unrelated, clocks.error_ns / 1000));
  }
  facts.losses.add(LossKind::clocks_met_once, clocks.met_once);
  facts.losses.add(LossKind::clocks_unrelated, clocks.unrelated);
}

void note_declined(const std::vector<RawProcessFolder>& folders, RunFacts& facts) {
  const auto declined = std::count_if(folders.begin(), folders.end(), [](const auto& folder) {
    return folder.process.declined != trace::RawDeclined::no;
  });
  if (declined == 0) return;
  facts.notes.push_back(why_openmp_is_not_observed(folders));
  facts.losses.add(LossKind::openmp_not_observed, static_cast<uint64_t>(declined));
}

/// Where nothing else says why no OpenMP was seen: the program may have its runtime inside.
void note_static_runtime(const std::vector<RawProcessFolder>& folders, RunFacts& facts) {
  if (!facts.openmp.empty() || !why_openmp_is_not_observed(folders).empty()) return;
  std::set<std::string> seen;
  for (const RawProcessFolder& folder : folders) {
    if (!seen.insert(folder.process.executable).second) continue;
    const std::string sentence = static_parts_of(folder.process.executable);
    if (sentence.empty()) continue;
    facts.notes.push_back(sentence);
    facts.losses.add(LossKind::openmp_not_observed, 1);
  }
}

}  // namespace

std::string why_openmp_is_not_observed(const std::vector<RawProcessFolder>& folders) {
  for (const RawProcessFolder& folder : folders) {
    const RawProcess& process = folder.process;
    if (process.gomp_redirected == 2) {
      const std::string_view lacking = process.gomp_lacking;
      if (lacking.empty()) {
        return "The program's OpenMP activity was not observed: the GNU OpenMP functions it needs "
               "could not be determined, so it stayed on GNU's runtime; `--openmp gcc` observes it "
               "there.";
      }
      return fmt::format(
          "The program uses {} ({}), which LLVM's OpenMP runtime does not offer to programs built "
          "with gcc. So it stayed on GNU's runtime and its OpenMP activity was not observed; "
          "`--openmp gcc` observes it there.",
          feature_of(lacking), lacking);
    }
    if (process.declined == trace::RawDeclined::other_tool) {
      return "The program's OpenMP activity was not observed: another OMPT tool is in use "
             "(OMP_TOOL_LIBRARIES, or preloaded), and a runtime accepts only one.";
    }
    if (process.declined == trace::RawDeclined::disabled) {
      return "Any OpenMP activity of the program was not observed: OMP_TOOL=disabled turns off all "
             "OpenMP tools.";
    }
  }
  return "";
}

/// "MPICH 4.0.2" of "MPICH Version:\t4.0.2".
std::string title_of(const char* library) {
  std::istringstream words(library);
  std::string title;
  for (std::string word; words >> word;) {
    if (word == "Version:") continue;
    title += title.empty() ? word : ' ' + word;
  }
  return title;
}

void describe_program(const std::vector<RawProcessFolder>& folders, const Processes& processes,
                      RunFacts& facts) {
  facts.processes = static_cast<uint32_t>(processes.slots.size());
  for (const ProcessSlot& slot : processes.slots) {
    if (!slot.folder) continue;
    const RawProcess& process = folders[*slot.folder].process;
    if (facts.command.empty()) facts.command = process.command;
    if (facts.program.empty()) {
      facts.program = std::filesystem::path(process.executable).filename();
    }
    if (facts.mpi.empty()) facts.mpi = title_of(process.mpi_library);
    if (facts.openmp.empty()) facts.openmp = process.omp_runtime;
  }
}

void gather_facts(const std::vector<RawProcessFolder>& folders,
                  const std::vector<ProcessAccount>& accounts, const Processes& processes,
                  const Clock& clock, RunFacts& facts) {
  describe_program(folders, processes, facts);
  for (size_t i = 0; i < folders.size(); ++i) {
    const RawProcess& process = folders[i].process;
    const Survey& survey = accounts[i].survey;
    const uint64_t end = process.end_ticks != 0 ? process.end_ticks : survey.last_ticks;
    const Duration life = clock.time(i, end) - clock.time(i, process.start_ticks);
    facts.overhead_pct = std::max(facts.overhead_pct,
                                  overhead_pct(process, accounts[i], life, clock.ns_per_tick(i)));
    count_losses(process, survey, facts.losses);
  }
  facts.cores = cores_of(folders, processes);
  note_clocks(clock.quality(), facts);
  note_unknown_python(accounts, facts);
  if (facts.overhead_pct > kTooMuch) {
    facts.notes.emplace_back(
        "Measurement overhead is high: `culprit run --estimate` shows which events are too "
        "frequent, and which --without leaves them out.");
  }
  note_redirection(folders, accounts, clock, facts);
  note_declined(folders, facts);
  note_static_runtime(folders, facts);
  note_early_end(folders, accounts, facts);
  note_thinned(folders, facts);
  note_end_in_sample(folders, facts);
  note_written_behind(folders, facts);
}

void name_early_end(const std::string& sentence, Losses& losses) {
  if (sentence.empty()) return;
  Losses named;
  for (const auto& [name, loss] : losses.all()) {
    const bool is_early = name == text(LossKind::early_ends).id;
    named.restore(
        name, {loss.count, loss.severity, is_early ? sentence + ' ' + loss.advice : loss.advice});
  }
  losses = std::move(named);
}

}  // namespace culprit::assemble
