// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Strings are written where they are first needed, so every record comes after those it refers to.
#include "trace/otf2/define.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "trace/otf2/names.h"

namespace culprit::trace {

namespace {

class DefinitionWriter {
 public:
  DefinitionWriter(OTF2_GlobalDefWriter* writer, const Definitions& definitions,
                   const std::vector<WrittenLocation>& written)
      : writer_(writer), definitions_(definitions), written_(written) {}

  TeamReferences run() {
    clock();
    text("");
    paradigms();
    attributes();
    facts();
    parameters();
    device_words();
    system_tree();
    devices();
    locations();
    regions();
    metrics();
    mpi_comms();
    grids();
    windows();
    files();
    thread_teams();
    return std::move(result_);
  }

 private:
  void clock();
  void paradigms();
  void paradigm(OTF2_Paradigm paradigm, const char* name, OTF2_ParadigmClass kind,
                const char* comm_names);
  void attributes();
  void facts();
  void parameters();
  void device_words();
  void system_tree();
  void devices();
  OTF2_LocationGroupRef group_of(const Location& location);
  void locations();
  void regions();
  void metrics();
  void mpi_comms();
  void mpi_comm(OTF2_CommRef ref, const Comm& comm);
  void event_groups();
  void grids();
  void windows();
  void files();
  void thread_teams();
  std::vector<bool> processes_with_team() const;

  void check(OTF2_ErrorCode status) {
    if (status != OTF2_SUCCESS) result_.status = status;
  }
  OTF2_StringRef text(const std::string& text);
  OTF2_GroupRef group(const std::string& name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                      const std::vector<uint64_t>& members);
  OTF2_GroupRef mpi_group(const std::vector<ProcessId>& members);
  bool has_mpi() const;

