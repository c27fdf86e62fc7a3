// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The symbol is looked up in each object by itself: libraries that generate code are often loaded
// so that others cannot see their symbols. The program may be changing the list, or have damaged
// it, so memory that does not exist is not read.
#include "collector/callpath/generated_objects.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "collector/process/process_record.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

namespace {

constexpr const char* kDescriptor = "__jit_debug_descriptor";
constexpr unsigned kMostObjects = 4096;
constexpr uint64_t kMostBytes = uint64_t{64} << 20;  ///< limit for all of them together

// The structures' layout is documented by GDB.
struct Entry {
  uintptr_t next, previous, file;
  uint64_t bytes;
};
struct Descriptor {
  uint32_t version, action;
  uintptr_t relevant, first;
};

/// False if not all of the memory exists.
bool read_memory(uintptr_t from, void* to, size_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

/// The parts of an object that the loader needs to look symbols up.
struct Symbols {
  const ElfW(Sym) * all = nullptr;
  const char* names = nullptr;
  const uint32_t* hashes = nullptr;  ///< DT_GNU_HASH
};

Symbols symbols_of(const dl_phdr_info& object) {
  Symbols found;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The loader has turned these offsets into addresses, except for the vdso.
      if (entry->d_un.d_ptr < object.dlpi_addr) continue;
      if (entry->d_tag == DT_SYMTAB) {
        found.all = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_STRTAB) {
        found.names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_GNU_HASH) {
        found.hashes = reinterpret_cast<const uint32_t*>(entry->d_un.d_ptr);
      }
    }
  }
  return found;
}

uint32_t hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

/// The symbol's value, or 0.
uintptr_t find_symbol(const Symbols& symbols, const char* name) {
  if (symbols.all == nullptr || symbols.names == nullptr || symbols.hashes == nullptr) return 0;
  const uint32_t buckets = symbols.hashes[0], first = symbols.hashes[1];
  const uint32_t bloom_words = symbols.hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  if (buckets == 0) return 0;
  const uint32_t* const bucket = symbols.hashes + 4 + bloom_words;
  const uint32_t* const chain = bucket + buckets;
  const uint32_t hash = hash_of(name);
  uint32_t i = bucket[hash % buckets];
  if (i < first) return 0;
  for (;; ++i) {
    const uint32_t other = chain[i - first];
    const ElfW(Sym)& symbol = symbols.all[i];
    const bool is_same =
        (other | 1) == (hash | 1) && strcmp(symbols.names + symbol.st_name, name) == 0;
    if (is_same && symbol.st_shndx != SHN_UNDEF) return symbol.st_value;
    if ((other & 1) != 0) return 0;
  }
}

/// Copies the lists one after the other, and remembers how much has been copied.
struct Copying {
  const char* folder;
  unsigned seen = 0;  ///< entries seen; a damaged list may be a circle
  unsigned count = 0;
  uint64_t bytes = 0;
  char path[PATH_MAX + 32];
  char piece[1 << 16];
};

void copy(const Entry& entry, Copying& copying) {
  snprintf(copying.path, sizeof copying.path, "%s/generated.%u", copying.folder, copying.count);
  const int file =
      open(copying.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0644);
  if (file < 0) return;
  ++copying.count;
  copying.bytes += entry.bytes;
  for (uint64_t at = 0; at < entry.bytes; at += sizeof copying.piece) {
    const size_t some = std::min<uint64_t>(entry.bytes - at, sizeof copying.piece);
    if (!read_memory(entry.file + at, copying.piece, some)) break;
    if (!write_at(file, at, copying.piece, some)) break;
  }
  close(file);
}

void copy_list(uintptr_t descriptor, Copying& copying) {
  Descriptor list = {};
  Entry entry = {};
  if (!read_memory(descriptor, &list, sizeof list) || list.version != 1) return;
  for (uintptr_t at = list.first; at != 0 && copying.seen < kMostObjects; at = entry.next) {
    ++copying.seen;
    if (!read_memory(at, &entry, sizeof entry)) return;
    if (entry.bytes == 0 || entry.bytes > kMostBytes - copying.bytes) continue;
    copy(entry, copying);
  }
}

int visit(dl_phdr_info* object, size_t, void* argument) {
  const uintptr_t found = find_symbol(symbols_of(*object), kDescriptor);
  if (found != 0) copy_list(object->dlpi_addr + found, *static_cast<Copying*>(argument));
  return 0;
}

}  // namespace

void keep_generated_objects(const char* folder) {
  const KeepErrno keep;
  auto* const copying = static_cast<Copying*>(map_memory(sizeof(Copying)));
  if (copying == nullptr) return;
  copying->folder = folder;
  dl_iterate_phdr(visit, copying);
  unmap_memory(copying, sizeof(Copying));
}

}  // namespace culprit::collector
