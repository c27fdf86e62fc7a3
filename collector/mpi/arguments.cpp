// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Statuses and Fortran's special addresses (arguments.h). The special addresses are found by name
// at run time: each MPI has its own, in libraries that C programs do not even load.

#include "collector/mpi/arguments.h"

#include <dlfcn.h>

#include <cstdlib>

namespace culprit::collector::mpi {
namespace {

/// A constant of the Fortran interface. Open MPI: a variable under four spellings, one of which the
/// program uses. MPICH: pointers to what the program uses, set when Fortran is initialised.
struct SpecialAddress {
  const char* variables[6];
  const char* pointers[2];

  bool is(const void* address) const {
    for (const char* name : variables) {
      if (name && address == dlsym(RTLD_DEFAULT, name)) return true;
    }
    for (const char* name : pointers) {
      void* const* pointer = name ? static_cast<void**>(dlsym(RTLD_DEFAULT, name)) : nullptr;
      if (pointer && address == *pointer) return true;
    }
    return false;
  }
};

constexpr SpecialAddress kStatusIgnore = {
    {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
     "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ", nullptr},
    {"MPI_F_STATUS_IGNORE", "MPI_F08_STATUS_IGNORE"}};
constexpr SpecialAddress kStatusesIgnore = {
    {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore__",
     "MPI_FORTRAN_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ", nullptr},
    {"MPI_F_STATUSES_IGNORE", "MPI_F08_STATUSES_IGNORE"}};
constexpr SpecialAddress kInPlace = {
    {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
     "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE", nullptr},
    {"MPIR_F_MPI_IN_PLACE", nullptr}};

/// Looking a name up is slow, and most calls pass the same address again: remember per thread what
/// the last few addresses were. A special address stays one for the process's life; another address
/// is remembered only once Fortran's constants exist, which is before any call that can pass one.
class Memo {
 public:
  bool is(const SpecialAddress& what, const void* address) {
    const auto slot = (reinterpret_cast<uintptr_t>(address) >> 4) % kSlots;
    if (addresses_[slot] != address) {
      special_[slot] = what.is(address);
      addresses_[slot] = address;
    }
    return special_[slot];
  }

 private:
  static constexpr size_t kSlots = 16;
  const void* addresses_[kSlots] = {};
  bool special_[kSlots] = {};
};

struct Memos {
  Memo status, statuses, in_place;
};
thread_local Memos memos;

}  // namespace

bool is_fortran_in_place(const void* argument, bool descriptor) {
  if (!argument) return false;
  const void* address = descriptor ? *static_cast<const void* const*>(argument) : argument;
  return address && memos.in_place.is(kInPlace, address);
}

Statuses::Statuses(MPI_Status* users, int count) : memory_(users), language_(Language::c) {
  if (users == MPI_STATUS_IGNORE || users == MPI_STATUSES_IGNORE) substitute(count);
}

Statuses::Statuses(Language fortran, void* users, int count) : memory_(users), language_(fortran) {
  // One and many are told apart by the caller's constant, not by the count: Waitall of one request.
  if (memos.status.is(kStatusIgnore, users) || memos.statuses.is(kStatusesIgnore, users)) {
    substitute(count);
  }
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
