// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/open_object.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "base/memory.h"

namespace culprit::assemble {
namespace {

/// With debug information the largest known have less than a tenth.
constexpr uint64_t kLargestObjectFile = uint64_t{64} << 30;

/// Bytes that the file's compressed sections say they have when they are unpacked.
uint64_t inflated_size(const RegularFile& file) {
  elf_version(EV_CURRENT);
  uint64_t sum = 0;
  Elf* const elf = elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    GElf_Chdr compressed;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0 ||
        gelf_getchdr(section, &compressed) == nullptr) {
      continue;
    }
    sum += std::min(compressed.ch_size, UINT64_MAX - sum);
  }
  elf_end(elf);
  return sum;
}

}  // namespace

std::optional<RegularFile> open_object_file(const std::filesystem::path& path) {
  auto file = open_regular_file(path, Owner::anybody);
  if (!file || file->size() > kLargestObjectFile) return std::nullopt;
  // elfutils would also unpack archives and compressed files, whatever comes out of them.
  char magic[SELFMAG] = {};
  const bool elf = file->read_at(0, magic, sizeof magic) == sizeof magic &&
                   std::memcmp(magic, ELFMAG, SELFMAG) == 0;
  if (!elf || inflated_size(*file) > available_memory() / 2) return std::nullopt;
  return file;
}

bool is_trap(const std::filesystem::path& path) {
  std::error_code code;
  return std::filesystem::exists(path, code) && !open_object_file(path);
}

}  // namespace culprit::assemble
