// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/object_file.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "assemble/unwind_table.h"

namespace culprit::assemble {
namespace {

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

/// The segment that holds what `predicate` says.
template <class Predicate>
std::optional<GElf_Phdr> find_segment(Elf* elf, Predicate predicate) {
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && predicate(segment)) {
      return segment;
    }
  }
  return std::nullopt;
}

/// The file in which `die` is declared, or nullptr. From DWARF 5 on, index 0 is the unit's own
/// file, and clang uses it; dwarf_decl_file still takes it for "no file".
const char* declared_in(Dwarf_Die* die) {
  if (const char* file = dwarf_decl_file(die)) return file;
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &index) != 0 || index != 0) {
    return nullptr;
  }
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  if (dwarf_cu_info(attribute.cu, &version, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) !=
          0 ||
      version < 5) {
    return nullptr;
  }
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0) return nullptr;
  return dwarf_filesrc(files, 0, nullptr, nullptr);
}

SourceFrame frame_of(Dwarf_Die* die) {
  SourceFrame frame;
  Dwarf_Attribute attribute;
  const char* name = nullptr;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(die, kind, &attribute) != nullptr) {
      name = dwarf_formstring(&attribute);
      if (name != nullptr) break;
    }
  }
  if (name != nullptr) frame.function = readable_name(name);
  if (const char* file = declared_in(die)) frame.file = base_name(file);
  int line = 0;
  if (dwarf_decl_line(die, &line) == 0) frame.line = static_cast<uint32_t>(line);
  return frame;
}

void find_line(Dwarf_Die* unit, uint64_t code, Symbol& symbol) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, code);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return;
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  if (file == nullptr) return;
  symbol.file = base_name(file);
  symbol.line = static_cast<uint32_t>(number);
}

struct Scopes {
  Dwarf_Die* data = nullptr;
  int count = 0;
  ~Scopes() { std::free(data); }
  std::span<Dwarf_Die> all() const {
    return {data, data == nullptr || count < 0 ? 0 : static_cast<size_t>(count)};
  }
  bool in_function() const {
    return std::any_of(all().begin(), all().end(),
                       [](Dwarf_Die& die) { return dwarf_tag(&die) == DW_TAG_subprogram; });
  }
};

/// The innermost entry below `parent` whose code holds `code`. Unlike dwarf_getscopes this looks
/// into functions whose own code lies elsewhere: that is where gfortran puts the bodies of their
/// parallel regions.
bool find_innermost(Dwarf_Die* parent, uint64_t code, Dwarf_Die& found) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine &&
        tag != DW_TAG_lexical_block && tag != DW_TAG_module && tag != DW_TAG_namespace) {
      continue;
    }
    const bool holds = dwarf_haspc(&child, code) == 1;
    if (holds) found = child;
    if (find_innermost(&child, code, found) || holds) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

void ObjectFile::End::operator()(Dwfl* dwfl) const {
  dwfl_end(dwfl);
}

ObjectFile::ObjectFile(const std::string& path) : name_(base_name(path)) {
  dwfl_.reset(dwfl_begin(&kCallbacks));
  if (!dwfl_) return;
  dwfl_report_begin(dwfl_.get());
  module_ = dwfl_report_offline(dwfl_.get(), name_.c_str(), path.c_str(), -1);
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  if (module_ == nullptr) return;
  GElf_Addr bias = 0;
  elf_ = dwfl_module_getelf(module_, &bias);
  bias_ = bias;
  index_units();
}

