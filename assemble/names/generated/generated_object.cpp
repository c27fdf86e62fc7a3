// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The program that registers an object file writes the sections' addresses in memory into it;
// symbols of relocatable files are relative to them.
#include <gelf.h>

#include "assemble/names/generated/generated_code.h"

namespace culprit::assemble {
namespace {

constexpr uint64_t kLargestObject = uint64_t{64} << 20;

/// Where the section of a symbol begins, as far as its value does not say it.
uint64_t base_of(Elf* elf, const GElf_Sym& symbol, bool relocatable) {
  GElf_Shdr header;
  Elf_Scn* const section = relocatable ? elf_getscn(elf, symbol.st_shndx) : nullptr;
  return section != nullptr && gelf_getshdr(section, &header) != nullptr ? header.sh_addr : 0;
}

void add_functions(Elf* elf, Elf_Scn* section, bool relocatable, GeneratedFunctions& functions) {
  GElf_Shdr header;
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        name == nullptr || *name == '\0') {
      continue;
    }
    const uint64_t begin = base_of(elf, symbol, relocatable) + symbol.st_value;
    functions[begin] = {begin + symbol.st_size, name, "", {}};
  }
}

}  // namespace

void read_generated_object(const std::string& path, GeneratedFunctions& functions) {
  elf_version(EV_CURRENT);
  auto bytes = GuardedPath::of_file(path).read(kLargestObject);
  Elf* const elf = bytes ? elf_memory(bytes->data(), bytes->size()) : nullptr;
  GElf_Ehdr file;
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &file) != nullptr) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) {
        add_functions(elf, section, file.e_type == ET_REL, functions);
      }
    }
  }
  elf_end(elf);
}

}  // namespace culprit::assemble
