// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "samples.h"

#include <limits>

#include "blame/findings/path_meaning.h"

namespace culprit::report {
namespace {

using blame::Course;
using blame::Factor;
using blame::Findings;
using blame::Movement;
using blame::Shape;
using blame::StepKind;

constexpr CallPathId path(size_t i) {
  return CallPathId(i);
}
constexpr LocationId at(size_t i) {
  return LocationId(i);
}

blame::FoundPeriod a_period() {
  return {blame::SeriesKind::bytes_read,
          "ranks 0",
          blame::SeriesSource::profile,
          1.9901,
          blame::Periodicity::changing,
          1.9902,
          1.9903,
          0.9904,
          0.9905,
          11,
          12,
          13,
          1.9906,
          1.9907,
          1.9908,
          1.9909,
          1.991,
          1.9911};
}

void fill_over_time(Findings& f) {
  f.arrivals = {{1, "MPI_COMM_WORLD", "MPI_Allreduce", at(1), 17, 14, 1.8291, 1.8292, 1.8293}};
  const CallPathId first(0), second(1);
  f.periods = {a_period()};
  f.coverage = {{1.941, 24, 1.942, 0.943, 1.944, 1.945, 1.946}};
  f.windows = {{3, 1.951, 1.952, 1.953, 1.954, 1.955, 1.956, second, 1.957}};
  f.estimates = {{blame::EstimatedFigure::delay, "omp.barrier", first, 2.951, 2.952, 2.953, 2.954,
                  0.61, 0.57, 0.65, 20.5},
                 {blame::EstimatedFigure::waiting, "", CallPathId::none(), 1, 2, 3, 4, 1, 1, 1, 0}};
}

}  // namespace

Findings hybrid_chain() {
  enum { kMain, kRegion, kBarrier, kIdle, kSend, kRecv };
  Findings f;
  f.run.command = "mpirun -n 2 ./hybrid_chain";
  f.run.program = "hybrid_chain";
  f.run.mpi = "Open MPI v4.1.4";
  f.run.openmp = "LLVM OMP version 5.0";
  f.run.ranks = 2;
  f.run.locations = 3;
  f.run.wall_s = 11;
  f.run.allocation_s = 33;
  f.run.overhead_pct = 0.4;
  f.locations = {{"0.0", 0, 0, "n1", 11, 6, ""},
                 {"0.1", 0, 1, "n1", 11, 3, ""},
                 {"1.0", 1, 0, "n1", 11, 7, ""}};
  f.callpaths = {
      {"main", "main", "chain.c", 40},
      {"main/!$omp parallel @chain.c:20", "!$omp parallel @chain.c:20", "chain.c", 20},
      {"main/!$omp parallel @chain.c:20/!$omp implicit barrier", "!$omp implicit barrier", "", 0},
      {"idle", "idle", "", 0},
      {"main/MPI_Send", "MPI_Send", "", 0},
      {"main/MPI_Recv", "MPI_Recv", "", 0}};
  for (blame::FoundCallPath& path : f.callpaths) set_model_by_name(path);
  f.waits = {{"mpi.late_sender", path(kRecv), at(2), 1, 7, 5.25, 0},
             {"omp.barrier", path(kBarrier), at(0), 1, 6, 0, 5.25},
             {"omp.idle_threads", path(kIdle), at(1), 1, 2, 0, 0},
             {"run.early_end", path(kIdle), at(1), 1, 1, 0, 0}};
  f.delays = {{"omp.barrier", path(kRegion), at(1), 6, 5.25},
              {"omp.idle_threads", path(kMain), at(0), 2, 0},
              {"mpi.late_sender", path(kRegion), at(0), 1.75, 0},
              {"run.early_end", path(kSend), at(0), 1, 0}};
  f.victims = {{path(kRegion), at(1), "omp.barrier", path(kBarrier), at(0), 6},
               {path(kMain), at(0), "omp.idle_threads", path(kIdle), at(1), 2},
               {path(kRegion), at(0), "mpi.late_sender", path(kRecv), at(2), 1.75},
               {path(kSend), at(0), "run.early_end", path(kIdle), at(1), 1}};
  f.critical_callpaths = {{path(kRegion), 8, 3, 10, 6, 0, 16},
                          {path(kMain), 2, 0, 5, 0, 2, 7},
                          {path(kRecv), 1, 0, 1, 0, 0, 1}};
  f.critical_path = {{path(kRegion), at(1), 8}, {path(kMain), at(0), 2}, {path(kRecv), at(2), 1}};
  f.idle_blame = {{path(kRegion), at(1), 6}, {path(kMain), at(0), 2}};
  f.idle_nobody = {{at(0), blame::NobodyReason::mpi, 1}};
  f.efficiencies = {{Factor::parallel, Factor::none, 15.0 / 33},
                    {Factor::mpi, Factor::parallel, 23.0 / 33},
                    {Factor::mpi_load_balance, Factor::mpi, 23.0 / 30},
                    {Factor::mpi_communication, Factor::mpi, 10.0 / 11},
                    {Factor::mpi_serialisation, Factor::mpi_communication, 1},
                    {Factor::mpi_transfer, Factor::mpi_communication, 10.0 / 11},
                    {Factor::omp, Factor::parallel, 15.0 / 23},
                    {Factor::omp_serial, Factor::omp, 21.0 / 23},
                    {Factor::omp_load_balance, Factor::omp, 15.0 / 21},
                    {Factor::omp_runtime, Factor::omp, 1}};
  f.instances = {{"mpi.late_sender", path(kRecv), at(2), 3, 10, 7, at(0), path(kRegion), 5.25},
                 {"omp.barrier", path(kBarrier), at(0), 4, 10, 6, at(1), path(kRegion), 0}};
  f.distributions = {{path(kRegion), 13, Shape::overloaded_minority, 3, 1, 2},
                     {path(kMain), 2, Shape::overloaded_minority, 2, 1, 1}};
  f.identities = {16, 16, 0, 11, 11, 16, 0, 9, 8, 1, 0, 0, 0, 0, {}};
  return f;
}

static void fill_devices(Findings& f) {
  f.devices = {{"H100", "n2", at(1), 2, 3, uint64_t{1} << 40, 4, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86,
                0.865, 0.87, 0.88}};
  f.device_times = {{blame::FoundDeviceId(0), 0.891, 0.892, 0.893, 0.894, 0.895, 0.896, 0.897,
                     0.898, path(1), 0.899, true}};
  f.device_blame = {
      {blame::DeviceBlameKind::idle_device, path(1), at(0), 0.89, 0.885, 0.887, 0.886}};
  f.device_calls = {{path(0), at(0), 5, 0.91, 2, 0.92}};
  f.device_operations = {{path(1), at(1), blame::DeviceOperationKind::copy, 6, 0.93, 0.94,
                          uint64_t{1} << 41, 7, true}};
}

Findings every_field() {
  Findings f;
  f.run = {"mpirun -n 2 './a b'",
           "a b",
           "Score-P 8.4",
           "2026-11-21T09:40:00",
           "MPICH 4.0",
           "libomp",
           2,
           3,
           uint64_t{1} << 40,
           1.0 / 3,
           2.0 / 3,
           0.125,
           139,
           blame::Operation::none,
           0.5,
           0.0625,
           1234,
           4,
           {"first note", "second 'note'"}};
  f.locations = {{"0.0", 0, 0, "n1", 1.5, 0.25, ""}, {"1.1", 1, 1, "n2", 2.5, 0.75, "CUDA 7"}};
  f.callpaths = {{"main", "main", "a.c", 1},
                 {"main/f<\xc3\xa9>", "f<\xc3\xa9>", "b.c", 4000000000u, path(0), true, "user"}};
  f.processes = {{1, "n2", 3, 4, 0.101, 0.102}};
  f.start_up = {0.103, 0.104, 0.105};
  f.stuck = {{0, true, true, at(1), "MPI_Recv", "main/f/MPI_Recv", "b.c:8", 1.51, "for it"},
             {0, true, false, at(0), "MPI_Send", "main/MPI_Send", "", 1.52, "for that"}};
  f.stuck_helpers = {{blame::FoundStuckId(0), at(0)},
                     {blame::FoundStuckId(0), at(1)},
                     {blame::FoundStuckId(1), at(1)}};
  f.waits = {{"mpi.late_sender", path(1), at(0), uint64_t{1} << 50, 0.1, 0.2, 0.3},
             {"new.pattern", CallPathId::none(), LocationId::none(), 1, 1e-300, 0, 5e-324}};
  f.delays = {{"mpi.late_sender", path(0), at(1), 0.7, 0.8}};
  f.victims = {{path(0), at(1), "other.pattern", path(1), at(0), 0.9}};
  f.unattributed = {
      {"omp.barrier", blame::Unattributed::circular, std::numeric_limits<double>::max()}};
  f.critical_callpaths = {{path(1), 1.1, 1.2, 1.3, 1.4, 1.5, 1.55}};
  f.critical_path = {{path(1), at(1), 1.6}};
  f.segments = {{at(0), path(0), 0, 1.7}, {at(1), path(1), 1.7, 1.8}};
  f.idle_blame = {{path(1), at(0), 1.81}};
  f.idle_nobody = {{at(1), blame::NobodyReason::io, 1.82}};
  f.lock_blame = {{"fourth.pattern", at(1), path(0), CallPathId::none(), path(1), 5, 1.825}};
  f.polling = {{path(1), at(0), 6, 1.826}};
  f.polling_causes = {{path(0), at(1), 1.5}};
  f.efficiencies = {{Factor::parallel, Factor::none, 0.83}, {Factor::mpi, Factor::parallel, 0.84}};
  f.instances = {{"third.pattern", path(0), at(1), 1.83, 1.84, 1.85, at(0), path(1), 1.855},
                 {"omp.barrier", CallPathId::none(), at(0), 1, 2, 3, LocationId::none(),
                  CallPathId::none(), 0}};
  f.distributions = {{path(1), 1.86, Shape::clusters, 9, 8, 7, Movement::random, Course::growing,
                      StepKind::call, 600, 0, 0, 0.5, 1.9, 0.87, 0.002}};
  f.metrics = {{"PAPI_TOT_INS", "", false}, {"power", "W", true}};
  f.counts = {{MetricId(1), path(0), at(1), 1.88, 1.89}};
  f.stages = {{blame::StageKind::iteration, "loop", -5, 2, 1.905, 1.907, 1.91, 1.92, 1.93, at(1),
               1.94, 0.95, 0.96}};
  fill_over_time(f);
  f.profile = {{path(1), at(1), uint64_t{1} << 33, 1.9}};
  f.message_use = {{path(0), at(1), 11, 5, 3, 2, 1, 1.827, 1.828}};
  f.refills = {{2, "grid 0", "2,1", 13, 2, 1.829}};
  f.gains = {{path(1), blame::GainKind::halved, 1.951, 1.952, 1.954}};
  f.function_gains = {{path(1), blame::GainKind::balanced, -1.953, 1.955}};
  f.topologies = {{"grid 0", blame::TopologyKind::grid, "4,2", "1,0"},
                  {"graph 0", blame::TopologyKind::graph, "", ""}};
  f.topology_places = {{"grid 0", 1, "3,0", "", 0}, {"graph 0", 1, "", "2,0", 3}};
  f.inputs = {{"run1", blame::InputRole::before, "mpirun", 2, 3, 1.961, 1.962, 1.963}};
  f.changes = {{blame::ChangedFigure::delay, "solve", 1.971, 1.972, 1.973, true}};
  f.user_patterns = {{"mine", "something happens"}};
  f.user_waits = {{"mine", path(1), at(0), 7, 1.981}};
  f.location_times = {{at(1), 3, 1.951, 1.952, path(1)}};
  f.callpath_times = {{at(0), 2, path(1), 1.953, 1.954}};
  f.identities = {2.1, 2.2, 2.3, 2.4, 2.5,
                  2.6, 2.7, 2.8, 2.9, 3.0,
                  3.1, 3.2, 3.3, 3.4, {"a is not b", "c is not d"}};
  fill_devices(f);
  f.losses.restore("dropped_records", {7, Severity::data_loss, "disk was full"});
  f.losses.restore("odd", {8, Severity::warning, "w"});
  f.losses.restore("trifle", {9, Severity::info, "i"});
  f.passes = {{"read", 3.1}, {"match", 3.2}};
  return f;
}

}  // namespace culprit::report
