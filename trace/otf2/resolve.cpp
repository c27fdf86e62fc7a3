// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// References become ids. The order is the meaning: processes by MPI rank (those without one after
// them), the locations of a process by kind and number, LocationIds along both; regions and
// communicators by reference, so that ids equal references in an archive that numbers densely.
// Later stages index without looking, so whatever would lead them outside is left out here.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "trace/mpi_calls.h"
#include "trace/otf2/definitions.h"
#include "trace/otf2/names.h"
#include "trace/valid_names.h"

namespace culprit::trace {

namespace {

template <class Record>
std::vector<Record> sorted_by_ref(std::vector<Record> records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.ref < b.ref; });
  return records;
}

/// Resolves one archive; each method fills one part and uses those before it.
class Resolver {
 public:
  Resolver(const RawGlobalDefinitions& raw, Losses& losses) : raw_(raw), losses_(losses) {}

  ResolvedDefinitions run() {
    out_.tables.resolution = raw_.resolution;
    out_.tables.offset = raw_.offset;
    out_.definitions.origin_realtime_ns = raw_.origin_realtime_ns;
    attributes();
    facts();
    regions();
    metrics();
    out_.tables.devices = resolve_devices(raw_, out_.definitions.devices);
    out_.definitions.devices_untold = !out_.tables.devices.numbers_operations();
    processes();
    comms();
    event_groups();
    grids();
    windows();
    files();
    losses_.add(LossKind::duplicate_definitions, raw_.duplicates + duplicates_);
    make_names_valid(out_.definitions);
    return std::move(out_);
  }

 private:
  /// A location group that becomes a process, while its place in the order is being found.
  struct Candidate {
    const RawLocationGroup* group = nullptr;
    std::optional<uint32_t> rank;
    std::vector<const RawLocation*> locations;
  };

  void attributes();
  void facts();
  void regions();
  void metrics();
  void processes();
  OTF2_LocationGroupRef process_of_device(const RawLocationGroup& device) const;
  std::map<OTF2_LocationGroupRef, Candidate> candidates();
  void assign_ranks(std::map<OTF2_LocationGroupRef, Candidate>& candidates) const;
  void add_process(Candidate candidate, uint32_t rank);
  void place_stream(const RawLocation& raw, Location& location) const;
  std::string node_of(OTF2_SystemTreeNodeRef ref) const;
  void comms();
  std::optional<Comm> comm(const RawComm& raw) const;
  std::optional<std::vector<ProcessId>> members(const RawMemberGroup& group) const;
  void find_world();
  void event_groups();
  void grids();
  void windows();
  void files();

  std::string text(OTF2_StringRef ref) const {
    const std::string* found = raw_.strings.find(ref);
    return found ? *found : std::string();
  }
  const RawMemberGroup* locations_of(OTF2_Paradigm paradigm) const {
    for (const RawMemberGroup& group : raw_.comm_locations) {
      if (group.paradigm == paradigm) return &group;
    }
    return nullptr;
  }

  const RawGlobalDefinitions& raw_;
  Losses& losses_;
  ResolvedDefinitions out_;
  std::map<OTF2_LocationRef, ProcessId> process_of_;
  uint64_t duplicates_ = 0;
};

void Resolver::attributes() {
  static constexpr std::pair<std::string_view, OTF2_AttributeRef Otf2Tables::*> kKnown[] = {
      {kRegionInstanceAttribute, &Otf2Tables::region_instance},
      {kMutexKindAttribute, &Otf2Tables::mutex_kind},
      {kMutexIdAttribute, &Otf2Tables::mutex_id},
      {kCollectiveOpAttribute, &Otf2Tables::collective_op},
      {kRmaAssertionsAttribute, &Otf2Tables::rma_assertions},
      {kSendsToAttribute, &Otf2Tables::sends_to},
      {kReceivesFromAttribute, &Otf2Tables::receives_from},
      {kPartitionedAttribute, &Otf2Tables::partitioned},
      {kReadyRequestAttribute, &Otf2Tables::ready_request},
      {kMatchedProbeAttribute, &Otf2Tables::matched_probe},
      {kFoundCommAttribute, &Otf2Tables::found_comm},
      {kFoundSourceAttribute, &Otf2Tables::found_source},
      {kFoundTagAttribute, &Otf2Tables::found_tag},
      {kFoundBytesAttribute, &Otf2Tables::found_bytes},
  };
  for (const RawAttribute& attribute : raw_.attributes) {
    const std::string name = text(attribute.name);
    for (const auto& [known, place] : kKnown) {
      if (name == known) out_.tables.*place = attribute.ref;
    }
  }
  for (const RawParameter& parameter : raw_.parameters) {
    if (text(parameter.name) == kIterationParameter) out_.tables.iteration = parameter.ref;
  }
}