  OTF2_GlobalDefWriter* writer_;
  const Definitions& definitions_;
  const std::vector<WrittenLocation>& written_;
  std::map<std::string, OTF2_StringRef, std::less<>> strings_;
  std::map<std::string, OTF2_SystemTreeNodeRef> nodes_;
  std::vector<OTF2_SystemTreeNodeRef> device_nodes_;  ///< by DeviceId
  std::map<std::pair<ProcessId, DeviceId>, OTF2_LocationGroupRef> device_groups_;
  std::map<std::vector<ProcessId>, OTF2_GroupRef> mpi_groups_;
  OTF2_GroupRef next_group_ = 0;
  TeamReferences result_;
};

/// A record must fit into a chunk.
std::string clipped(const std::string& text) {
  constexpr size_t kLongest = 64 << 10;
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

OTF2_StringRef DefinitionWriter::text(const std::string& text) {
  auto [it, is_new] = strings_.emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (is_new) {
    check(OTF2_GlobalDefWriter_WriteString(writer_, it->second, clipped(text).c_str()));
  }
  return it->second;
}

OTF2_GroupRef DefinitionWriter::group(const std::string& name, OTF2_GroupType type,
                                      OTF2_Paradigm paradigm,
                                      const std::vector<uint64_t>& members) {
  const OTF2_StringRef name_ref = text(name);
  check(OTF2_GlobalDefWriter_WriteGroup(writer_, next_group_, name_ref, type, paradigm,
                                        OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(members.size()),
                                        members.data()));
  return next_group_++;
}

void DefinitionWriter::clock() {
  uint64_t length = 0;
  for (const WrittenLocation& location : written_) length = std::max(length, location.last);
  const uint64_t origin = definitions_.origin_realtime_ns;
  const uint64_t realtime = origin == 0 ? uint64_t{OTF2_UNDEFINED_TIMESTAMP} : origin;
  check(OTF2_GlobalDefWriter_WriteClockProperties(writer_, 1'000'000'000, 0, length, realtime));
}

bool DefinitionWriter::has_mpi() const {
  return std::any_of(definitions_.comms.begin(), definitions_.comms.end(), [](const Comm& comm) {
    return comm.kind != CommKind::thread_team && comm.kind != CommKind::other;
  });
}

void DefinitionWriter::paradigm(OTF2_Paradigm paradigm, const char* name, OTF2_ParadigmClass kind,
                                const char* comm_names) {
  check(OTF2_GlobalDefWriter_WriteParadigm(writer_, paradigm, text(name), kind));
  OTF2_AttributeValue value;
  value.stringRef = text(comm_names);
  check(OTF2_GlobalDefWriter_WriteParadigmProperty(
      writer_, paradigm, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE, OTF2_TYPE_STRING, value));
}

void DefinitionWriter::paradigms() {
  if (has_mpi()) {
    paradigm(OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS, "MPI Communicator ${id}");
  }
  paradigm(OTF2_PARADIGM_OPENMP, "OpenMP", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN,
           "OpenMP Thread Team ${id}");
}

void DefinitionWriter::attributes() {
  struct Attribute {
    OTF2_AttributeRef ref;
    std::string_view name;
    const char* description;
    OTF2_Type type;
  };
  static constexpr Attribute kAttributes[] = {
      {kRegionInstanceRef, kRegionInstanceAttribute,
       "Parallel region, the same number on all threads of the team", OTF2_TYPE_UINT64},
      {kMutexKindRef, kMutexKindAttribute,
       "0 lock, 1 critical, 2 ordered, 3 atomic, 4 other, 5 nest lock", OTF2_TYPE_UINT8},
      {kMutexIdRef, kMutexIdAttribute, "The lock, where its number exceeds 32 bits",
       OTF2_TYPE_UINT64},
      {kCollectiveOpRef, kCollectiveOpAttribute,
       "17 creates, 18 frees a communicator or file (written as a barrier), 19 neighbourhood "
       "collective, 20 any other that OTF2 has no name for (written as all-to-all)",
       OTF2_TYPE_UINT8},
      {kRmaAssertionsRef, kRmaAssertionsAttribute,
       "Sum of 1 no check, 2 no store, 4 no put, 8 no precede, 16 no succeed", OTF2_TYPE_UINT8},
      {kSendsToRef, kSendsToAttribute, "The processes that this one sends data to",
       OTF2_TYPE_GROUP},
      {kReceivesFromRef, kReceivesFromAttribute, "The processes that this one receives data from",
       OTF2_TYPE_GROUP},
      {kPartitionedRef, kPartitionedAttribute,
       "Which pair of partitioned requests with this communicator, peer and tag, from 1",
       OTF2_TYPE_UINT32},
      {kReadyRequestRef, kReadyRequestAttribute,
       "The partitioned send whose last partition was marked ready", OTF2_TYPE_UINT64},
      {kMatchedProbeRef, kMatchedProbeAttribute,
       "The matched probe that found the message, the same number on its receive",
       OTF2_TYPE_UINT64},
      {kFoundCommRef, kFoundCommAttribute, "Communicator of the message that a probe found",
       OTF2_TYPE_COMM},
      {kFoundSourceRef, kFoundSourceAttribute, "Rank of its sender", OTF2_TYPE_UINT32},
      {kFoundTagRef, kFoundTagAttribute, "Its tag", OTF2_TYPE_UINT32},
      {kFoundBytesRef, kFoundBytesAttribute, "Its length", OTF2_TYPE_UINT64},
  };
  static_assert(std::size(kAttributes) == kAttributeCount);
  static_assert(static_cast<int>(CollectiveOp::create_handle) == 17);
  static_assert(static_cast<int>(CollectiveOp::neighbor) == 19);
  for (const Attribute& a : kAttributes) {
    const OTF2_StringRef name = text(std::string(a.name));
    check(OTF2_GlobalDefWriter_WriteAttribute(writer_, a.ref, name, text(a.description), a.type));
  }
}

void DefinitionWriter::facts() {
  for (size_t i = 0; i < kFactCount; ++i) {
    const auto fact = static_cast<Fact>(i);
    const OTF2_StringRef name = text(std::string(kFactPrefix) + fact_name(fact));
    check(OTF2_GlobalDefWriter_WriteParameter(writer_, fact_ref(fact), name,
                                              OTF2_PARAMETER_TYPE_UINT64));
  }
}

void DefinitionWriter::parameters() {
  const bool wanted =
      std::any_of(definitions_.regions.begin(), definitions_.regions.end(),
                  [](const Region& region) { return region.role == RegionRole::iteration; });
  // Those for devices have the next references, and there may be no gap.
  if (!wanted && definitions_.devices.empty()) return;
  check(OTF2_GlobalDefWriter_WriteParameter(
      writer_, kIterationRef, text(std::string(kIterationParameter)), OTF2_PARAMETER_TYPE_INT64));
}

void DefinitionWriter::device_words() {
  if (definitions_.devices.empty()) return;
  for (size_t i = 0; i < kDeviceAttributeCount; ++i) {
    const DeviceAttributeText& each = kDeviceAttributes[i];
    const OTF2_StringRef name = text(std::string(each.name));
    check(OTF2_GlobalDefWriter_WriteAttribute(writer_, device_ref(static_cast<DeviceAttribute>(i)),
                                              name, text(each.description), each.type));
  }
  for (size_t i = 0; i < kDeviceParameterCount; ++i) {
    check(OTF2_GlobalDefWriter_WriteParameter(writer_, device_ref(static_cast<DeviceParameter>(i)),
                                              text(std::string(kDeviceParameters[i])),
                                              OTF2_PARAMETER_TYPE_UINT64));
  }
}

void DefinitionWriter::system_tree() {
  constexpr OTF2_SystemTreeNodeRef kMachine = 0;
  const OTF2_StringRef machine = text("machine");
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, kMachine, machine, machine,
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, kMachine,
                                                       OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
  for (const Process& process : definitions_.processes) {
    const auto ref = static_cast<OTF2_SystemTreeNodeRef>(nodes_.size() + 1);
    if (!nodes_.emplace(process.node, ref).second) continue;
    const OTF2_StringRef name = text(process.node);
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, ref, name, text("node"), kMachine));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, ref,
                                                         OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
  }
}

/// Nodes below those that the devices are in, in the order of their ids.
void DefinitionWriter::devices() {
  for (size_t i = 0; i < definitions_.devices.size(); ++i) {
    const Device& device = definitions_.devices[i];
    const auto node = nodes_.find(device.node);
    const auto ref = static_cast<OTF2_SystemTreeNodeRef>(1 + nodes_.size() + i);
    const OTF2_StringRef name = text(device.name);
    const OTF2_StringRef kind = text(std::string(kDeviceClass));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, ref, name, kind,
                                                   node == nodes_.end() ? 0 : node->second));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
        writer_, ref, OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE));
    OTF2_AttributeValue identity;
    identity.stringRef = text(device.identity);
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
        writer_, ref, text(std::string(kIdentityProperty)), OTF2_TYPE_STRING, identity));
    device_nodes_.push_back(ref);
  }
}

