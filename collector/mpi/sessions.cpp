// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first session that a process makes describes it. Handles of Fortran are turned into those of
// C by the library's own function.
#include "collector/mpi/sessions.h"

#include "collector/mpi/life.h"
#include "collector/mpi/world.h"
#include "collector/process/selection.h"

// Older libraries of the same binary interface have no sessions, and this library must still load
// with them. The code below runs only if the program has called MPI_Session_init.
#pragma weak PMPI_Group_from_session_pset
#pragma weak PMPI_Session_f2c

namespace culprit::collector::mpi {
namespace {

MPI_Session session_from_fortran(MPI_Fint f) {
  return PMPI_Session_f2c(f);
}

MPI_Session session_at(const HandlePlace& handle) {
  return Returned<MPI_Session, session_from_fortran>(handle.language, handle.place).get();
}

/// Records which rank this process is, unless MPI_Init has done so already or will.
void describe_process(trace::RawProcess& process, MPI_Group world) {
  int rank = MPI_UNDEFINED, size = 0;
  PMPI_Group_rank(world, &rank);
  PMPI_Group_size(world, &size);
  if (rank == MPI_UNDEFINED) return;
  process.world_rank = rank;
  process.world_size = size;
  rank_is_known(rank);
}

void learn_world(MPI_Session session) {
  MPI_Group world = MPI_GROUP_NULL;
  if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS) return;
  if (trace::RawProcess* record = process()) describe_process(*record, world);
  if (!lend_world_group(key_of(session), world)) PMPI_Group_free(&world);
}

}  // namespace

int on_session_init(const Function& function, const HandlePlace& session, RealCall call) {
  activate();
  take_launchers_word();
  CallRegion region(function);
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  learn_world(session_at(session));
  if (trace::RawProcess* record = process()) describe_library(*record);
  mpi_begins(region);
  checkpoint();  // MPI has loaded its libraries by now
  return rc;
}

int on_session_finalize(const Function& function, const HandlePlace& session, RealCall call) {
  checkpoint();
  CallRegion region(function);
  if (region) {
    MPI_Group world = take_back_world_group(key_of(session_at(session)));
    if (world != MPI_GROUP_NULL) PMPI_Group_free(&world);
  }
  const int rc = region.run(call);
  if (rc == MPI_SUCCESS) mpi_ends(region);
  return rc;
}

}  // namespace culprit::collector::mpi
