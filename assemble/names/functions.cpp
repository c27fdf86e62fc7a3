// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Symbol tables are read twice, the dynamic one where the other was stripped. Only functions count,
// by their mangled names.
#include "assemble/names/functions.h"

#include <gelf.h>

#include <string_view>

#include "assemble/names/open_object.h"
#include "assemble/names/symbol.h"

namespace culprit::assemble {
namespace {

struct Found {
  std::vector<NamedFunction> functions;
  bool instrumented = false;
};

void read_table(Elf* elf, Elf_Scn* section, Found& found) {
  GElf_Shdr header;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0)
    return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return;
    const char* text = elf_strptr(elf, header.sh_link, symbol.st_name);
    const std::string_view name = text != nullptr ? text : "";
    if (symbol.st_shndx == SHN_UNDEF) {
      found.instrumented = found.instrumented || name.starts_with("__cyg_profile_func_enter");
    } else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0) {
      found.functions.push_back({symbol.st_value, readable_name(name), std::string(name)});
    }
  }
}

/// The full table, else the one for the dynamic linker: a stripped file has only that.
Found read_tables(Elf* elf) {
  Found full, dynamic;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type == SHT_SYMTAB) read_table(elf, section, full);
    if (header.sh_type == SHT_DYNSYM) read_table(elf, section, dynamic);
  }
  if (full.functions.empty()) full.functions = std::move(dynamic.functions);
  full.instrumented = full.instrumented || dynamic.instrumented;
  return full;
}

}  // namespace

std::vector<NamedFunction> instrumented_functions(const std::string& path) {
  elf_version(EV_CURRENT);
  const auto file = open_object_file(path);
  if (!file) return {};
  Found found;
  if (Elf* elf = elf_begin(file->descriptor(), ELF_C_READ_MMAP, nullptr)) {
    if (elf_kind(elf) == ELF_K_ELF) found = read_tables(elf);
    elf_end(elf);
  }
  if (!found.instrumented) found.functions.clear();
  return std::move(found.functions);
}

}  // namespace culprit::assemble
