// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// prepare_run() is the table of contents.
#include "assemble/prepare_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "assemble/look/ends.h"
#include "assemble/look/note.h"
#include "assemble/names/debug_files/package.h"
#include "assemble/play/line_counts.h"
#include "assemble/play_run.h"
#include "assemble/profile/named_profile.h"
#include "assemble/ranks/agree_on_tables.h"
#include "assemble/ranks/dealt_folders.h"
#include "assemble/ranks/join_facts.h"
#include "assemble/ranks/known_by_all.h"
#include "assemble/ranks/name_together.h"
#include "assemble/raw/process.h"
#include "assemble/records/device_stream.h"
#include "assemble/records/stream.h"
#include "assemble/run/comms/topologies.h"
#include "assemble/run/core_takers.h"
#include "assemble/run/gather_facts.h"
#include "assemble/run/run_end.h"
#include "assemble/stuck/stuck.h"
#include "base/log.h"
#include "base/parallel.h"
#include "trace/valid_names.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("assemble");

/// The kernel's counts go on from when they were last read before the window.
void begin_core_uses(std::map<uint32_t, CoreUse>& uses) {
  for (auto& [log, use] : uses) {
    if (use.readings.empty()) continue;
    const CoreReading first = use.readings.front();
    for (CoreReading& reading : use.readings) {
      reading.on_core_ns -= std::min(reading.on_core_ns, first.on_core_ns);
      reading.without_ns -= std::min(reading.without_ns, first.without_ns);
    }
    use.on_core_ns = use.readings.back().on_core_ns;
    use.without_ns = use.readings.back().without_ns;
    use.from_ticks = first.ticks;
  }
}

/// Ranks are those of the whole run, whatever lies in the window.
void take_window(RecordedRun& run, WindowRecords&& window, unsigned threads) {
  run.window.emplace(std::move(window));
  run.folders = std::move(run.window->folders);
  run.owners.assign(run.folders.size(), 0);
  run.processes = arrange_processes(run.window->run, run.facts.losses, run.facts.notes);
  const bool begins_inside = run.window->number != kWholePart;
  for (RawProcessFolder& folder : run.folders) {
    if (begins_inside) leave_out_left_barriers(folder, run.crossing);
  }
  run.accounts = survey_threads(run.folders, threads);
  for (ProcessAccount& account : run.accounts) {
    begin_core_uses(account.core_uses);
    run.facts.records += account.survey.records;
  }
  run.devices = read_devices(run.folders, run.facts.losses);
}

/// The logs of this rank's processes, and the heads of all.
void read_own(RecordedRun& run, const GuardedPath& raw, unsigned threads, LogsWithout empty) {
  Losses& losses = run.facts.losses;
  DealtFolders dealt = deal_folders(*run.ranks, raw, losses);
  run.folders = std::move(dealt.folders);
  run.owners = std::move(dealt.owners);
  std::vector<RawProcessFolder*> own;
  for (size_t i = 0; i < run.folders.size(); ++i) {
    if (run.is_own(i)) own.push_back(&run.folders[i]);
  }
  read_logs(own, losses, threads, empty);
  for (const RawProcessFolder* each : own) {
    const bool is_damaged = look::read_end(each->folder).is_damaged;
    losses.add(LossKind::damaged_processes, is_damaged ? 1 : 0);
  }
}

void read_and_survey(RecordedRun& run, const GuardedPath& raw, unsigned threads,
                     LogsWithout empty = LogsWithout::left_out) {
  read_own(run, raw, threads, empty);
  run.accounts = survey_threads(run.folders, threads);
}

void arrange(RecordedRun& run) {
  run.processes = arrange_processes(run.folders, run.facts.losses, run.facts.notes);
  for (const ProcessAccount& account : run.accounts) run.facts.records += account.survey.records;
}

/// What is known of processes before their code has names. From here on all ranks know the same.
void read_all(RecordedRun& run, const GuardedPath& raw, unsigned threads,
              LogsWithout empty = LogsWithout::left_out) {
  read_and_survey(run, raw, threads, empty);
  run.devices = read_devices(run.folders, run.facts.losses);
  if (!run.ranks->alone()) {
    make_known(*run.ranks, run.owners, {run.folders, run.accounts, run.devices.by_folder});
    join_losses(*run.ranks, run.facts.losses);
  }
  arrange(run);
  if (!run.ranks->alone()) {
    run.shares = first_processes(run.processes, run.owners, run.ranks->size());
  }
}

