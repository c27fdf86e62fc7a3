// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The process's use of MPI (handlers.h). MPI_Init is what makes a process worth recording: the
// preload library reaches shells and launchers too. Initialising and finalising synchronise like
// collectives on MPI_COMM_WORLD and are recorded as such.

#include <atomic>
#include <cstring>

#include "collector/mpi/facts.h"
#include "collector/mpi/groups/clock_sync.h"
#include "collector/mpi/groups/comm_definition.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/life.h"
#include "collector/process/environment.h"
#include "collector/process/selection.h"

namespace culprit::collector::mpi {
namespace {

CollectiveFacts world_collective(trace::CollectiveOp op) {
  CollectiveFacts facts;
  facts.op = op;
  facts.comm = trace::kRawCommWorld;
  return facts;
}

/// MPI's thread levels as numbers 0..3: their values differ between libraries.
uint32_t thread_level() {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  if (provided == MPI_THREAD_FUNNELED) return 1;
  if (provided == MPI_THREAD_SERIALIZED) return 2;
  if (provided == MPI_THREAD_MULTIPLE) return 3;
  return 0;
}

/// Current uses of MPI: its initialisation, and sessions.
std::atomic<int> uses{0};

/// In a spawned program, MPI_Init has made an inter-communicator to the processes that spawned it:
/// this defines it.
void define_parent(const CallRegion& region) {
  MPI_Comm parent = MPI_COMM_NULL;
  if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent == MPI_COMM_NULL) return;
  CommOrigin birth;
  birth.origin = trace::RawCommOrigin::spawned;
  birth.link = trace::RawCommLink::parent;
  birth.entered = region.begin();
  define_comm(region.log(), region.end(), parent, birth);
  trace::RawProcess* record = process();
  if (record && record->parent[0] == '\0') strcpy(record->parent, "?");
}

void describe_process(trace::RawProcess& process) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &process.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &process.world_size);
  describe_library(process);
}

}  // namespace

void take_launchers_word() {
  trace::RawProcess* record = process();
  const Environment& told = environment();
  if (!record || record->world_rank >= 0 || told.launcher_rank < 0) return;
  if (told.launcher_size <= told.launcher_rank) return;
  record->world_rank = told.launcher_rank;
  record->world_size = told.launcher_size;
}

void describe_library(trace::RawProcess& process) {
  process.thread_level = thread_level();
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int written = 0;
  PMPI_Get_library_version(version, &written);
  version[strcspn(version, "\n")] = '\0';
  const size_t length = strnlen(version, sizeof process.mpi_library - 1);
  memcpy(process.mpi_library, version, length);
}

void mpi_begins(const CallRegion& region) {
  if (uses.fetch_add(1) > 0) return;
  region.log().put(region.end(), raw::mpi_init_done{});
  if (trace::RawProcess* record = process()) record->finalized = 0;
}

void mpi_ends(const CallRegion& region) {
  if (uses.fetch_sub(1) != 1) return;
  if (region) region.log().put(region.end(), raw::mpi_finalized{});
  if (trace::RawProcess* record = process()) record->finalized = 1;
  checkpoint();
}

/// Records MPI_Init.
int initialize(const Function& function, RealCall call) {
  CallRegion region(function);
  region.awaits(trace::RawAwaits::init, trace::kRawCommWorld);
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  register_predefined_comms();
  if (trace::RawProcess* record = process()) {
    describe_process(*record);
    rank_is_known(record->world_rank);
  }
  mpi_begins(region);
  put_collective(region.log(), region.end(), world_collective(trace::CollectiveOp::create_handle));
  define_parent(region);
  checkpoint();  // MPI has loaded its libraries by now; and a program that is killed later has two
                 // clock readings
  return rc;
}

int on_init(const Function& function, RealCall call) {
  activate();
  take_launchers_word();
  clock_sync::announce();
  const int rc = initialize(function, call);
  if (rc == MPI_SUCCESS) clock_sync::meet_at_start();
  return rc;
}

int on_finalize(const Function& function, RealCall call) {
  checkpoint();  // nothing of MPI has been torn down yet
  CallRegion region(function);
  if (region) forget_predefined_comms();
  region.awaits(trace::RawAwaits::finalize, trace::kRawCommWorld);
  auto meet_and_finalize = [&] {
    clock_sync::meet_at_end();
    return call();
  };
  const int rc = region.run(meet_and_finalize);
  if (region && rc != MPI_SUCCESS) register_predefined_comms();
  if (rc != MPI_SUCCESS) return rc;
  if (region) {
    const CollectiveFacts facts = world_collective(trace::CollectiveOp::destroy_handle);
    put_collective(region.log(), region.end(), facts);
  }
  mpi_ends(region);
  checkpoint();
  return rc;
}

void on_pcontrol(int level) {
  if (level == 0 || level == 1) switch_recording(level == 1);
}

int on_abort(const Function& function, RealCall call) {
  checkpoint();  // the last chance to do so
  CallRegion region(function);
  return region.run(call);
}

}  // namespace culprit::collector::mpi
