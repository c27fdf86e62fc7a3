// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "assemble/facts.h"
#include "assemble/records/code.h"
#include "assemble/records/device_stream.h"
#include "assemble/records/folding.h"
#include "assemble/records/stream.h"
#include "assemble/run/comms.h"
#include "assemble/run/devices.h"
#include "assemble/run/objects.h"
#include "assemble/run/processes.h"
#include "assemble/run/run_end.h"
#include "assemble/stuck/stuck.h"
#include "base/log.h"
#include "base/parallel.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

/// One location to be: a thread's log, or nothing for a rank that left nothing.
constexpr log::Component kLog("assemble");

struct Lane {
  ProcessId process;
  uint32_t thread = 0;
  const RawLog* log = nullptr;
  const DeviceLane* device = nullptr;  ///< or a device's queue
  uint64_t events = 0;
  Losses losses;
};

/// The passes from raw records to the archive, in order.
class Assembly {
 public:
  Assembly(trace::Otf2Writer& writer, const PassOptions& options)
      : writer_(writer),
        threads_(thread_count(options.threads)),
        symbol_source_(options.symbols),
        names_(options.names) {}

  Result<RunFacts> run(const fs::path& raw) {
    read(raw);
    read_device_logs();
    unify_devices();
    make_lanes();
    kLog.debug("{} processes, {} locations, {} devices", processes_.slots.size(), lanes_.size(),
               all_devices_.size());
    if (lanes_.empty()) {
      const std::string why = why_openmp_is_not_observed(folders_);
      if (!why.empty()) return Error{"nothing was recorded. " + why};
      return Error{
          "the program used neither MPI nor OpenMP nor a device: there is nothing to analyze"};
    }
    name_code();
    kLog.debug("named the code; reading clocks and communicators");
    const Clock clock(folders_, clock_links(), facts_.losses);
    for (size_t i = 0; i < folders_.size(); ++i) {
      if (accounts_[i].threads.empty()) continue;
      // The runtime does not say on which thread; most of it is where kernels are launched.
      accounts_[i].threads.front().ticks += static_cast<uint64_t>(
          static_cast<double>(devices_[i].overhead_ns) / clock.ns_per_tick(i));
    }
    account(folders_, accounts_, processes_, clock, facts_);
    const CommTable comms = unify_comms(processes_.worlds, comm_users(clock), facts_.losses);
    const ObjectTable objects = unify_objects(comms, comm_users(clock));
    if (ended_otherwise()) look_at_end(raw, clock, comms, objects);
    kLog.debug("{} communicators; writing the archive with {} threads", comms.comms.size(),
               threads_);
    auto written = write_archive(clock, comms, objects);
    if (!written) return written.error();
    return std::move(facts_);
  }

  /// All but the archive, and of devices nothing.
  Result<std::vector<StuckGroup>> look(const fs::path& raw) {
    read(raw);
    devices_.resize(folders_.size());
    make_lanes();
    if (lanes_.empty()) return Error{"nothing has been recorded yet"};
    name_code();
    const Clock clock(folders_, clock_links(), facts_.losses);
    const CommTable comms = unify_comms(processes_.worlds, comm_users(clock), facts_.losses);
    const ObjectTable objects = unify_objects(comms, comm_users(clock));
    return stuck::find(at_end(clock, comms, objects)).groups;
  }

 private:
  void read(const fs::path& raw) {
    folders_ = read_raw(raw, facts_.losses, threads_);
    processes_ = arrange_processes(folders_, facts_.losses, facts_.notes);
    survey();
  }

  /// Whether any process did not come to its end.
  bool ended_otherwise() const {
    return std::any_of(folders_.begin(), folders_.end(), [](const RawProcessFolder& folder) {
      return !folder.logs.empty() && folder.process.ended == 0 &&
             folder.process.stopped_at_limit == 0;
    });
  }

  void look_at_end(const fs::path& raw, const Clock& clock, const CommTable& comms,
                   const ObjectTable& objects) {
    run_end_ = find_run_end(raw, folders_, accounts_, clock);
    stuck::Found found = stuck::find(at_end(clock, comms, objects));
    facts_.stuck = std::move(found.groups);
    awaited_ = std::move(found.awaited);
  }