/// Adds the system's data on processes that did not come to their end. The addresses on their
/// threads' stacks are to be named as well.
void add_looks(RecordedRun& run, const look::Look& newest) {
  run.looks.resize(run.folders.size());
  for (size_t i = 0; i < run.folders.size(); ++i) {
    if (!run.is_own(i) || !run.folders[i].was_cut()) continue;
    if (const auto* look = newest.of(run.folders[i].folder.name())) {
      run.looks[i] = *look;
    } else {
      run.looks[i] = look::read_note(run.folders[i].folder);
    }
    if (!run.looks[i]) continue;
    run.accounts[i].sleepers.add(*run.looks[i], run.folders[i].process);
    for (const look::ThreadLook& thread : run.looks[i]->threads) {
      run.accounts[i].survey.addresses.insert(thread.stack.begin(), thread.stack.end());
    }
  }
}

/// Notes programs without symbols, each once: their users must see why there are no names.
void note_stripped(RecordedRun& run) {
  std::set<std::string> programs;
  for (const RawProcessFolder& folder : run.folders) programs.insert(folder.process.executable);
  for (const std::string& program : programs) {
    if (!run.symbols.mostly_nameless(program)) continue;
    const std::string name = fs::path(program).filename();
    const std::string package = package_of(program);
    run.facts.notes.push_back(fmt::format(
        "{} has no symbols: its functions appear as {}+0x..., their offset in the file. {}, and "
        "analyze the experiment again, to see names.",
        name, name,
        package.empty()
            ? "Build it with -g and measure again, or install its debug symbols (--debuginfod asks "
              "servers for them)"
            : fmt::format("Install {}-dbgsym, or another package with the debug symbols "
                          "of {}",
                          package, package)));
  }
}

void learn_code(RecordedRun& run, const PassOptions& options) {
  for (size_t i = 0; i < run.folders.size(); ++i) {
    if (!run.is_own(i)) continue;
    run.code[i].learn(run.accounts[i].survey, run.symbols, options.others, run.regions);
  }
}

void name_code(RecordedRun& run, const PassOptions& options, unsigned threads) {
  for (size_t i = 0; i < run.folders.size(); ++i) {
    if (!run.is_own(i)) {
      run.code.emplace_back(AddressMap());
      continue;
    }
    run.code.emplace_back(run.folders[i]).announce(run.accounts[i].survey, run.symbols);
  }
  const ResolveSymbols resolve = [&](Symbols& symbols) {
    return symbols.resolve(threads, options.symbols, options.names, options.kept, options.servers);
  };
  if (!name_together(*run.ranks, run.symbols, resolve)) {
    run.facts.notes.push_back(
        fmt::format("Servers of debug information were asked for {} s (--debuginfod), which did "
                    "not suffice for "
                    "all that was missing: some functions have no names or lines.",
                    options.servers.seconds()));
  }
  note_stripped(run);
  join_notes(*run.ranks, run.facts.notes);
  learn_code(run, options);
}

/// Comparisons of clocks, with folders in place of ranks.
std::vector<ClockLink> clock_links(const RecordedRun& run) {
  std::vector<ClockLink> links;
  for (const ProcessSlot& slot : run.processes.slots) {
    if (!slot.folder || !slot.world) continue;
    const World& world = run.processes.worlds[*slot.world];
    for (const ClockMeeting& met : run.accounts[*slot.folder].survey.clock_meetings) {
      if (met.rank >= world.members.size()) continue;
      const auto other = run.processes.slots[world.members[met.rank].index()].folder;
      if (!other) continue;
      links.push_back({*slot.folder, *other, met.own_ticks, met.other_ticks, met.length});
    }
  }
  return links;
}

