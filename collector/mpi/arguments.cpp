// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Statuses and Fortran's special addresses (arguments.h). The special addresses are found by name
// at run time: each MPI has its own, in libraries that C programs do not even load.

#include "collector/mpi/arguments.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace culprit::collector::mpi {
namespace {

/// A constant of the Fortran interface. Open MPI: a variable under four spellings, one of which the
/// program uses. MPICH: pointers to the program's constants, set when Fortran is initialised.
/// Looking a name up is slow, so it is done once: the first call from Fortran loads all the
/// constants of its interface. MT: threads that look at the same time find the same.
struct SpecialAddress {
  static constexpr size_t kVariables = 5, kPointers = 2;
  const char* variables[kVariables];
  const char* pointers[kPointers];
  std::atomic<const void*> variables_at[kVariables] = {};
  std::atomic<void* const*> pointers_at[kPointers] = {};
  std::atomic<bool> found = false;  ///< whether any of the spellings was found

  bool is(const void* address) {
    if (!found.load(std::memory_order_acquire)) look_up();
    for (const auto& variable : variables_at) {
      if (variable.load(std::memory_order_relaxed) == address) return true;
    }
    for (const auto& place : pointers_at) {
      void* const* pointer = place.load(std::memory_order_relaxed);
      if (pointer && *pointer == address) return true;
    }
    return false;
  }

  void look_up() {
    bool any = false;
    for (size_t i = 0; i < kVariables; ++i) {
      const void* const at = dlsym(RTLD_DEFAULT, variables[i]);
      variables_at[i].store(at, std::memory_order_relaxed);
      any = any || at;
    }
    for (size_t i = 0; i < kPointers; ++i) {
      void* const at = pointers[i] ? dlsym(RTLD_DEFAULT, pointers[i]) : nullptr;
      pointers_at[i].store(static_cast<void* const*>(at), std::memory_order_relaxed);
      any = any || at;
    }
    if (any) found.store(true, std::memory_order_release);
  }
};

constinit SpecialAddress g_status_ignore = {
    {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
     "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"},
    {"MPI_F_STATUS_IGNORE", "MPI_F08_STATUS_IGNORE"}};
constinit SpecialAddress g_statuses_ignore = {
    {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore__",
     "MPI_FORTRAN_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"},
    {"MPI_F_STATUSES_IGNORE", "MPI_F08_STATUSES_IGNORE"}};
constinit SpecialAddress g_in_place = {
    {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
     "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE"},
    {"MPIR_F_MPI_IN_PLACE", nullptr}};

}  // namespace

bool is_fortran_in_place(const void* argument, bool descriptor) {
  if (!argument) return false;
  const void* address = descriptor ? *static_cast<const void* const*>(argument) : argument;
  return address && g_in_place.is(address);
}

Statuses::Statuses(MPI_Status* users, int count) : memory_(users), language_(Language::c) {
  if (users == MPI_STATUS_IGNORE || users == MPI_STATUSES_IGNORE) substitute(count);
}

Statuses::Statuses(Language fortran, void* users, int count) : memory_(users), language_(fortran) {
  // One status and many are distinguished by the caller's constant, not by the count: Waitall may
  // wait for one request.
  if (users && (g_status_ignore.is(users) || g_statuses_ignore.is(users))) substitute(count);
}

Statuses::~Statuses() {
  std::free(heap_);
}

void Statuses::substitute(int count) {
  if (count <= kInline) {
    memory_ = own_;
    return;
  }
  heap_ = std::malloc(static_cast<size_t>(count) * sizeof(MPI_Status));
  if (heap_) {
    memory_ = heap_;
  } else {
    readable_ = false;  // the caller's "ignore" goes through
  }
}

MPI_Status Statuses::operator[](int i) const {
  if (language_ == Language::c) return c()[i];
  MPI_Status status;
  PMPI_Status_f2c(static_cast<const MPI_Fint*>(memory_) + kStatusInts * static_cast<size_t>(i),
                  &status);
  return status;
}

}  // namespace culprit::collector::mpi
