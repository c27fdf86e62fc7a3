// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The life of MPI in the process (handlers.h). MPI_Init is what makes a process worth recording:
// the preload library reaches shells and launchers too. Initialising and finalising synchronise
// like collectives on MPI_COMM_WORLD and are recorded as such.

#include <cstring>

#include "collector/mpi/comms.h"
#include "collector/mpi/facts.h"
#include "collector/mpi/handlers.h"

namespace culprit::collector::mpi {
namespace {

CollectiveFacts world_collective(trace::CollectiveOp op) {
  CollectiveFacts facts;
  facts.op = op;
  facts.comm = trace::kRawCommWorld;
  return facts;
}

/// MPI's levels as numbers 0..3: their values are the library's own business.
uint32_t thread_level() {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  if (provided == MPI_THREAD_FUNNELED) return 1;
  if (provided == MPI_THREAD_SERIALIZED) return 2;
  if (provided == MPI_THREAD_MULTIPLE) return 3;
  return 0;
}

void describe_process(trace::RawProcess& process) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &process.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &process.world_size);
  process.thread_level = thread_level();
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int written = 0;
  PMPI_Get_library_version(version, &written);
  version[strcspn(version, "\n")] = '\0';
  const size_t length = strnlen(version, sizeof process.mpi_library - 1);
  memcpy(process.mpi_library, version, length);
}

}  // namespace

int on_init(const Function& function, RealCall call) {
  activate();
  Region region(function);
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  register_predefined_comms();
  if (trace::RawProcess* record = process()) describe_process(*record);
  region.log().put(RawKind::mpi_init_done, region.end());
  put_collective(region.log(), region.end(), world_collective(trace::CollectiveOp::create_handle));
  checkpoint();  // MPI has loaded its parts; and a program that is killed has two clock readings
  return rc;
}

int on_finalize(const Function& function, RealCall call) {
  checkpoint();  // while nothing of MPI is being torn down
  Region region(function);
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  put_collective(region.log(), region.end(), world_collective(trace::CollectiveOp::destroy_handle));
  region.log().put(RawKind::mpi_finalized, region.end());
  if (trace::RawProcess* record = process()) record->finalized = 1;
  checkpoint();
  return rc;
}

int on_abort(const Function& function, RealCall call) {
  checkpoint();  // the last chance
  Region region(function);
  return region.run(call);
}

}  // namespace culprit::collector::mpi
