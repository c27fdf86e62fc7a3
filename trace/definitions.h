// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a trace says before its first event: locations, processes, regions, communicators. The same
// struct is filled from an OTF2 archive, from the text form that tests draw, and by the assembler
// before it writes an archive. It assumes MPI ranks 0..n-1 are processes in their order of rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/paradigm.h"

namespace culprit::trace {

/// The role of a region, as far as any stage needs it. Other OTF2 roles become `function`.
enum class RegionRole : uint8_t {
  unknown,
  function,
  point_to_point,
  collective,
  barrier,           ///< explicit barrier (MPI_Barrier, omp barrier)
  implicit_barrier,  ///< barrier at the end of an OpenMP construct or region
  parallel,
  worksharing,  ///< loop, sections, single, workshare
  task,
  task_wait,
  critical,
  lock,
  data_transfer,
  kernel,
  artificial,  ///< the measurement system's own (buffer flush)
  code,        ///< a part that the user named
  phase,       ///< a stage of the run that the user named
  iteration,   ///< one turn of a loop that the user named; its number comes as an event
};

/// The region in place of a part that was not recorded. Calls in it are unknown, except for MPI's
/// messages and collectives: each call that had any is a visit of its own.
inline constexpr std::string_view kNotRecorded = "(not recorded)";

/// Time for which the function is unknown: no sample was taken in code of its kind.
inline constexpr std::string_view kNotSampled = "(not sampled)";

/// Work of a device's runtime in a call of the program's for its own sake: it makes a context, or
/// loads and compiles code. It nests in the call.
inline constexpr std::string_view kDeviceStartUp = "device start-up";

/// How the creator of archives begins that culprit's own assembly has written.
inline constexpr std::string_view kOwnCreator = "culprit ";

struct Region {
  std::string
      name;  ///< as the user knows it: demangled function, "MPI_Recv", "!$omp parallel @a.c:7"
  RegionRole role = RegionRole::unknown;
  Paradigm paradigm = Paradigm::unknown;
  std::string file;   ///< empty if unknown
  uint32_t line = 0;  ///< 0 if unknown
};

enum class LocationKind : uint8_t { cpu_thread, accelerator_stream, other };

struct Location {
  std::string name;
  LocationKind kind = LocationKind::cpu_thread;
  ProcessId process;                   ///< of a stream: the host's that made its queue
  uint32_t thread = 0;                 ///< number within its process; 0 is the master
  uint64_t file_id = 0;                ///< the archive's own number of it
  uint64_t event_count = 0;            ///< as the trace promises, about; 0 if unknown
  DeviceId device = DeviceId::none();  ///< of a stream; none if the archive does not tell
  /// For a stream: its queue's number in the process. An out-of-order queue has several streams, as
  /// its operations overlap.
  uint32_t queue = 0;
  /// Of a stream: nothing is known of it afterwards, though its process goes on.
  Time observed_until = Time::max();
};

/// A device that executes operations of streams. One that several processes use is listed once.
struct Device {
  std::string name;  ///< "NVIDIA H100 80GB HBM3"
  std::string node;
  std::string identity;  ///< what tells it from others of its node: bus address, number
};

struct Process {
  std::string name;
  std::string node;
  uint32_t rank = 0;                  ///< world rank; processes without MPI count from 0
  std::vector<LocationId> locations;  ///< by thread number
};

enum class CommKind : uint8_t { mpi_world, mpi_self, mpi, mpi_inter, thread_team, other };

struct Comm {
  std::string name;
  CommKind kind = CommKind::mpi;
  std::vector<ProcessId>
      members;                    ///< by rank in the communicator; for `mpi_self` empty: the caller
  std::vector<ProcessId> remote;  ///< the other group, for inter-communicators
};

enum class MetricMode : uint8_t {
  accumulated,  ///< the value is the increase since it was read last
  relative,     ///< what came since it was read last
  level,        ///< a height at the moment
};

struct Metric {
  std::string name;  ///< "PAPI_TOT_INS", "ru_minflt"
  std::string unit;  ///< empty for plain counts
  MetricMode mode = MetricMode::accumulated;
  bool operator==(const Metric&) const = default;
};
/// Metrics that are read together.
using MetricSet = std::vector<MetricId>;

/// A set of processes that takes part in something, in any order.
struct Group {
  std::vector<ProcessId> members;
};

struct Window {
  std::string name;
  CommId comm;
};

/// One opening of a file.
struct File {
  std::string name;      ///< as the program gave it
  std::string paradigm;  ///< "MPI-IO"; others in other tools' traces
  CommId comm;           ///< who opened it together; none: one process alone
};

struct GridDimension {
  uint32_t size = 0;
  bool periodic = false;
  bool operator==(const GridDimension&) const = default;
};
struct GridPlace {
  ProcessId process;
  std::vector<uint32_t> coordinates;  ///< by dimension
  bool operator==(const GridPlace&) const = default;
};
/// A Cartesian arrangement of a communicator's processes.
struct Grid {
  std::string name;
  CommId comm;
  std::vector<GridDimension> dimensions;
  std::vector<GridPlace> places;  ///< of the processes that gave theirs
};
/// Whether the place is one of the grid.
inline bool contains(const Grid& grid, const GridPlace& place) {
  if (place.coordinates.size() != grid.dimensions.size()) return false;
  for (size_t d = 0; d < grid.dimensions.size(); ++d) {
    if (place.coordinates[d] >= grid.dimensions[d].size) return false;
  }
  return true;
}

struct GraphPlace {
  ProcessId process;
  std::vector<ProcessId> neighbors;  ///< processes that it sends to; maybe only the first of them
  uint64_t all = 0;                  ///< how many it has
  bool operator==(const GraphPlace&) const = default;
};
/// The neighbours of each process in a communicator. OTF2 has no such definition.
struct Graph {
  std::string name;
  CommId comm;
  std::vector<GraphPlace> places;  ///< of the processes that gave theirs
};

struct Definitions {
  std::vector<Region> regions;      ///< by RegionId
  std::vector<Location> locations;  ///< by LocationId
  std::vector<Process> processes;   ///< by ProcessId
  std::vector<Device> devices;      ///< by DeviceId
  bool devices_untold = false;      ///< their operations have no numbers
  std::vector<Comm> comms;          ///< by CommId
  std::vector<Group> groups;        ///< by GroupId
  std::vector<Window> windows;      ///< by WindowId
  std::vector<File> files;          ///< by FileId
  std::vector<Grid> grids;
  std::vector<Graph> graphs;
  std::vector<Metric> metrics;         ///< by MetricId
  std::vector<MetricSet> metric_sets;  ///< by MetricSetId
  std::string program;                 ///< command line, if the trace tells
  uint64_t origin_realtime_ns = 0;     ///< CLOCK_REALTIME at time 0; 0: unknown
  std::string creator;                 ///< "culprit 0.1", "Score-P 8.4"
  std::vector<std::pair<std::string, std::string>> properties;  ///< trace properties, as written

  /// Whether calls and streams tell which operations they mean; other tools' archives do not.
  bool numbers_operations() const { return !devices.empty() && !devices_untold; }
};

}  // namespace culprit::trace
