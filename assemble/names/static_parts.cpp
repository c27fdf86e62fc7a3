// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads the program's ELF file: its segments show whether it needs a loader, and whose, its symbols
// whether libgomp's functions are inside. For a stripped program the latter is unknown.
#include "assemble/names/static_parts.h"

#include <fmt/format.h>
#include <gelf.h>

#include <cstring>
#include <filesystem>
#include <string_view>

#include "assemble/names/open_object.h"

namespace culprit::assemble {
namespace {

bool asks_for_a_loader(Elf* elf) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return true;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_INTERP || segment.p_type == PT_DYNAMIC) return true;
  }
  return false;
}

/// The loader that it asks for; empty: none.
std::string loader_of(Elf* elf) {
  size_t count = 0, size = 0;
  const char* const bytes = elf_rawfile(elf, &size);
  if (bytes == nullptr || elf_getphdrnum(elf, &count) != 0) return "";
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_offset >= size || segment.p_filesz > size - segment.p_offset) return "";
    const std::string_view name(bytes + segment.p_offset, segment.p_filesz);
    return std::string(name.substr(0, name.find('\0')));
  }
  return "";
}

bool defines_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const char* name) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return false;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
    const char* const found = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (found != nullptr && strcmp(found, name) == 0) return true;
  }
  return false;
}

bool defines(Elf* elf, const char* name) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    if (defines_in(elf, section, header, name)) return true;
  }
  return false;
}

bool is_program(Elf* elf) {
  GElf_Ehdr header;
  return gelf_getehdr(elf, &header) != nullptr &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

std::string sentence(Elf* elf, const std::string& name) {
  if (!is_program(elf)) return "";
  if (!asks_for_a_loader(elf)) {
    return fmt::format(
        "{} is linked statically, so that no library can be loaded into it in order to observe it: "
        "link it without -static.",
        name);
  }
  if (loader_of(elf).find("/ld-musl") != std::string::npos) {
    return fmt::format(
        "{} runs on musl, another C library than GNU's, for which culprit observes programs: it "
        "ran "
        "as it is, and nothing of it was measured. Build it on a system with GNU's C library.",
        name);
  }
  if (defines(elf, "GOMP_parallel")) {
    return fmt::format(
        "{} contains GNU's OpenMP runtime (libgomp.a) instead of loading it, so its OpenMP "
        "activity cannot be observed: link it with the shared libgomp.",
        name);
  }
  return "";
}

}  // namespace

std::string static_parts_of(const std::string& path) {
  elf_version(EV_CURRENT);
  const auto file = open_object_file(path);
  if (!file) return "";
  std::string found;
  if (Elf* elf = elf_begin(file->descriptor(), ELF_C_READ_MMAP, nullptr)) {
    if (elf_kind(elf) == ELF_K_ELF) {
      found = sentence(elf, std::filesystem::path(path).filename().string());
    }
    elf_end(elf);
  }
  return found;
}

}  // namespace culprit::assemble
