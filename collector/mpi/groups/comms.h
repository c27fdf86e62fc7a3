// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators, identified by a number of ours that is unique in the process. The facts that every
// call needs (number, sizes, own rank) are kept, so that a record needs no query of MPI.
//
// A handle may be reused by MPI once its communicator is freed; entries are therefore given back by
// entry, not by handle. Windows and files are keys too: each stands for the communicator it was
// made on, whose processes its collective calls synchronise.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "collector/mpi/groups/comm.h"
#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// From MPI_Init on: registers MPI_COMM_WORLD and MPI_COMM_SELF. They stay until just before
/// MPI_Finalize: programs that use sessions go on.
void register_predefined_comms();
void forget_predefined_comms();

/// The communicator behind a handle. One that no wrapper has seen being made (it came out of a call
/// of a newer MPI) is defined on the spot.
/// MT: safe; no lock unless it is new.
Comm comm_of(ThreadLog& log, uint64_t time, MPI_Comm handle);

struct CommOrigin;
/// Numbers a new communicator and writes its definition (comm_definition.h).
Comm define_comm(ThreadLog& log, uint64_t time, MPI_Comm handle, const CommOrigin& birth);

/// Remembers the communicator behind a handle: of a window or file made on it, or a message found
/// on it. `kind` keeps apart the handles of MPIs that number each kind from 0. `number`: the
/// object's own number among its kind.
enum class HandleKind : uint8_t { comm, window, file, message };
void remember_handle(HandleKind kind, uint64_t key, const Comm& comm, uint64_t number = 0);
struct HandleEntry;
struct Neighborhood;
/// Where a communicator's neighbourhood is kept (neighbors.h), null at first; it is dropped when
/// the communicator's entry is reused. nullptr if the handle is unknown.
std::atomic<const Neighborhood*>* neighborhood_place(MPI_Comm handle);
/// Fills `comm` and returns the entry, or nullptr if the handle is unknown.
HandleEntry* find_handle(HandleKind kind, uint64_t key, Comm& comm);
/// The number that was given with the handle.
uint64_t number_of(const HandleEntry* entry);

/// Ends an entry. To be called before the real free: while that runs, MPI may already give another
/// thread the same handle for something new. If the free fails, remember_handle brings it back.
void forget(HandleEntry* entry);

}  // namespace culprit::collector::mpi
