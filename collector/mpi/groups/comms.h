// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators, known by a number of ours that is unique in the process. What is asked on every
// call (number, sizes, own rank) is kept, so that a record needs no query of MPI.
//
// A handle may be reused by MPI once its communicator is freed; entries are therefore given back by
// entry, not by handle. Windows and files are keys too: they stand for the communicator they were
// made on, which is whom their collective calls synchronise.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "collector/mpi/groups/comm.h"
#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// From MPI_Init on: registers MPI_COMM_WORLD and MPI_COMM_SELF. Until just before MPI_Finalize:
/// programs of sessions go on.
void register_predefined_comms();
void forget_predefined_comms();

/// The communicator behind a handle. One that no wrapper has seen being made (it came out of a call
/// of a newer MPI) is defined on the spot.
/// MT: safe; no lock unless it is new.
Comm comm_of(ThreadLog& log, uint64_t time, MPI_Comm handle);

struct Birth;
/// Numbers a new communicator and writes its definition (comm_definition.h).
Comm define_comm(ThreadLog& log, uint64_t time, MPI_Comm handle, const Birth& birth);

/// A window or file made on `comm`, a message found on it: who is behind the handle later. `kind`
/// keeps the handles of MPIs that number each kind from 0 apart. `number`: of the kind's own.
enum class HandleKind : uint8_t { comm, window, file, message };
void remember_handle(HandleKind kind, uint64_t key, const Comm& comm, uint64_t number = 0);
struct HandleEntry;
struct Neighborhood;
/// Where a communicator's neighbourhood is kept (neighbors.h), null at first; it goes when the
/// communicator's entry is given to another. nullptr if the handle is unknown.
std::atomic<const Neighborhood*>* neighborhood_place(MPI_Comm handle);
/// Fills `comm` and returns the entry, or nullptr if the handle is unknown.
HandleEntry* find_handle(HandleKind kind, uint64_t key, Comm& comm);
/// What was given with the handle.
uint64_t number_of(const HandleEntry* entry);

/// Ends an entry. Before the real free: while that runs, MPI may already give another thread the
/// same handle for something new. If the free fails, remember_handle brings it back.
void forget(HandleEntry* entry);

}  // namespace culprit::collector::mpi