/// Other parameters are the program's own.
void Resolver::facts() {
  for (const RawParameter& parameter : raw_.parameters) {
    const std::string name = text(parameter.name);
    if (!name.starts_with(kFactPrefix)) continue;
    for (size_t i = 0; i < kFactCount; ++i) {
      const auto fact = static_cast<Fact>(i);
      if (name.substr(kFactPrefix.size()) == fact_name(fact)) {
        out_.tables.facts.add(parameter.ref, fact);
      }
    }
  }
}

/// Score-P puts a word for the kind of region where there is no source file ("MPI", "OMP").
bool names_a_file(const std::string& file) {
  return file.find_first_of("./") != std::string::npos;
}

/// OTF2 has one record for what these calls do; their region says which it was.
RmaTraits rma_traits(const Region& region) {
  RmaTraits traits;
  const MpiCall* const call = mpi_call(region);
  if (call == nullptr) return traits;
  if (call->is(MpiTrait::epoch_start)) traits.epoch = RmaEpoch::start;
  if (call->is(MpiTrait::epoch_complete)) traits.epoch = RmaEpoch::complete;
  if (call->is(MpiTrait::epoch_post)) traits.epoch = RmaEpoch::post;
  if (call->is(MpiTrait::epoch_wait)) traits.epoch = RmaEpoch::wait;
  if (call->is(MpiTrait::flush)) traits.sync = RmaSyncKind::flush;
  if (call->is(MpiTrait::flush_local)) traits.sync = RmaSyncKind::flush_local;
  return traits;
}

/// TAU writes "MPI_Send()".
std::string name_of_call(std::string name) {
  constexpr std::string_view kEnd = "()";
  const std::string_view call = std::string_view(name).substr(0, name.rfind(kEnd));
  if (name.ends_with(kEnd) && mpi_call(call) != nullptr) name.resize(call.size());
  return name;
}

/// Some writers take all that they record for functions of the program; but those have a file.
Paradigm paradigm_of(const Region& region) {
  const bool untold = region.paradigm == Paradigm::unknown || region.paradigm == Paradigm::user ||
                      region.paradigm == Paradigm::compiler;
  return untold && region.file.empty() && mpi_call(region.name) != nullptr ? Paradigm::mpi
                                                                           : region.paradigm;
}

void Resolver::regions() {
  std::vector<Region>& regions = out_.definitions.regions;
  for (const RawRegion& raw : sorted_by_ref(raw_.regions)) {
    if (!out_.tables.regions.add(raw.ref, RegionId(regions.size()))) {
      ++duplicates_;
      continue;
    }
    Region region{name_of_call(text(raw.name)), role_from_otf2(raw.role, raw.paradigm, raw.flags),
                  paradigm_from_otf2(raw.paradigm), text(raw.file), raw.line};
    if (region.file == "CUDA_KERNEL") region.role = RegionRole::kernel;
    if (raw.line == 0 && !names_a_file(region.file)) region.file.clear();
    if (raw.line == OTF2_UNDEFINED_UINT32) region.line = 0;
    region.paradigm = paradigm_of(region);
    out_.tables.rma_traits.push_back(rma_traits(region));
    out_.tables.promises.push_back(promise_of(region));
    regions.push_back(std::move(region));
    out_.tables.roles.push_back(raw.role);
  }
  for (const RawCallingContext& raw : raw_.calling_contexts) {
    const RegionId* region = out_.tables.regions.find(raw.region);
    if (region) duplicates_ += !out_.tables.calling_contexts.add(raw.ref, *region);
  }
}

/// Classes whose values come at moments of their own are ignored: they say nothing about regions.
/// So are classes with an unknown member.
void Resolver::metrics() {
  std::map<OTF2_MetricMemberRef, MetricId> ids;
  for (const RawMetricClass& raw : sorted_by_ref(raw_.metric_classes)) {
    if (raw.occurrence == OTF2_METRIC_ASYNCHRONOUS) continue;
    MetricClassRef known{MetricSetId(out_.definitions.metric_sets.size()), {}};
    MetricSet set;
    for (const OTF2_MetricMemberRef ref : raw.members) {
      const RawMetricMember* member = raw_.metric_members.find(ref);
      if (!member) break;
      const auto [id, fresh] = ids.try_emplace(ref, MetricId(out_.definitions.metrics.size()));
      const std::string unit = text(member->unit);
      if (fresh) {
        out_.definitions.metrics.push_back(
            {text(member->name), unit == "#" ? "" : unit, metric_mode_from_otf2(member->mode)});
      }
      set.push_back(id->second);
      const double base = member->base == OTF2_BASE_BINARY ? 2 : 10;
      known.factors.push_back(std::pow(base, static_cast<double>(member->exponent)));
    }
    if (set.size() != raw.members.size()) continue;
    if (!out_.tables.metrics.add(raw.ref, std::move(known))) {
      ++duplicates_;
      continue;
    }
    out_.definitions.metric_sets.push_back(std::move(set));
  }
}