std::vector<CommUser> comm_users(const RecordedRun& run) {
  static const Survey kNothing;
  std::vector<CommUser> users;
  for (size_t i = 0; i < run.processes.slots.size(); ++i) {
    const ProcessSlot& slot = run.processes.slots[i];
    CommUser& user = users.emplace_back();
    user.process = ProcessId(i);
    user.survey = &kNothing;
    if (!slot.folder) continue;
    const trace::RawProcess& process = run.folders[*slot.folder].process;
    user.world = slot.world;
    user.survey = &run.accounts[*slot.folder].survey;
    if (process.job[0] != '\0') user.name = fmt::format("{}.{}", process.job, process.world_rank);
    user.parent = process.parent;
    user.clock = &*run.clock;
    user.folder = *slot.folder;
  }
  return users;
}

/// Messages and operations of which the window has not all ends.
void leave_out_edges(RecordedRun& run) {
  std::vector<std::unordered_map<uint64_t, uint32_t>> partitioned;
  for (const ProcessAccount& account : run.accounts) {
    partitioned.push_back(account.survey.partitioned_pairs());
  }
  const bool begins_inside = run.window->number != kWholePart;
  leave_out_crossing(WindowProcesses{run.folders, begins_inside, run.window->known, run.processes,
                                     run.comms, partitioned},
                     run.crossing);
}

/// What is not whole in a window, as sentences for the reader.
void note_crossing(RecordedRun& run) {
  const auto note = [&](uint64_t count, const char* what) {
    if (count > 0) run.facts.notes.push_back(fmt::format("{} {}", count, what));
  };
  note(run.crossing.messages,
       "ends of messages cross the edges of this window, as the other end lies outside of it: who "
       "waited for whom in them is not known.");
  note(run.crossing.operations,
       "parts in collective operations cross the edges of this window, as those of other processes "
       "lie outside of it: waits in them are not known.");
  note(run.crossing.barriers,
       "times a thread had not left a barrier at the begin of this window from which others of its "
       "team had gone on.");
  note(static_cast<uint64_t>(std::count(run.window->known.begin(), run.window->known.end(), false)),
       "processes have threads of which it is not known what they were doing at the begin of this "
       "window: their messages and collective operations are left out.");
}

void unify(RecordedRun& run) {
  run.clock.emplace(run.window ? run.window->run : run.folders, clock_links(run), run.facts.losses);
  run.comms = unify_comms(run.processes.worlds, comm_users(run), run.facts.losses);
  run.objects = unify_objects(run.comms, comm_users(run));
  run.rank_sets.emplace(run.objects.groups);
  run.node_objects.emplace(run.folders, run.accounts, run.processes, *run.clock);
}

/// The runtime does not report the thread; most of it is in threads that launch kernels.
void charge_device_overhead(RecordedRun& run) {
  for (size_t i = 0; i < run.folders.size(); ++i) {
    if (run.accounts[i].threads.empty()) continue;
    run.accounts[i].threads.front().ticks += static_cast<uint64_t>(
        static_cast<double>(run.devices.by_folder[i].overhead_ns) / run.clock->ns_per_tick(i));
  }
}

stuck::EndedRun at_end(const RecordedRun& run, unsigned threads) {
  stuck::EndedRun end{run.folders, run.processes, run.code,   run.accounts,
                      run.comms,   run.objects,   *run.clock, {},
                      run.looks,   run.end,       threads};
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    const Lane& lane = run.lanes[i];
    if (lane.device != nullptr) continue;
    end.lanes.push_back({LocationId(i), lane.process, lane.thread, lane.log});
  }
  return end;
}

/// Who waits for whom is found with the records of all processes at hand: the first of several
/// ranks reads them for it. It has all names already.
stuck::Found find_stuck(const RecordedRun& run, const GuardedPath& raw, const PassOptions& options,
                        unsigned threads) {
  if (run.ranks->alone()) return stuck::find(at_end(run, threads));
  if (run.ranks->rank() > 0) return {};
  RecordedRun all;
  read_all(all, raw, threads);
  number_devices(all.folders, all.devices, all.facts.notes);
  all.lanes = make_lanes(all.processes, all.folders, all.devices);
  add_looks(all, {});
  all.symbols = run.symbols;
  for (const RawProcessFolder& folder : all.folders) all.code.emplace_back(folder);
  learn_code(all, options);
  unify(all);
  all.end = run.end;
  return stuck::find(at_end(all, threads));
}

