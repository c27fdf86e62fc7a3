// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread was doing at one look, in words: where in the program, and if it waits, in which
// call and for whom as far as that can be seen from outside.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "assemble/look/thread_look.h"
#include "assemble/play/code.h"

namespace culprit::assemble::attach {

enum class Doing : uint8_t {
  computes,  ///< in the program, or in a library on its behalf
  mpi,       ///< in a call of MPI, be it that it waits or works there
  openmp,    ///< in OpenMP's runtime, likewise: mostly it waits
  lock,      ///< waits for a mutex or a read-write lock
  thread,    ///< waits for another thread in some other way: join, condition, semaphore, barrier
  spins,     ///< in a loop of the program that waits for memory to change
  file,      ///< reads, writes, opens, or waits for the lock of a file, pipe or connection
  child,     ///< waits for another process
  sleeps,    ///< for a time that it has chosen
  events,    ///< waits for any of several descriptors (poll)
  system,    ///< in another system call
  stopped,   ///< by a signal or a debugger
  helper,    ///< a thread that a library has made for itself
  unseen,    ///< what it does could not be seen
};

/// "waits for a lock": as a report says it.
const char* to_words(Doing doing);

struct Spot {
  Doing doing = Doing::unseen;
  bool on_core = false;  ///< it ran, or could have
  std::string call;      ///< "MPI_Recv", "pthread_mutex_lock", "read"; empty: none
  std::string function;  ///< of the program, the innermost; empty if unknown
  std::string place;     ///< "solver.c:88"; empty if unknown
  std::string object;    ///< the object of the wait: a path, a pipe; empty if unknown
  auto operator<=>(const Spot&) const = default;
};

/// The thread that must act for this one to go on, as its process numbers threads.
struct SeenDoing {
  Spot spot;
  uint32_t awaited = 0;  ///< 0: none, or unknown
};

/// `code` must have learned the addresses of its stack.
SeenDoing doing_of(const look::ThreadLook& thread, const ProcessCode& code);

/// Threads that do it may be waiting for the work of other threads of their process.
bool is_idle(Doing doing);
/// It is, as far as can be seen, work that others may wait for.
bool is_work(const Spot& spot);

}  // namespace culprit::assemble::attach