  /// As trace::Fact::unanswered names it.
  std::optional<uint64_t> awaited_by(const Lane& lane) const {
    const auto at = awaited_.find(LocationId(static_cast<size_t>(&lane - lanes_.data())));
    if (at == awaited_.end()) return std::nullopt;
    const Lane& other = lanes_[at->second.index()];
    return uint64_t{other.thread} << 32 | other.process.index();
  }

  stuck::Run at_end(const Clock& clock, const CommTable& comms, const ObjectTable& objects) const {
    stuck::Run run{folders_, processes_, code_, accounts_, comms, objects, clock, {}, threads_};
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      if (lane.device != nullptr) continue;
      run.lanes.push_back({LocationId(i), lane.process, lane.thread, lane.log});
    }
    return run;
  }

  void make_lanes() {
    bool records = false;
    for (size_t i = 0; i < processes_.slots.size(); ++i) {
      const auto folder = processes_.slots[i].folder;
      const size_t logs = folder ? folders_[*folder].logs.size() : 0;
      for (size_t thread = 0; thread < std::max<size_t>(logs, 1); ++thread) {
        lanes_.push_back({ProcessId(i),
                          static_cast<uint32_t>(thread),
                          thread < logs ? &folders_[*folder].logs[thread] : nullptr,
                          nullptr,
                          0,
                          {}});
      }
      if (folder) add_device_lanes(ProcessId(i), devices_[*folder]);
      records = records || logs > 0;
    }
    if (!records) lanes_.clear();
  }

  /// Behind the process's threads.
  void add_device_lanes(ProcessId process, const ProcessDevices& devices) {
    for (const DeviceLane& lane : devices.lanes) {
      lanes_.push_back({process, lanes_.back().thread + 1, nullptr, &lane, 0, {}});
    }
  }

  void read_device_logs() {
    devices_.resize(folders_.size());
    for (size_t i = 0; i < folders_.size(); ++i) {
      devices_[i] = read_devices(folders_[i].device_logs, facts_.losses);
      for (const std::string& refusal : devices_[i].refusals) {
        if (std::find(facts_.notes.begin(), facts_.notes.end(), refusal) == facts_.notes.end()) {
          facts_.notes.push_back(refusal);
        }
      }
    }
  }

  /// One for each device, however many processes use it.
  void unify_devices() {
    std::map<std::pair<std::string, std::string>, DeviceId> known;
    device_ids_.resize(folders_.size());
    for (size_t i = 0; i < folders_.size(); ++i) {
      for (const DeviceFacts& device : devices_[i].devices) {
        const std::string node = folders_[i].process.host;
        const auto [id, is_new] =
            known.try_emplace({node, device.identity}, DeviceId(all_devices_.size()));
        if (is_new) all_devices_.push_back({device.name, node, device.identity});
        device_ids_[i].push_back(id->second);
      }
    }
  }

  void survey() {
    struct Job {
      size_t folder;
      size_t log;
    };
    std::vector<Job> jobs;
    for (size_t i = 0; i < folders_.size(); ++i) {
      for (size_t log = 0; log < folders_[i].logs.size(); ++log) jobs.push_back({i, log});
    }
    std::vector<ThreadSurvey> surveys(jobs.size());
    parallel_for(jobs.size(), threads_, [&](size_t i) {
      surveys[i] = survey_log(folders_[jobs[i].folder].logs[jobs[i].log]);
    });
    accounts_.resize(folders_.size());
    core_uses_.resize(folders_.size());
    std::vector<std::vector<std::optional<uint32_t>>> numbers(folders_.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (surveys[i].core_use.on_core_ns > 0) {
        const RawLog& log = folders_[jobs[i].folder].logs[jobs[i].log];
        CoreUse& use = core_uses_[jobs[i].folder][log.thread()] = surveys[i].core_use;
        if (log.thread() == 0) use.from_ticks = folders_[jobs[i].folder].process.start_ticks;
      }
      numbers[jobs[i].folder].push_back(surveys[i].team_number);
      ProcessAccount& account = accounts_[jobs[i].folder];
      account.threads.push_back(surveys[i].tool);
      account.survey.merge(std::move(surveys[i].survey));
    }
    for (size_t i = 0; i < folders_.size(); ++i) order_threads(folders_[i].logs, numbers[i]);
  }

  /// Users know threads by their numbers in a team; the files are in the order in which the threads
  /// happened to begin. The first thread stays the first, those in no team come last.
  static void order_threads(std::vector<RawLog>& logs,
                            const std::vector<std::optional<uint32_t>>& numbers) {
    std::vector<size_t> order(logs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (order.size() < 3) return;
    std::stable_sort(order.begin() + 1, order.end(), [&](size_t a, size_t b) {
      return numbers[a].value_or(UINT32_MAX) < numbers[b].value_or(UINT32_MAX);
    });
    std::vector<RawLog> ordered;
    for (size_t at : order) ordered.push_back(std::move(logs[at]));
    logs = std::move(ordered);
  }

  void name_code() {
    for (const RawProcessFolder& folder : folders_) code_.emplace_back(folder);
    for (size_t i = 0; i < folders_.size(); ++i) code_[i].announce(accounts_[i].survey, symbols_);
    symbols_.resolve(threads_, symbol_source_, names_);
    note_stripped();
    for (size_t i = 0; i < folders_.size(); ++i) {
      code_[i].learn(accounts_[i].survey, symbols_, regions_);
    }
  }

  /// Comparisons of clocks, with folders in place of ranks.
  std::vector<ClockLink> clock_links() const {
    std::vector<ClockLink> links;
    for (const ProcessSlot& slot : processes_.slots) {
      if (!slot.folder || !slot.world) continue;
      const World& world = processes_.worlds[*slot.world];
      for (const ClockMeeting& met : accounts_[*slot.folder].survey.clock_meetings) {
        if (met.rank >= world.members.size()) continue;
        const auto other = processes_.slots[world.members[met.rank].index()].folder;
        if (!other) continue;
        links.push_back({*slot.folder, *other, met.own_ticks, met.other_ticks, met.length});
      }
    }
    return links;
  }

  /// Programs without symbols, each once: their users must know why there are no names.
  void note_stripped() {
    std::set<std::string> programs;
    for (const RawProcessFolder& folder : folders_) programs.insert(folder.process.executable);
    for (const std::string& program : programs) {
      if (!symbols_.mostly_nameless(program)) continue;
      const std::string name = fs::path(program).filename();
      facts_.notes.push_back(
          fmt::format("{} has no symbols: its functions appear as {}+0x..., their offset in the "
                      "file. Build it with -g, or install its debug symbols, to see names.",
                      name, name));
    }
  }

  void note_refused_counters() {
    for (const auto& [name, why] : metrics_.refused()) {
      facts_.notes.push_back(fmt::format("The counter {} was not recorded: {}.", name, why));
    }
  }

  std::vector<CommUser> comm_users(const Clock& clock) const {
    static const Survey kNothing;
    std::vector<CommUser> users;
    for (size_t i = 0; i < processes_.slots.size(); ++i) {
      const ProcessSlot& slot = processes_.slots[i];
      CommUser& user = users.emplace_back();
      user.process = ProcessId(i);
      user.survey = &kNothing;
      if (!slot.folder) continue;
      const trace::RawProcess& process = folders_[*slot.folder].process;
      user.world = slot.world;
      user.survey = &accounts_[*slot.folder].survey;
      if (process.job[0] != '\0') user.name = fmt::format("{}.{}", process.job, process.world_rank);
      user.parent = process.parent;
      user.clock = &clock;
      user.folder = *slot.folder;
    }
    return users;
  }

  /// The first walk over what the threads did, for what the second one must know of all of them.
  template <class Play>
  Folding tally_stretches(const Play& play) {
    std::vector<StretchTally> tallies(lanes_.size());
    parallel_for(lanes_.size(), threads_, [&](size_t i) {
      const Lane& lane = lanes_[i];
      if (lane.log == nullptr) return;
      Folder how = folder_for(lane);
      how.tally = &tallies[i];
      trace::EventSink nowhere;
      if (how.period_ns > 0) play(lane, how, nowhere);
    });
    Folding folding;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      folding.merge(static_cast<uint32_t>(i), std::move(tallies[i]));
    }
    return folding;
  }

  /// Unknown: for ever.
  double asleep_ns(const Lane& lane, const Clock& clock) const {
    const size_t folder = *processes_.slots[lane.process.index()].folder;
    const auto use = core_uses_[folder].find(lane.log->thread());
    if (use == core_uses_[folder].end()) return std::numeric_limits<double>::infinity();
    const CoreUse& known = use->second;
    const double life_ns =
        static_cast<double>(known.until_ticks - known.from_ticks -
                            std::min(known.blocked_ticks, known.until_ticks - known.from_ticks)) *
        clock.ns_per_tick(folder);
    return std::max(0.0, life_ns - static_cast<double>(known.on_core_ns) -
                             static_cast<double>(known.without_ns));
  }

  Folder folder_for(const Lane& lane) {
    const size_t folder = *processes_.slots[lane.process.index()].folder;
    const uint32_t hz = folders_[folder].process.sampling_hz;
    Folder how;
    how.not_sampled = regions_.not_sampled();
    if (hz > 0) how.period_ns = 1e9 / hz;
    const auto use = core_uses_[folder].find(lane.log->thread());
    if (use != core_uses_[folder].end()) how.core_share = use->second.share();
    return how;
  }

  Result<void> write_archive(const Clock& clock, const CommTable& comms,
                             const ObjectTable& objects) {
    RankSets rank_sets(objects.groups);
    std::vector<std::unordered_map<uint64_t, uint32_t>> pairs;
    for (const ProcessAccount& account : accounts_) {
      pairs.push_back(account.survey.partitioned_pairs());
    }
    for (size_t i = 0; i < folders_.size(); ++i) {
      device_clocks_.push_back(device_clocks(devices_[i], clock, i));
    }
    const auto play = [&](const Lane& lane, const Folder& how, trace::EventSink& sink) {
      const size_t folder = *processes_.slots[lane.process.index()].folder;
      const ProcessContext context{folder,
                                   folders_[folder],
                                   clock,
                                   code_[folder],
                                   accounts_[folder].survey,
                                   comms.local[lane.process.index()],
                                   objects.local[lane.process.index()],
                                   comms.comms,
                                   lane.process,
                                   pairs[folder],
                                   regions_,
                                   metrics_,
                                   pauses_of(folders_[folder].process, accounts_[folder].survey),
                                   rank_sets,
                                   devices_[folder],
                                   device_ids_[folder],
                                   run_end_,
                                   awaited_by(lane),
                                   how};
      return play_log(*lane.log, context, sink);
    };
    const Folding folding = tally_stretches(play);
    parallel_for(lanes_.size(), threads_, [&](size_t i) {
      Lane& lane = lanes_[i];
      const auto sink = writer_.open(lane.process, lane.thread);
      if (lane.device != nullptr) return play_device(lane, clock, *sink);
      if (lane.log == nullptr) return;
      LaneFolding divides(folding, static_cast<uint32_t>(i), asleep_ns(lane, clock));
      Folder how = folder_for(lane);
      if (how.period_ns > 0) how.folding = &divides;
      StreamResult result = play(lane, how, *sink);
      lane.events = result.events;
      lane.losses = std::move(result.losses);
    });
    for (const Lane& lane : lanes_) {
      facts_.events += lane.events;
      facts_.losses.merge(lane.losses);
    }
    note_refused_counters();
    return writer_.finish(definitions(comms, objects, rank_sets), clock.origin_realtime_ns());
  }

  void play_device(Lane& lane, const Clock& clock, trace::EventSink& sink) {
    const size_t folder = *processes_.slots[lane.process.index()].folder;
    const DeviceContext context{devices_[folder],
                                device_clocks_[folder],
                                accounts_[folder].survey.device_launches,
                                clock,
                                folder,
                                regions_};
    const LaneResult result = play_lane(*lane.device, context, sink);
    lane.events = result.events;
    lane.losses.add(LossKind::device_starts_before_launch, result.before_launch);
    lane.losses.add(LossKind::device_ops_without_launch, result.without_launch);
  }

  trace::Definitions definitions(const CommTable& comms, const ObjectTable& objects,
                                 RankSets& rank_sets) {
    trace::Definitions definitions;
    definitions.regions = regions_.take();
    metrics_.take(definitions);
    definitions.comms = comms.comms;
    definitions.groups = rank_sets.take();
    definitions.windows = objects.windows;
    definitions.files = objects.files;
    definitions.devices = all_devices_;
    definitions.program = facts_.command;
    definitions.creator = std::string(trace::kOwnCreator) + CULPRIT_VERSION;
    for (size_t i = 0; i < processes_.slots.size(); ++i) {
      const ProcessSlot& slot = processes_.slots[i];
      trace::Process process;
      process.name = fmt::format("{} {}", slot.world ? "MPI Rank" : "Process", i);
      process.node = slot.folder ? folders_[*slot.folder].process.host : "unknown";
      process.rank = static_cast<uint32_t>(i);
      definitions.processes.push_back(std::move(process));
    }
    for (const Lane& lane : lanes_) {
      trace::Location location;
      location.name =
          lane.thread == 0 ? "Master thread" : fmt::format("OMP thread {}", lane.thread);
      if (lane.device != nullptr) {
        const size_t folder = *processes_.slots[lane.process.index()].folder;
        location.name = lane_name(*lane.device, devices_[folder]);
        location.kind = trace::LocationKind::accelerator_stream;
        location.queue = lane.device->queue;
        location.device = device_ids_[folder][devices_[folder].queues[location.queue].device];
      }
      location.process = lane.process;
      location.thread = lane.thread;
      location.event_count = lane.events;
      definitions.processes[lane.process.index()].locations.push_back(
          LocationId(definitions.locations.size()));
      definitions.locations.push_back(std::move(location));
    }
    return definitions;
  }

  trace::Otf2Writer& writer_;
  unsigned threads_;
  SymbolSource symbol_source_;
  NameCache names_;
  std::vector<RawProcessFolder> folders_;
  Processes processes_;
  std::vector<Lane> lanes_;
  std::vector<ProcessDevices> devices_;                  ///< by folder
  std::vector<std::vector<DeviceClock>> device_clocks_;  ///< by folder, then device
  std::vector<std::vector<DeviceId>> device_ids_;        ///< likewise
  std::vector<trace::Device> all_devices_;               ///< by DeviceId
  std::vector<ProcessAccount> accounts_;                 ///< by folder
  std::vector<ProcessCode> code_;                        ///< by folder
  std::vector<std::map<uint32_t, CoreUse>> core_uses_;   ///< by folder, then log
  Symbols symbols_;
  Regions regions_;
  Metrics metrics_;
  std::map<LocationId, LocationId> awaited_;  ///< who waits for whom at the end
  std::optional<Time> run_end_;  ///< of a run whose processes did not come to their end
  RunFacts facts_;
};

}  // namespace

Result<std::vector<StuckGroup>> run_passes_until_stuck(const fs::path& raw,
                                                       const PassOptions& options) {
  class NoWriter : public trace::Otf2Writer {
   public:
    std::unique_ptr<trace::EventSink> open(ProcessId, uint32_t) override { return nullptr; }
    Result<void> finish(const trace::Definitions&, uint64_t) override { return {}; }
  };
  NoWriter writer;
  return Assembly(writer, options).look(raw);
}

Result<RunFacts> run_passes(const fs::path& raw, trace::Otf2Writer& writer,
                            const PassOptions& options) {
  return Assembly(writer, options).run(raw);
}

}  // namespace culprit::assemble
