// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Of symbols that contain an address, which libdwfl would take depends on their order in the file;
// here it is the innermost.
#include "assemble/names/symbol_index.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <algorithm>
#include <tuple>

namespace culprit::assemble {
namespace {

uint8_t visibility_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
      return 0;
    case STB_WEAK:
      return 1;
    case STB_LOCAL:
      return 2;
    default:
      return 3;
  }
}

bool names_a_place(const GElf_Sym& symbol, GElf_Word section) {
  constexpr GElf_Word kNotLoaded = ~GElf_Word{0};  // libdwfl's: addresses there count from 0 on
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return section != SHN_UNDEF && section != kNotLoaded && type != STT_SECTION && type != STT_FILE &&
         type != STT_TLS;
}

}  // namespace

SymbolIndex::SymbolIndex(Dwfl_Module* module) : module_(module) {
  add_symbols();
  add_sections();
}

void SymbolIndex::add_symbols() {
  const int count = dwfl_module_getsymtab(module_);
  entries_.reserve(static_cast<size_t>(std::max(count, 0)));
  for (int i = 1; i < count; ++i) {  // the first is none
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* const name =
        dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || !names_a_place(symbol, section)) continue;
    const uint64_t size = std::min(symbol.st_size, UINT64_MAX - address);
    entries_.push_back({address, address + size, 0, i, section, visibility_of(symbol)});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.begin, b.visibility, b.end, b.number) <
           std::tuple(b.begin, a.visibility, a.end, a.number);
  });
  uint64_t furthest = 0;
  for (Entry& entry : entries_) entry.furthest = furthest = std::max(furthest, entry.end);
}

void SymbolIndex::add_sections() {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module_, &bias);
  for (Elf_Scn* section = nullptr;
       elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_ALLOC) == 0) continue;
    const uint64_t begin = header.sh_addr + bias;
    sections_.push_back(
        {begin, begin + header.sh_size, static_cast<uint32_t>(elf_ndxscn(section))});
  }
}

bool SymbolIndex::is_in_section(uint64_t address, uint32_t section) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& one) {
    return one.number == section && address >= one.begin && address < one.end;
  });
}

SymbolIndex::Found SymbolIndex::found(const Entry& entry) const {
  GElf_Sym symbol;
  GElf_Addr address = 0;
  const char* const name =
      dwfl_module_getsym_info(module_, entry.number, &symbol, &address, nullptr, nullptr, nullptr);
  return {name, entry.begin, entry.end - entry.begin};
}

std::optional<SymbolIndex::Found> SymbolIndex::at(uint64_t address) const {
  const auto above =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](uint64_t wanted, const Entry& entry) { return wanted < entry.begin; });
  if (above == entries_.begin()) return std::nullopt;
  for (auto at = above; at != entries_.begin() && (at - 1)->furthest > address; --at) {
    if ((at - 1)->end > address) return found(*(at - 1));
  }
  const uint64_t behind = (above - 1)->furthest;
  for (auto at = above; at != entries_.begin() && (at - 1)->begin >= behind; --at) {
    const Entry& label = *(at - 1);
    if (label.begin == label.end && is_in_section(address, label.section)) return found(label);
  }
  return std::nullopt;
}

}  // namespace culprit::assemble