/// A process's streams on one device are a group that it has created.
OTF2_LocationGroupRef DefinitionWriter::group_of(const Location& location) {
  const auto process = static_cast<OTF2_LocationGroupRef>(location.process.index());
  if (!location.device.valid()) return process;
  const auto next =
      static_cast<OTF2_LocationGroupRef>(definitions_.processes.size() + device_groups_.size());
  const auto [group, is_new] =
      device_groups_.try_emplace({location.process, location.device}, next);
  if (is_new) {
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        writer_, group->second, text(definitions_.devices[location.device.index()].name),
        OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, device_nodes_[location.device.index()], process));
  }
  return group->second;
}

void DefinitionWriter::locations() {
  for (size_t p = 0; p < definitions_.processes.size(); ++p) {
    const Process& process = definitions_.processes[p];
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        writer_, static_cast<OTF2_LocationGroupRef>(p), text(process.name),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, nodes_.at(process.node), OTF2_UNDEFINED_LOCATION_GROUP));
  }
  for (size_t i = 0; i < definitions_.locations.size(); ++i) {
    const Location& location = definitions_.locations[i];
    const OTF2_LocationRef ref = location_ref(location.process, location.thread);
    const OTF2_LocationGroupRef group = group_of(location);
    check(OTF2_GlobalDefWriter_WriteLocation(writer_, ref, text(location.name),
                                             to_otf2(location.kind), written_[i].events, group));
    if (location.kind != LocationKind::accelerator_stream) continue;
    OTF2_AttributeValue queue;
    queue.uint32 = location.queue;
    check(OTF2_GlobalDefWriter_WriteLocationProperty(
        writer_, ref, text(std::string(kQueueProperty)), OTF2_TYPE_UINT32, queue));
  }
}

namespace {

/// Scalasca's analyser knows calls of MPI by the file that Score-P gives them.
std::string file_of(const Region& region) {
  return region.file.empty() && region.paradigm == Paradigm::mpi ? "MPI" : region.file;
}

}  // namespace

void DefinitionWriter::regions() {
  for (size_t i = 0; i < definitions_.regions.size(); ++i) {
    const Region& region = definitions_.regions[i];
    const OTF2_StringRef name = text(region.name);
    check(OTF2_GlobalDefWriter_WriteRegion(
        writer_, static_cast<OTF2_RegionRef>(i), name, name, text(""), to_otf2(region.role),
        to_otf2(region.paradigm), flags_of(region.role), text(file_of(region)), region.line, 0));
  }
}