std::string Resolver::node_of(OTF2_SystemTreeNodeRef ref) const {
  constexpr int kDeepest = 64;  // a damaged tree may be a ring
  std::string name;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const RawSystemNode* node = raw_.system_nodes.find(ref);
    if (!node) break;
    if (name.empty() || text(node->class_name) == "node") name = text(node->name);
    if (text(node->class_name) == "node") break;
    ref = node->parent;
  }
  return name;
}

/// The process that a device's group belongs to: the one that created it. Where the archive does
/// not say who did, it is the only process below the same node of the system tree; else there is
/// none.
OTF2_LocationGroupRef Resolver::process_of_device(const RawLocationGroup& device) const {
  if (device.creator != OTF2_UNDEFINED_LOCATION_GROUP) return device.creator;
  OTF2_LocationGroupRef found = OTF2_UNDEFINED_LOCATION_GROUP;
  for (const RawLocationGroup& group : raw_.location_groups) {
    if (group.type != OTF2_LOCATION_GROUP_TYPE_PROCESS || group.parent != device.parent) continue;
    if (found != OTF2_UNDEFINED_LOCATION_GROUP) return OTF2_UNDEFINED_LOCATION_GROUP;
    found = group.ref;
  }
  return found;
}

/// Location groups with their locations. A device's group belongs to a process.
std::map<OTF2_LocationGroupRef, Resolver::Candidate> Resolver::candidates() {
  std::map<OTF2_LocationGroupRef, Candidate> found;
  std::map<OTF2_LocationGroupRef, OTF2_LocationGroupRef> owner;
  for (const RawLocationGroup& group : raw_.location_groups) {
    const OTF2_LocationGroupRef creator = group.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR
                                              ? process_of_device(group)
                                              : OTF2_UNDEFINED_LOCATION_GROUP;
    const bool device = creator != OTF2_UNDEFINED_LOCATION_GROUP;
    if (!owner.emplace(group.ref, device ? creator : group.ref).second) {
      ++duplicates_;
    } else if (!device) {
      found[group.ref].group = &group;
    }
  }
  uint64_t orphans = 0, metrics = 0;
  std::map<OTF2_LocationRef, bool> seen;
  for (const RawLocation& location : raw_.locations) {
    if (location.type == OTF2_LOCATION_TYPE_METRIC) {
      ++metrics;
      continue;
    }
    auto group = owner.find(location.group);
    auto process = group == owner.end() ? found.end() : found.find(group->second);
    if (process == found.end()) {
      ++orphans;
    } else if (!seen.emplace(location.ref, true).second) {
      ++duplicates_;
    } else {
      process->second.locations.push_back(&location);
    }
  }
  losses_.add(LossKind::locations_without_process, orphans);
  losses_.add(LossKind::metric_locations, metrics);
  return found;
}

void Resolver::assign_ranks(std::map<OTF2_LocationGroupRef, Candidate>& candidates) const {
  const RawMemberGroup* mpi = locations_of(OTF2_PARADIGM_MPI);
  if (!mpi) return;
  std::map<OTF2_LocationRef, Candidate*> by_location;
  for (auto& [ref, candidate] : candidates) {
    for (const RawLocation* location : candidate.locations) by_location[location->ref] = &candidate;
  }
  for (size_t rank = 0; rank < mpi->members.size(); ++rank) {
    auto it = by_location.find(mpi->members[rank]);
    if (it != by_location.end() && !it->second->rank) {
      it->second->rank = static_cast<uint32_t>(rank);
    }
  }
}

