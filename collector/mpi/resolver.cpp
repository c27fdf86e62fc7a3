// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Finds the function that takes the calls of an MPI symbol: at its first call, the resolver looks
// which MPI the process has loaded, opens the decoder built for it and asks for a wrapper. For a
// function that is not recorded, the slot gets the next definition: a call then costs one jump
// more.
//
// Assumes that an MPI is recognised by its library's name: constants and handles of different MPIs
// are not exchangeable, so a decoder must never meet another MPI than its own. MT: no lock. Threads
// that resolve at the same time do the same work and store the same results.

#include <dlfcn.h>
#include <strings.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collector/interpose/trampolines.h"
#include "collector/mpi/by_handle.h"
#include "collector/mpi/decoder.h"
#include "collector/process/environment.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"

CULPRIT_TRAMPOLINES(mpi)

namespace culprit::collector::mpi {
namespace {

struct KnownMpi {
  const char* library;
  const char* fortran[2];
  const char* decoder;
};

constexpr KnownMpi kKnownMpis[] = {
    {"libmpi.so.40", {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40"}, "openmpi"},
    {"libmpich.so.12", {"libmpichfort.so.12", nullptr}, "mpich"},
    {"libmpi.so.12", {"libmpifort.so.12", nullptr}, "mpich"},
};

void* loaded(const char* library, int flags = 0) {
  return library ? dlopen(library, RTLD_NOLOAD | RTLD_LAZY | flags) : nullptr;
}

const KnownMpi* loaded_mpi() {
  for (const KnownMpi& mpi : kKnownMpis) {
    if (loaded(mpi.library)) return &mpi;
  }
  return nullptr;
}

/// The function that the program would have called without us. An MPI that was loaded for one
/// object only (a Python extension) is not in the search order, so it is asked directly.
void* next_definition(const char* symbol) {
  if (void* next = dlsym(RTLD_NEXT, symbol)) return next;
  for (const KnownMpi& mpi : kKnownMpis) {
    for (const char* library : {mpi.library, mpi.fortran[0], mpi.fortran[1]}) {
      void* const handle = loaded(library);
      if (void* next = handle ? function_of_library(handle, symbol) : nullptr) return next;
    }
  }
  return nullptr;
}

/// The decoder's file lies next to the library that this code is in.
bool decoder_path(const KnownMpi& mpi, char* path, size_t size) {
  Dl_info self{};
  if (!dladdr(reinterpret_cast<void*>(&decoder_path), &self) || !self.dli_fname) return false;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash ? static_cast<int>(slash - self.dli_fname) + 1 : 0;
  const int length =
      snprintf(path, size, "%.*slibculprit-mpi-%s.so", folder, self.dli_fname, mpi.decoder);
  return length > 0 && static_cast<size_t>(length) < size;
}

CulpritMpiDecoder open_decoder() {
  const KnownMpi* mpi = environment().wanted ? loaded_mpi() : nullptr;
  char path[4096];
  if (!mpi || !decoder_path(*mpi, path, sizeof path)) return nullptr;
  // The decoder is linked to no MPI, so that it binds to the loaded one, whatever its file.
  loaded(mpi->library, RTLD_GLOBAL);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return nullptr;
  return reinterpret_cast<CulpritMpiDecoder>(dlsym(handle, kDecoderEntry));
}

void* no_wrapper(const char*, void*) {
  return nullptr;
}

CulpritMpiDecoder decoder() {
  static std::atomic<CulpritMpiDecoder> known{nullptr};
  CulpritMpiDecoder decode = known.load(std::memory_order_acquire);
  if (decode) return decode;
  decode = open_decoder();
  if (!decode) decode = no_wrapper;
  known.store(decode, std::memory_order_release);
  return decode;
}

/// A C program may well have functions of its own whose names are Fortran spellings without an
/// underscore: those are MPI's only if an MPI's library defines them.
bool is_mpis_own(const char* symbol, void* next) {
  const size_t length = strlen(symbol);
  if (strncmp(symbol, "mpi", 3) != 0 || symbol[length - 1] == '_') return true;
  Dl_info where{};
  if (!dladdr(next, &where) || !where.dli_fname) return false;
  const char* slash = strrchr(where.dli_fname, '/');
  return strncmp(slash ? slash + 1 : where.dli_fname, "libmpi", 6) == 0;
}

/// Returns any code but MPI_SUCCESS.
int unknown_function() {
  return -1;
}

int answer_no(int* flag) {
  *flag = 0;
  return 0;
}

void answer_no_to_fortran(int* flag, int* error) {
  *flag = 0;
  if (error) *error = 0;
}

/// The stand-in for a function that the process's MPI does not have. A program may always ask
/// whether MPI is initialised, and without any MPI the answer is no.
void* substitute(const char* symbol) {
  for (const char* question : {"MPI_Initialized", "MPI_Finalized"}) {
    if (strncasecmp(symbol, question, strlen(question)) != 0 || loaded_mpi()) continue;
    return strcmp(symbol, question) == 0 ? reinterpret_cast<void*>(&answer_no)
                                         : reinterpret_cast<void*>(&answer_no_to_fortran);
  }
  return reinterpret_cast<void*>(&unknown_function);
}

void* resolve(const char* symbol) {
  const KeepErrno keep;
  void* const next = next_definition(symbol);
  if (!next) return substitute(symbol);
  void* const wrapper = is_mpis_own(symbol, next) ? decoder()(symbol, next) : nullptr;
  return wrapper ? wrapper : next;
}

}  // namespace
}  // namespace culprit::collector::mpi

void* culprit_resolve_mpi(unsigned index) {
  return culprit::collector::mpi::resolve(culprit_names_mpi[index]);
}