/// Read at enters and leaves, but not at all: those between constructs are made of samples.
void DefinitionWriter::metrics() {
  for (size_t i = 0; i < definitions_.metrics.size(); ++i) {
    const Metric& metric = definitions_.metrics[i];
    const OTF2_StringRef name = text(metric.name);
    const OTF2_StringRef unit = text(metric.unit.empty() ? "#" : metric.unit);
    check(OTF2_GlobalDefWriter_WriteMetricMember(
        writer_, static_cast<OTF2_MetricMemberRef>(i), name, text(""), metric_type(metric.name),
        to_otf2(metric.mode), OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
  }
  for (size_t i = 0; i < definitions_.metric_sets.size(); ++i) {
    std::vector<OTF2_MetricMemberRef> members;
    for (const MetricId metric : definitions_.metric_sets[i]) {
      members.push_back(static_cast<OTF2_MetricMemberRef>(metric.index()));
    }
    check(OTF2_GlobalDefWriter_WriteMetricClass(
        writer_, static_cast<OTF2_MetricRef>(i), static_cast<uint8_t>(members.size()),
        members.data(), OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
  }
}

/// Members are ranks: indices into MPI's group of locations, which lists the masters by process.
OTF2_GroupRef DefinitionWriter::mpi_group(const std::vector<ProcessId>& members) {
  if (auto it = mpi_groups_.find(members); it != mpi_groups_.end()) return it->second;
  std::vector<uint64_t> ranks;
  ranks.reserve(members.size());
  for (ProcessId process : members) ranks.push_back(process.index());
  const OTF2_GroupRef ref = group("", OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, ranks);
  mpi_groups_.emplace(members, ref);
  return ref;
}

void DefinitionWriter::mpi_comm(OTF2_CommRef ref, const Comm& comm) {
  const OTF2_StringRef name = text(comm.name);
  if (comm.kind == CommKind::mpi_inter) {
    const OTF2_GroupRef local = mpi_group(comm.members);
    check(OTF2_GlobalDefWriter_WriteInterComm(writer_, ref, name, local, mpi_group(comm.remote),
                                              OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    return;
  }
  const OTF2_GroupRef members = comm.kind == CommKind::mpi_self
                                    ? group("", OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, {})
                                    : mpi_group(comm.members);
  check(OTF2_GlobalDefWriter_WriteComm(writer_, ref, name, members, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE));
}

void DefinitionWriter::mpi_comms() {
  if (!has_mpi()) return;
  std::vector<uint64_t> masters;
  for (size_t p = 0; p < definitions_.processes.size(); ++p) {
    masters.push_back(location_ref(ProcessId(p), 0));
  }
  group("", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, masters);
  event_groups();
  for (size_t i = 0; i < definitions_.comms.size(); ++i) {
    const Comm& comm = definitions_.comms[i];
    if (comm.kind == CommKind::thread_team || comm.kind == CommKind::other) continue;
    mpi_comm(static_cast<OTF2_CommRef>(i), comm);
  }
}

/// Events were written before anything was defined, so these have places of their own.
void DefinitionWriter::event_groups() {
  CULPRIT_CHECK(next_group_ == kFirstEventGroup);
  for (const Group& each : definitions_.groups) {
    std::vector<uint64_t> ranks;
    for (ProcessId process : each.members) ranks.push_back(process.index());
    group("", OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, ranks);
  }
}

void DefinitionWriter::grids() {
  OTF2_CartDimensionRef next = 0;
  for (size_t i = 0; i < definitions_.grids.size(); ++i) {
    const Grid& grid = definitions_.grids[i];
    std::vector<OTF2_CartDimensionRef> dimensions;
    for (const GridDimension& each : grid.dimensions) {
      dimensions.push_back(next++);
      check(OTF2_GlobalDefWriter_WriteCartDimension(
          writer_, dimensions.back(), text(std::to_string(dimensions.size() - 1)), each.size,
          each.periodic ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
    }
    const auto ref = static_cast<OTF2_CartTopologyRef>(i);
    const auto count = static_cast<uint8_t>(dimensions.size());
    check(OTF2_GlobalDefWriter_WriteCartTopology(writer_, ref, text(grid.name),
                                                 static_cast<OTF2_CommRef>(grid.comm.index()),
                                                 count, dimensions.data()));
    std::unordered_map<ProcessId, uint32_t> ranks;
    for (ProcessId member : definitions_.comms[grid.comm.index()].members) {
      ranks.emplace(member, static_cast<uint32_t>(ranks.size()));
    }
    for (const GridPlace& place : grid.places) {
      const auto rank = ranks.find(place.process);
      if (rank == ranks.end()) continue;
      check(OTF2_GlobalDefWriter_WriteCartCoordinate(writer_, ref, rank->second, count,
                                                     place.coordinates.data()));
    }
  }
}

void DefinitionWriter::windows() {
  for (size_t i = 0; i < definitions_.windows.size(); ++i) {
    const Window& window = definitions_.windows[i];
    check(OTF2_GlobalDefWriter_WriteRmaWin(
        writer_, static_cast<OTF2_RmaWinRef>(i), text(window.name),
        static_cast<OTF2_CommRef>(window.comm.index()), OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
  }
}

/// Openings of one name are taken for openings of one file, which all nodes see.
void DefinitionWriter::files() {
  constexpr OTF2_SystemTreeNodeRef kMachine = 0;
  std::map<std::string, uint32_t> paradigms;
  std::map<std::string, uint32_t> names;
  for (size_t i = 0; i < definitions_.files.size(); ++i) {
    const File& file = definitions_.files[i];
    const auto [paradigm, new_paradigm] =
        paradigms.emplace(file.paradigm, static_cast<uint32_t>(paradigms.size()));
    if (new_paradigm) {
      const bool mpi = file.paradigm == "MPI-IO";
      check(OTF2_GlobalDefWriter_WriteIoParadigm(
          writer_, paradigm->second, text(file.paradigm), text(mpi ? "MPI I/O" : file.paradigm),
          mpi ? OTF2_IO_PARADIGM_CLASS_PARALLEL : OTF2_IO_PARADIGM_CLASS_SERIAL,
          OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr, nullptr, nullptr));
    }
    const auto [name, new_name] = names.emplace(file.name, static_cast<uint32_t>(names.size()));
    if (new_name) {
      check(OTF2_GlobalDefWriter_WriteIoRegularFile(writer_, name->second, text(file.name),
                                                    kMachine));
    }
    check(OTF2_GlobalDefWriter_WriteIoHandle(
        writer_, static_cast<OTF2_IoHandleRef>(i), text(""), name->second,
        static_cast<OTF2_IoParadigmRef>(paradigm->second), OTF2_IO_HANDLE_FLAG_NONE,
        file.comm.valid() ? static_cast<OTF2_CommRef>(file.comm.index()) : OTF2_UNDEFINED_COMM,
        OTF2_UNDEFINED_IO_HANDLE));
  }
}

std::vector<bool> DefinitionWriter::processes_with_team() const {
  std::vector<bool> with_team(definitions_.processes.size());
  for (size_t i = 0; i < written_.size(); ++i) {
    if (written_[i].team) with_team[definitions_.locations[i].process.index()] = true;
  }
  return with_team;
}

/// One team per process, over all its CPU threads: ThreadTeamBegin records show which of them take
/// part in a region.
void DefinitionWriter::thread_teams() {
  const std::vector<bool> wanted = processes_with_team();
  result_.by_process.assign(wanted.size(), OTF2_UNDEFINED_COMM);
  std::vector<uint64_t> threads;
  std::vector<std::vector<uint64_t>> teams(wanted.size());
  for (const Location& location : definitions_.locations) {
    const size_t process = location.process.index();
    if (!wanted[process] || location.kind != LocationKind::cpu_thread) continue;
    teams[process].push_back(threads.size());
    threads.push_back(location_ref(location.process, location.thread));
  }
  if (threads.empty()) return;
  group("OpenMP", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP, threads);
  auto next = static_cast<OTF2_CommRef>(definitions_.comms.size());
  for (size_t p = 0; p < teams.size(); ++p) {
    if (!wanted[p]) continue;
    const OTF2_GroupRef members =
        group("", OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, teams[p]);
    check(OTF2_GlobalDefWriter_WriteComm(writer_, next, text(""), members, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
    result_.by_process[p] = next++;
  }
}

}  // namespace

TeamReferences write_definitions(OTF2_GlobalDefWriter* writer, const Definitions& definitions,
                                 const std::vector<WrittenLocation>& written) {
  return DefinitionWriter(writer, definitions, written).run();
}

}  // namespace culprit::trace