void Resolver::add_process(Candidate candidate, uint32_t rank) {
  Definitions& definitions = out_.definitions;
  std::stable_sort(candidate.locations.begin(), candidate.locations.end(),
                   [](const RawLocation* a, const RawLocation* b) {
                     const auto kind_a = location_kind_from_otf2(a->type);
                     const auto kind_b = location_kind_from_otf2(b->type);
                     return kind_a != kind_b ? kind_a < kind_b : a->ref < b->ref;
                   });
  const ProcessId id(definitions.processes.size());
  Process process{text(candidate.group->name), node_of(candidate.group->parent), rank, {}};
  for (const RawLocation* raw : candidate.locations) {
    process.locations.push_back(LocationId(definitions.locations.size()));
    definitions.locations.push_back(
        Location{text(raw->name), location_kind_from_otf2(raw->type), id,
                 static_cast<uint32_t>(process.locations.size() - 1), raw->ref, raw->events});
    if (definitions.locations.back().kind == LocationKind::accelerator_stream) {
      place_stream(*raw, definitions.locations.back());
    }
    process_of_[raw->ref] = id;
  }
  definitions.processes.push_back(std::move(process));
}

/// Streams of other writers are queues by themselves: by their places in the process.
void Resolver::place_stream(const RawLocation& raw, Location& location) const {
  const DeviceTable& devices = out_.tables.devices;
  const auto device = devices.of_group.find(raw.group);
  if (device != devices.of_group.end()) location.device = device->second;
  const auto queue = devices.queues.find(raw.ref);
  location.queue = queue != devices.queues.end() ? queue->second : location.thread;
}

void Resolver::processes() {
  auto found = candidates();
  assign_ranks(found);
  std::vector<Candidate> order;
  uint64_t empty = 0;
  for (auto& [ref, candidate] : found) {
    if (candidate.locations.empty())
      ++empty;
    else
      order.push_back(std::move(candidate));
  }
  losses_.add(LossKind::processes_without_locations, empty);
  std::stable_sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
    return a.rank.value_or(UINT32_MAX) < b.rank.value_or(UINT32_MAX);
  });
  uint32_t next = 0;
  for (Candidate& candidate : order) {
    const uint32_t rank = candidate.rank.value_or(next);
    add_process(std::move(candidate), rank);
    next = rank + 1;
  }
}

/// Members of a communicator's group by rank; nothing if one of them is not a known process.
std::optional<std::vector<ProcessId>> Resolver::members(const RawMemberGroup& group) const {
  const RawMemberGroup* locations = locations_of(group.paradigm);
  const bool direct =
      group.type == OTF2_GROUP_TYPE_LOCATIONS || group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS;
  std::vector<ProcessId> members;
  members.reserve(group.members.size());
  for (uint64_t member : group.members) {
    if (!direct && (!locations || member >= locations->members.size())) return std::nullopt;
    auto process = process_of_.find(direct ? member : locations->members[member]);
    if (process == process_of_.end()) return std::nullopt;
    members.push_back(process->second);
  }
  return members;
}

CommKind kind_of(const RawMemberGroup& group) {
  switch (group.paradigm) {
    case OTF2_PARADIGM_MPI:
      return group.type == OTF2_GROUP_TYPE_COMM_SELF ? CommKind::mpi_self : CommKind::mpi;
    case OTF2_PARADIGM_OPENMP:
    case OTF2_PARADIGM_PTHREAD:
      return CommKind::thread_team;
    default:
      return CommKind::other;
  }
}

/// Nothing if its group is unusable. Ranks that count in all of MPI's locations instead of in the
/// communicator (a flag of the group) would need a translation that no known writer asks for.
std::optional<Comm> Resolver::comm(const RawComm& raw) const {
  const RawMemberGroup* group = raw_.groups.find(raw.group);
  if (!group || (group->flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS)) return std::nullopt;
  Comm comm{text(raw.name), kind_of(*group), {}, {}};
  if (comm.kind != CommKind::mpi_self) {
    auto local = members(*group);
    if (!local) return std::nullopt;
    comm.members = std::move(*local);
  }
  if (raw.remote == OTF2_UNDEFINED_GROUP) return comm;
  const RawMemberGroup* remote_group = raw_.groups.find(raw.remote);
  auto remote = remote_group ? members(*remote_group) : std::nullopt;
  if (!remote) return std::nullopt;
  comm.kind = CommKind::mpi_inter;
  comm.remote = std::move(*remote);
  return comm;
}