/// If any process did not come to its end.
void look_at_end(RecordedRun& run, const GuardedPath& raw, const PassOptions& options,
                 unsigned threads) {
  const bool any = std::any_of(run.folders.begin(), run.folders.end(),
                               [](const RawProcessFolder& each) { return each.was_cut(); });
  if (!any) return;
  run.end = find_run_end(raw, run.folders, run.accounts, *run.clock);
  stuck::Found found = find_stuck(run, raw, options, threads);
  name_early_end(found.death, run.facts.losses);
  run.facts.stuck = std::move(found.groups);
  run.awaited = std::move(found.awaited);
  take_from_first(*run.ranks, run.awaited);
}

/// None of a whole run, or of the part from its begin.
std::optional<Time> window_begin(const RecordedRun& run, size_t folder) {
  if (!run.window || run.window->number == kWholePart) return std::nullopt;
  return run.clock->time(folder, run.folders[folder].process.start_ticks);
}

void make_contexts(RecordedRun& run) {
  run.not_sampled = run.regions.not_sampled();
  run.blocked = run.regions.blocked();
  std::vector<ProcessId> process_of(run.folders.size());
  for (size_t i = 0; i < run.processes.slots.size(); ++i) {
    if (const auto folder = run.processes.slots[i].folder) process_of[*folder] = ProcessId(i);
  }
  for (size_t i = 0; i < run.folders.size(); ++i) {
    const Survey& survey = run.accounts[i].survey;
    const ProcessId id = process_of[i];
    run.contexts.push_back({.id = id,
                            .index = i,
                            .folder = run.folders[i],
                            .clock = *run.clock,
                            .code = run.code[i],
                            .survey = survey,
                            .sleepers = run.accounts[i].sleepers,
                            .comms = run.comms.local[id.index()],
                            .objects = run.objects.local[id.index()],
                            .all_comms = run.comms.comms,
                            .devices = run.devices.by_folder[i],
                            .node_objects = *run.node_objects,
                            .device_ids = run.devices.ids[i],
                            .device_clocks = device_clocks(run.devices.by_folder[i], *run.clock, i),
                            .partitioned_pairs = survey.partitioned_pairs(),
                            .pauses = pauses_of(run.folders[i].process, survey),
                            .is_alone = run.processes.slots.size() < 2,
                            .windows = run.objects.windows,
                            .window_begin = window_begin(run, i),
                            .run_end = run.end,
                            .regions = run.regions,
                            .metrics = run.metrics,
                            .rank_sets = *run.rank_sets});
  }
}

trace::Location location_of(const RecordedRun& run, const Lane& lane) {
  trace::Location location;
  location.name = lane.thread == 0 ? "Master thread" : fmt::format("OMP thread {}", lane.thread);
  location.process = lane.process;
  location.thread = lane.thread;
  if (lane.device == nullptr) return location;
  const ProcessDevices& devices = run.devices.by_folder[lane.folder];
  location.name = lane_name(*lane.device, devices);
  location.kind = trace::LocationKind::accelerator_stream;
  location.queue = lane.device->queue;
  if (devices.left_ticks != 0) {
    location.observed_until = run.clock->time(lane.folder, devices.left_ticks);
  }
  location.device = run.devices.ids[lane.folder][devices.queues[location.queue].device];
  return location;
}

/// `events`: about how many each location has.
void define(RecordedRun& run, const std::vector<uint64_t>& events, unsigned threads) {
  trace::Definitions& definitions = run.definitions;
  definitions.regions = run.regions.complete();
  run.metrics.complete(definitions);
  definitions.comms = run.comms.comms;
  definitions.groups = run.rank_sets->complete();
  definitions.grids = unify_grids(run.comms, comm_users(run));
  definitions.graphs = unify_graphs(run.comms, comm_users(run));
  definitions.windows = run.objects.windows;
  definitions.files = run.objects.files;
  definitions.devices = run.devices.all;
  definitions.program = run.facts.command;
  definitions.creator = std::string(trace::kOwnCreator) + CULPRIT_VERSION;
  definitions.origin_realtime_ns = run.clock->origin_realtime_ns();
  for (size_t i = 0; i < run.processes.slots.size(); ++i) {
    const ProcessSlot& slot = run.processes.slots[i];
    trace::Process process;
    process.name = fmt::format("{} {}", slot.world ? "MPI Rank" : "Process", i);
    process.node = slot.folder ? run.folders[*slot.folder].process.host : "unknown";
    process.rank = static_cast<uint32_t>(i);
    definitions.processes.push_back(std::move(process));
  }
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    definitions.locations.push_back(location_of(run, run.lanes[i]));
    definitions.locations.back().event_count = events[i];
    definitions.processes[run.lanes[i].process.index()].locations.push_back(LocationId(i));
    run.facts.events += events[i];
  }
  trace::make_names_valid(definitions);
  SampledLines lines = count_lines(run.code, run.accounts, threads);
  join_lines(*run.ranks, lines);
  run.facts.lines = costliest_lines(lines, definitions.regions);
}

