// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Walks the loaded objects' dynamic symbol tables. Undefined symbols have no list of their own; the
// number of all symbols comes from the old hash table, or, where there is only the new one, its
// first hashed symbol ends the undefined ones. Assumes that the loader has turned the dynamic
// section's addresses into pointers, as glibc does where it has processed an object (the kernel's
// vdso is not one: it needs no runtime).
// The walk only copies names: the loader holds a lock meanwhile, and another, which dlsym takes, is
// held by threads that wait for the first one in dlopen. Objects may be gone when the walk is over.
#include "collector/openmp/needs.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "collector/openmp/loaded_runtimes.h"
#include "collector/process/system_file.h"

namespace culprit::collector::openmp {

namespace {

/// Functions that libomp has, but that do not do all that programs built by gcc need. Its tasks
/// ignore `detach`, so that fulfilling the event crashes. For a loop or sections that need memory
/// for the whole team (reductions with `scan`, lastprivate(conditional:)) it aborts the program.
/// Otherwise gcc calls these functions only for reductions with `task`, which are the rarer the
/// more recent the standard; loops of all other kinds have functions of their own. Its memory
/// allocators return other results than libgomp's, and its affinity format does not exist yet in a
/// program's first call.
constexpr const char* kUnusable[] = {"omp_fulfill_event",
                                     "omp_init_allocator",
                                     "omp_set_affinity_format",
                                     "GOMP_loop_start",
                                     "GOMP_loop_ordered_start",
                                     "GOMP_loop_ull_start",
                                     "GOMP_loop_ull_ordered_start",
                                     "GOMP_sections2_start",
                                     "GOMP_teams_reg",
                                     "omp_pause_resource",
                                     "omp_pause_resource_all"};

/// Families of an OpenMP or OpenACC runtime's names.
constexpr const char* kPrefixes[] = {"GOMP_", "GOACC_", "omp_", "acc_"};

struct Object {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  size_t symbol_count = 0;
  bool uses_runtime = false;
};

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    return reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);
  }
  return nullptr;
}

/// The memory that an entry of the dynamic section points at; nullptr if there is none, or if the
/// loader has not turned it into a pointer.
template <class T>
const T* pointer_of(const dl_phdr_info& info, const ElfW(Dyn) * dynamic, ElfW(Sxword) tag) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag != tag) continue;
    const ElfW(Addr) address = dynamic->d_un.d_ptr;
    return address >= info.dlpi_addr ? reinterpret_cast<const T*>(address) : nullptr;
  }
  return nullptr;
}

bool is_linked_with_libgomp(const ElfW(Dyn) * dynamic, const char* strings) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_NEEDED && is_libgomp(strings + dynamic->d_un.d_val)) return true;
  }
  return false;
}

Object read_object(const dl_phdr_info& info) {
  const ElfW(Dyn)* dynamic = dynamic_section(info);
  if (dynamic == nullptr) return {};
  Object object;
  object.symbols = pointer_of<ElfW(Sym)>(info, dynamic, DT_SYMTAB);
  object.strings = pointer_of<char>(info, dynamic, DT_STRTAB);
  if (object.symbols == nullptr || object.strings == nullptr) return {};
  object.uses_runtime = is_linked_with_libgomp(dynamic, object.strings);
  // The second word of either hash table gives the number of symbols.
  const auto* table = pointer_of<uint32_t>(info, dynamic, DT_HASH);
  if (table == nullptr) table = pointer_of<uint32_t>(info, dynamic, DT_GNU_HASH);
  object.symbol_count = table != nullptr ? table[1] : 0;
  return object;
}

bool is_runtime_name(const char* name) {
  for (const char* prefix : kPrefixes) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

/// Loops with `ordered depend` (doacross) are of one family; for some of them, libomp aborts the
/// program.
bool is_doacross(const char* name) {
  return strstr(name, "doacross") != nullptr;
}

bool is_usable(void* candidate, const char* name) {
  if (is_doacross(name)) return false;
  for (const char* unusable : kUnusable) {
    if (strcmp(name, unusable) == 0) return false;
  }
  return dlsym(candidate, name) != nullptr;
}

/// Room for thousands of names; only touched pages take memory.
constexpr size_t kNamesRoom = size_t{1} << 20;

struct Search {
  char* names;  ///< names of the runtime functions that are needed: one after the other, with their
                ///< zeros
  size_t used = 0;
  bool complete = true;  ///< all names had room
};

bool note_name(Search& search, const char* name) {
  const size_t size = strlen(name) + 1;
  if (size > kNamesRoom - search.used) return false;
  memcpy(search.names + search.used, name, size);
  search.used += size;
  return true;
}

int visit(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Object object = read_object(*info);
  if (!object.uses_runtime) return 0;
  for (size_t i = 1; i < object.symbol_count; ++i) {
    const ElfW(Sym)& symbol = object.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
    const char* name = object.strings + symbol.st_name;
    if (is_runtime_name(name) && !note_name(search, name)) search.complete = false;
  }
  return search.complete ? 0 : 1;
}

/// The first of the names that `candidate` lacks; nullptr if it has all.
const char* first_lacking(void* candidate, const char* names, size_t size) {
  for (size_t at = 0; at < size; at += strlen(names + at) + 1) {
    if (!is_usable(candidate, names + at)) return names + at;
  }
  return nullptr;
}

}  // namespace

bool answers_all_needs(void* candidate, char* lacking, size_t capacity) {
  Search search{static_cast<char*>(map_memory(kNamesRoom))};
  if (search.names == nullptr) return false;
  dl_iterate_phdr(visit, &search);
  const char* lack = first_lacking(candidate, search.names, search.used);
  if (lack != nullptr) snprintf(lacking, capacity, "%s", lack);
  unmap_memory(search.names, kNamesRoom);
  return search.complete && lack == nullptr;
}

}  // namespace culprit::collector::openmp
