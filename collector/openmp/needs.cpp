// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Walks the loaded objects' dynamic symbol tables. Undefined symbols have no list of their own; the
// number of all symbols comes from the old hash table, or, where there is only the new one, its
// first hashed symbol ends the undefined ones. Assumes that the loader has turned the dynamic
// section's addresses into pointers, as glibc does where it has processed an object (the kernel's
// vdso is not one: it needs no runtime).
#include "collector/openmp/needs.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace culprit::collector::openmp {

namespace {

/// Functions that libomp has, but not for programs built by gcc: its tasks ignore `detach`, so that
/// fulfilling the event crashes.
constexpr const char* kUnusable[] = {"omp_fulfill_event"};

/// Families of an OpenMP or OpenACC runtime's names.
constexpr const char* kPrefixes[] = {"GOMP_", "GOACC_", "omp_", "acc_"};

struct Object {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  size_t symbol_count = 0;
  bool uses_runtime = false;
};

bool is_relocated(ElfW(Addr) base, ElfW(Addr) address) {
  return base == 0 || address >= base;
}

/// The first entries of either hash table tell how many symbols there are.
size_t count_symbols(const uint32_t* old_table, const uint32_t* new_table) {
  if (old_table != nullptr) return old_table[1];
  return new_table != nullptr ? new_table[1] : 0;
}

Object read_object(const dl_phdr_info& info, const char* runtime) {
  Object object;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  }
  if (dynamic == nullptr) return object;
  const uint32_t* old_table = nullptr;
  const uint32_t* new_table = nullptr;
  for (const ElfW(Dyn)* d = dynamic; d->d_tag != DT_NULL; ++d) {
    const ElfW(Addr) address = d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_HASH ||
        d->d_tag == DT_GNU_HASH) {
      if (!is_relocated(info.dlpi_addr, address)) return Object{};
    }
    if (d->d_tag == DT_SYMTAB) object.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (d->d_tag == DT_STRTAB) object.strings = reinterpret_cast<const char*>(address);
    if (d->d_tag == DT_HASH) old_table = reinterpret_cast<const uint32_t*>(address);
    if (d->d_tag == DT_GNU_HASH) new_table = reinterpret_cast<const uint32_t*>(address);
  }
  if (object.symbols == nullptr || object.strings == nullptr) return Object{};
  for (const ElfW(Dyn)* d = dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED) continue;
    if (strcmp(object.strings + d->d_un.d_val, runtime) == 0) object.uses_runtime = true;
  }
  object.symbol_count = count_symbols(old_table, new_table);
  return object;
}

bool is_runtime_name(const char* name) {
  for (const char* prefix : kPrefixes) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

bool is_usable(void* candidate, const char* name) {
  for (const char* unusable : kUnusable) {
    if (strcmp(name, unusable) == 0) return false;
  }
  return dlsym(candidate, name) != nullptr;
}

struct Search {
  void* candidate;
  const char* runtime;
  bool all_found = true;
};

int visit(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Object object = read_object(*info, search.runtime);
  if (!object.uses_runtime) return 0;
  for (size_t i = 1; i < object.symbol_count; ++i) {
    const ElfW(Sym)& symbol = object.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
    const char* name = object.strings + symbol.st_name;
    if (is_runtime_name(name) && !is_usable(search.candidate, name)) search.all_found = false;
  }
  return search.all_found ? 0 : 1;
}

}  // namespace

bool answers_all_needs(void* candidate, const char* runtime) {
  Search search{candidate, runtime};
  dl_iterate_phdr(visit, &search);
  return search.all_found;
}

}  // namespace culprit::collector::openmp