void note_refused_counters(RecordedRun& run) {
  for (const auto& [name, why] : run.metrics.refused()) {
    run.facts.notes.push_back(fmt::format("The counter {} was not recorded: {}.", name, why));
  }
}

Error why_there_is_nothing(const RecordedRun& run, const GuardedPath& raw) {
  for (const std::string& name : raw.list()) {
    const auto version = other_version(raw / name / "process");
    if (!version) continue;
    return Error{fmt::format(
        "the records in {} were made by another version of culprit (their format is {}; this one "
        "reads {}): analyze them with that version, or have it write an OTF2 archive",
        raw.path().string(), *version, trace::kRawVersion)};
  }
  const std::string why = why_openmp_is_not_observed(run.folders);
  if (!why.empty()) return Error{"nothing was recorded. " + why};
  return Error{
      "the program used neither MPI nor OpenMP nor a device, and made no threads: there is nothing "
      "to analyze"};
}

/// The facts of the whole run that its windows do not have again.
void gather_run_facts(RecordedRun& run, const GuardedPath& raw) {
  gather_facts(run.folders, run.accounts, run.processes, *run.clock, run.facts);
  find_core_takers(run.folders, run.accounts, run.processes, *run.clock,
                   machine::read_machines(raw), run.facts);
}

/// The addresses of the run's profile are to be named as well.
void add_profiled_code(RecordedRun& run, unsigned threads) {
  ProfileDamage damage;
  auto code = profiled_code(run.folders, damage, threads);
  for (std::string& sentence : sentences_of(damage)) run.facts.notes.push_back(std::move(sentence));
  for (size_t i = 0; i < code.size(); ++i) {
    Survey& survey = run.accounts[i].survey;
    survey.addresses.insert(code[i].addresses.begin(), code[i].addresses.end());
    survey.stacks = std::move(code[i].stacks);  // records have but a part of them
  }
}

/// The passes that know of a run, once it is read, what its events do not say.
Result<void> prepare_facts(RecordedRun& run, const GuardedPath& raw, const PassOptions& options,
                           unsigned threads) {
  RunFacts& facts = run.facts;
  number_devices(run.folders, run.devices, facts.notes);
  run.lanes = make_lanes(run.processes, run.folders, run.devices);
  kLog.debug("{} processes, {} locations, {} devices", run.processes.slots.size(), run.lanes.size(),
             run.devices.all.size());
  if (run.lanes.empty()) return why_there_is_nothing(run, raw);
  add_looks(run, {});
  name_code(run, options, threads);
  kLog.debug("named the code; reading clocks and communicators");
  unify(run);
  charge_device_overhead(run);
  if (run.window) {
    describe_program(run.folders, run.processes, facts);
    leave_out_edges(run);
    note_crossing(run);
  } else {
    if (run.ranks->rank() == 0) gather_run_facts(run, raw);
    look_at_end(run, raw, options, threads);
  }
  return {};
}

/// Makes its events ready to be played.
void prepare_events(RecordedRun& run, unsigned threads) {
  make_contexts(run);
  kLog.debug("{} communicators; tallying with {} threads", run.comms.comms.size(), threads);
  std::vector<uint64_t> events = tally(run, threads);
  agree_on_tables(*run.ranks, {run.regions, run.code, run.folding, run.metrics, *run.rank_sets,
                               run.not_sampled, run.blocked});
  join_counts(*run.ranks, events);
  define(run, events, threads);
  note_refused_counters(run);
}

}  // namespace