void ObjectFile::index_units() {
  Dwarf_Addr bias = 0;
  dwarf_ = dwfl_module_getdwarf(module_, &bias);
  if (dwarf_ == nullptr) return;
  dwarf_bias_ = bias;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      if (begin < end) units_.push_back({begin, end, dwarf_dieoffset(&die)});
    }
  }
  std::sort(units_.begin(), units_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

const ObjectFile::UnitRange* ObjectFile::unit_at(uint64_t address) const {
  auto after = std::upper_bound(units_.begin(), units_.end(), address,
                                [](uint64_t a, const UnitRange& unit) { return a < unit.begin; });
  if (after == units_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

std::optional<uint64_t> ObjectFile::address_of(uint64_t offset) const {
  const auto segment = find_segment(elf_, [offset](const GElf_Phdr& s) {
    return s.p_type == PT_LOAD && offset >= s.p_offset && offset - s.p_offset < s.p_filesz;
  });
  if (!segment) return std::nullopt;
  return offset - segment->p_offset + segment->p_vaddr;
}

std::optional<uint64_t> ObjectFile::function_begin(uint64_t address) const {
  const auto segment =
      find_segment(elf_, [](const GElf_Phdr& s) { return s.p_type == PT_GNU_EH_FRAME; });
  if (!segment) return std::nullopt;
  Elf_Data* data = elf_getdata_rawchunk(elf_, static_cast<int64_t>(segment->p_offset),
                                        segment->p_filesz, ELF_T_BYTE);
  if (data == nullptr) return std::nullopt;
  return find_function_begin({static_cast<const std::byte*>(data->d_buf), data->d_size},
                             segment->p_vaddr, address);
}

bool ObjectFile::name_from_dwarf(uint64_t address, Symbol& symbol) const {
  const uint64_t code = address + bias_ - dwarf_bias_;
  const UnitRange* range = unit_at(code);
  Dwarf_Die unit;
  if (range == nullptr || dwarf_offdie(dwarf_, range->unit, &unit) == nullptr) return false;
  find_line(&unit, code, symbol);
  Scopes around;
  around.count = dwarf_getscopes(&unit, code, &around.data);
  Dwarf_Die innermost;
  if (around.in_function()) {
    innermost = around.all().front();
  } else if (!find_innermost(&unit, code, innermost)) {
    return false;
  }
  // The scopes around an inlined function are those of its definition; what is asked is where it
  // was inlined, which are the parents of the entry itself.
  Scopes scopes;
  scopes.count = dwarf_getscopes_die(&innermost, &scopes.data);
  for (Dwarf_Die& die : scopes.all()) {
    const int tag = dwarf_tag(&die);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    SourceFrame frame = frame_of(&die);
    if (!frame.function.empty()) symbol.frames.push_back(std::move(frame));
    if (tag == DW_TAG_subprogram) {
      symbol.program = dwarf_hasattr(&die, DW_AT_main_subprogram) != 0;
      break;
    }
  }
  std::reverse(symbol.frames.begin(), symbol.frames.end());
  return !symbol.frames.empty();
}

void ObjectFile::name_from_symbol_table(uint64_t address, Symbol& symbol) const {
  const auto begin = function_begin(address);
  GElf_Off into = 0;
  GElf_Sym entry{};
  const char* name =
      dwfl_module_addrinfo(module_, address + bias_, &into, &entry, nullptr, nullptr, nullptr);
  // A stripped file has few symbols; the nearest one below may be another function's.
  const bool contains =
      entry.st_size > 0 ? into < entry.st_size : !begin || address - into >= *begin;
  if (name != nullptr && contains) {
    symbol.into_function = into;
    symbol.named = true;
    if (symbol.frames.empty()) {
      symbol.frames.push_back({readable_name(name), "", 0});
    } else if (std::string_view(name).starts_with("_Z")) {
      // DWARF leaves scopes out where linkage is internal.
      symbol.frames.front().function = readable_name(name);
    }
    return;
  }
  symbol.into_function = begin ? address - *begin : 0;
  if (symbol.frames.empty()) {
    symbol.frames.push_back({fmt::format("{}+{:#x}", name_, begin.value_or(address)), "", 0});
  }
}

Symbol ObjectFile::symbol(uint64_t offset) const {
  Symbol symbol;
  symbol.module = name_;
  const auto address = address_of(offset);
  if (!address) {
    symbol.frames.push_back({fmt::format("{}+{:#x}", name_, offset), "", 0});
    return symbol;
  }
  symbol.address = *address;
  const bool from_dwarf = name_from_dwarf(*address, symbol);
  name_from_symbol_table(*address, symbol);
  symbol.named = symbol.named || from_dwarf;
  symbol.program = symbol.program || symbol.frames.front().function == "MAIN__";
  return symbol;
}

}  // namespace culprit::assemble