void Resolver::comms() {
  uint64_t unusable = 0;
  for (const RawComm& raw : sorted_by_ref(raw_.comms)) {
    std::optional<Comm> found = comm(raw);
    if (!found) {
      ++unusable;
      continue;
    }
    const bool inter = found->kind == CommKind::mpi_inter;
    const size_t peers = found->kind == CommKind::mpi_self ? 1 : found->members.size();
    const CommRef ref{CommId(out_.definitions.comms.size()),
                      inter ? 0 : static_cast<uint32_t>(peers)};
    if (!out_.tables.comms.add(raw.ref, ref)) {
      ++duplicates_;
      continue;
    }
    out_.definitions.comms.push_back(std::move(*found));
  }
  losses_.add(LossKind::unusable_communicators, unusable);
  find_world();
}

/// The communicator of that name, or else the first over all MPI processes in their order.
void Resolver::find_world() {
  const RawMemberGroup* mpi = locations_of(OTF2_PARADIGM_MPI);
  if (!mpi) return;
  Comm* world = nullptr;
  for (Comm& comm : out_.definitions.comms) {
    const bool whole = comm.kind == CommKind::mpi && comm.members.size() == mpi->members.size() &&
                       std::is_sorted(comm.members.begin(), comm.members.end());
    if (!whole) continue;
    if (!world) world = &comm;
    if (comm.name == "MPI_COMM_WORLD") {
      world = &comm;
      break;
    }
  }
  if (world) world->kind = CommKind::mpi_world;
}

/// Groups of communicators are among them, so they are kept only where events may name a group.
void Resolver::event_groups() {
  const Otf2Tables& tables = out_.tables;
  if (raw_.windows.empty() && tables.sends_to == OTF2_UNDEFINED_ATTRIBUTE &&
      tables.receives_from == OTF2_UNDEFINED_ATTRIBUTE) {
    return;
  }
  for (const OTF2_GroupRef ref : raw_.comm_groups) {
    const RawMemberGroup* group = raw_.groups.find(ref);
    auto known = group ? members(*group) : std::nullopt;
    if (!known || !out_.tables.groups.add(ref, GroupId(out_.definitions.groups.size()))) continue;
    out_.definitions.groups.push_back({std::move(*known)});
  }
}

/// A grid whose communicator or dimensions are unknown is left out: it only serves pictures.
void Resolver::grids() {
  std::map<OTF2_CartTopologyRef, std::vector<const RawGridPlace*>> places;
  for (const RawGridPlace& place : raw_.grid_places) places[place.grid].push_back(&place);
  for (const RawGrid& raw : raw_.grids) {
    const CommRef* comm = out_.tables.comms.find(raw.comm);
    Grid grid;
    for (const OTF2_CartDimensionRef ref : raw.dimensions) {
      if (const GridDimension* known = raw_.grid_dimensions.find(ref)) {
        grid.dimensions.push_back(*known);
      }
    }
    if (!comm || grid.dimensions.size() != raw.dimensions.size()) continue;
    grid.name = text(raw.name);
    grid.comm = comm->id;
    const std::vector<ProcessId>& members = out_.definitions.comms[comm->id.index()].members;
    for (const RawGridPlace* raw_place : places[raw.ref]) {
      if (raw_place->rank >= members.size()) continue;
      GridPlace place{members[raw_place->rank], raw_place->coordinates};
      if (contains(grid, place)) grid.places.push_back(std::move(place));
    }
    out_.definitions.grids.push_back(std::move(grid));
  }
}

void Resolver::windows() {
  for (const RawRmaWin& raw : sorted_by_ref(raw_.windows)) {
    const CommRef* comm = out_.tables.comms.find(raw.comm);
    if (!comm) continue;  // counted as unusable; events on it will be left out
    const WindowRef window{WindowId(out_.definitions.windows.size()), *comm};
    if (!out_.tables.windows.add(raw.ref, window)) {
      ++duplicates_;
    } else {
      out_.definitions.windows.push_back({text(raw.name), comm->id});
    }
  }
}

void Resolver::files() {
  for (const RawIoHandle& raw : sorted_by_ref(raw_.io_handles)) {
    if (!out_.tables.files.add(raw.ref, FileId(out_.definitions.files.size()))) {
      ++duplicates_;
      continue;
    }
    const OTF2_StringRef* name = raw_.io_files.find(raw.file);
    const OTF2_StringRef* paradigm = raw_.io_paradigms.find(raw.paradigm);
    const CommRef* comm = out_.tables.comms.find(raw.comm);
    out_.definitions.files.push_back({text(name ? *name : raw.name),
                                      paradigm ? text(*paradigm) : "",
                                      comm ? comm->id : CommId::none()});
  }
}

}  // namespace

ResolvedDefinitions resolve_definitions(const RawGlobalDefinitions& raw, Losses& losses) {
  return Resolver(raw, losses).run();
}

}  // namespace culprit::trace