Result<std::unique_ptr<RecordedRun>> prepare_run(const GuardedPath& raw,
                                                 const PassOptions& options) {
  auto run = std::make_unique<RecordedRun>();
  if (options.ranks != nullptr) run->ranks = options.ranks;
  const unsigned threads = thread_count(options.threads);
  read_all(*run, raw, threads);
  if (auto done = prepare_facts(*run, raw, options, threads); !done) return done.error();
  prepare_events(*run, threads);
  return run;
}

Result<std::unique_ptr<RecordedRun>> prepare_window(WindowRecords window, const GuardedPath& raw,
                                                    const PassOptions& options) {
  auto run = std::make_unique<RecordedRun>();
  const unsigned threads = thread_count(options.threads);
  take_window(*run, std::move(window), threads);
  if (auto done = prepare_facts(*run, raw, options, threads); !done) return done.error();
  prepare_events(*run, threads);
  return run;
}

/// The processes of a window begin and end with it.
WindowSpan span_of(const RecordedRun& run) {
  const std::vector<RawProcessFolder>& whole = run.window ? run.window->run : run.folders;
  std::optional<Time> origin, begin;
  Time end;
  for (size_t i = 0; i < run.folders.size(); ++i) {
    const Time start = run.clock->time(i, whole[i].process.start_ticks);
    const Time from = run.clock->time(i, run.folders[i].process.start_ticks);
    origin = origin ? std::min(*origin, start) : start;
    begin = begin ? std::min(*begin, from) : from;
    end = std::max(end, run.clock->time(i, run.folders[i].process.end_ticks));
  }
  return {begin.value_or(Time()) - origin.value_or(Time()), end - origin.value_or(Time())};
}

Result<std::unique_ptr<RecordedRun>> prepare_profile(const GuardedPath& raw,
                                                     const PassOptions& options,
                                                     trace::Profile& profile) {
  auto made = std::make_unique<RecordedRun>();
  RecordedRun& run = *made;
  const unsigned threads = thread_count(options.threads);
  read_all(run, raw, threads, LogsWithout::kept);
  add_profiled_code(run, threads);
  if (auto done = prepare_facts(run, raw, options, threads); !done) return done.error();
  profile = name_profile({run.folders, run.lanes, run.code, *run.clock, run.regions}, threads);
  std::vector<uint64_t> records;
  for (const trace::ProfileLine& line : profile.lines) records.push_back(line.records);
  define(run, records, threads);
  profile.definitions = run.definitions;
  return made;
}

/// When the run was last seen running: now, if it still runs.
Time last_seen(const RecordedRun& run, const GuardedPath& raw, const look::Look& look) {
  std::optional<Time> end = find_run_end(raw, run.folders, run.accounts, *run.clock);
  for (size_t i = 0; i < run.folders.size(); ++i) {
    end = std::max(end.value_or(Time()), run.clock->time(i, run.folders[i].process.last.ticks));
    const auto* seen = look.of(run.folders[i].folder.name());
    if (seen == nullptr) continue;
    const trace::RawClockPair& known = run.folders[i].process.last;
    const auto since = static_cast<int64_t>(seen->at_ns - known.monotonic_ns);
    end = std::max(end.value_or(Time()),
                   run.clock->time(i, known.ticks) + Duration::from_nanos(since));
  }
  return end.value_or(Time());
}

Result<RunState> find_stuck_now(const GuardedPath& raw, const PassOptions& options,
                                const look::Look& look) {
  RecordedRun run;
  const unsigned threads = thread_count(options.threads);
  read_and_survey(run, raw, threads);
  arrange(run);
  run.devices.by_folder.resize(run.folders.size());
  run.lanes = make_lanes(run.processes, run.folders, run.devices);
  if (run.lanes.empty()) return Error{"nothing has been recorded yet"};
  add_looks(run, look);
  name_code(run, options, threads);
  unify(run);
  run.end = last_seen(run, raw, look);
  stuck::Found found = stuck::find(at_end(run, threads));
  return RunState{std::move(found.groups), std::move(found.everybody),
                  (*run.end - Time()).seconds()};
}

}  // namespace culprit::assemble
