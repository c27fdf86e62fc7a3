// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which queries libdwfl answers, and in which order: lines and inlined functions from DWARF, else
// the symbol table, else the unwind table for the beginning of a function.
#include "assemble/names/object_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "assemble/names/debug_files/debug_servers.h"
#include "assemble/names/dwarf/lambdas.h"
#include "assemble/names/open_object.h"
#include "assemble/names/spin_loop.h"
#include "assemble/names/unwind_table.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

std::string hexadecimal(const void* bytes, ssize_t count) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  std::string digits;
  for (ssize_t i = 0; i < count; ++i) digits += fmt::format("{:02x}", byte[i]);
  return digits;
}

/// The folder of the file that was found to hold debug information; empty: none was.
fs::path debug_folder(Dwfl_Module* module) {
  const char* file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &file);
  return file != nullptr ? fs::path(file).parent_path() : fs::path();
}

/// What a server had of this build, if it was asked before, by us or by others.
int open_fetched(Dwfl_Module* module, char** found) {
  const unsigned char* id = nullptr;
  GElf_Addr place = 0;
  const int bytes = dwfl_module_build_id(module, &id, &place);
  const fs::path path = fetched_debug_info(hexadecimal(id, bytes));
  const auto file = path.empty() ? std::nullopt : open_object_file(path);
  if (!file) return -1;
  *found = strdup(path.c_str());  // libdwfl frees it
  return dup(file->descriptor());
}

/// As the standard one, which looks for files by names that the file itself gives, unless it would
/// meet something that is no file.
int find_debug_info(Dwfl_Module* module, void** data, const char* module_name, Dwarf_Addr base,
                    const char* file, const char* link, GElf_Word sum, char** found) {
  const fs::path main = file != nullptr ? file : "";
  std::vector<fs::path> names = {main.filename().string() + ".debug", main.filename()};
  if (link != nullptr) names.emplace_back(link);
  // Parts that several files share are named relative to where the debug information was.
  const fs::path folders[] = {main.parent_path(), debug_folder(module)};
  for (const fs::path& folder : folders) {
    for (const fs::path& name : names) {
      if (is_trap(folder / name) || is_trap(folder / ".debug" / name)) return -1;
    }
  }
  const int here =
      dwfl_standard_find_debuginfo(module, data, module_name, base, file, link, sum, found);
  return here >= 0 ? here : open_fetched(module, found);
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = find_debug_info,
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

}  // namespace

std::string build_id_of(const std::string& path) {
  elf_version(EV_CURRENT);
  const auto file = open_object_file(path);
  if (!file) return {};
  std::string digits;
  if (Elf* elf = elf_begin(file->descriptor(), ELF_C_READ_MMAP, nullptr)) {
    const void* id = nullptr;
    const auto bytes = dwelf_elf_gnu_build_id(elf, &id);
    digits = hexadecimal(id, bytes);
    elf_end(elf);
  }
  return digits;
}

bool has_debug_info(const std::string& path) {
  return ObjectFile(path).has_debug_info();
}

void ObjectFile::End::operator()(Dwfl* dwfl) const {
  dwfl_end(dwfl);
}

ObjectFile::ObjectFile(const std::string& path) : name_(base_name(path)) {
  auto file = open_object_file(path);
  if (!file) return;
  dwfl_.reset(dwfl_begin(&kCallbacks));
  if (!dwfl_) return;
  dwfl_report_begin(dwfl_.get());
  const int own = dup(file->descriptor());  // libdwfl closes it, if it can use it
  module_ = dwfl_report_offline(dwfl_.get(), name_.c_str(), path.c_str(), own);
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  if (module_ == nullptr) {
    Descriptor unused(own);
    return;
  }
  GElf_Addr bias = 0;
  elf_ = dwfl_module_getelf(module_, &bias);
  bias_ = bias;
  stubs_ = Stubs(elf_);
  Dwarf_Addr debug_bias = 0;
  Dwarf* const dwarf = dwfl_module_getdwarf(module_, &debug_bias);
  debug_info_ = DebugInfo(dwarf, {fs::path(path).parent_path(), debug_folder(module_)});
  debug_bias_ = debug_bias;
  has_debug_info_ = dwarf != nullptr;
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

void ObjectFile::name_from_symbol_table(uint64_t address, Symbol& symbol) {
  const auto begin = function_begin(address);
  if (!symbols_) symbols_.emplace(module_);
  const auto found = symbols_->at(address + bias_);
  const uint64_t into = found ? address + bias_ - found->begin : 0;
  // A stripped file has few symbols; the nearest label below may be another function's.
  if (found && (found->size > 0 || !begin || address - into >= *begin)) {
    const char* const name = found->name;
    symbol.into_function = into;
    symbol.named = true;
    symbol.part = is_split_off(name);
    if (symbol.frames.empty()) {
      symbol.frames.push_back({readable_name(name), "", 0});
    } else if (std::string_view(name).starts_with("_Z") &&
               !names_lambda(symbol.frames.front().function)) {
      // DWARF leaves scopes out where linkage is internal.
      symbol.frames.front().function = readable_name(name);
    }
    return;
  }
  symbol.into_function = begin ? address - *begin : 0;
  if (!symbol.frames.empty()) return;
  if (const auto called = stubs_.called_at(address)) {
    symbol.frames.push_back({readable_name(*called), "", 0});
    symbol.stub = symbol.named = true;
  } else {
    symbol.frames.push_back({fmt::format("{}+{:#x}", name_, begin.value_or(address)), "", 0});
  }
}

bool ObjectFile::spins_at(uint64_t offset, uint64_t address, uint64_t into_function) {
  constexpr uint64_t kBefore = 4096, kBehind = 2048;  // more than is looked at
  GElf_Ehdr file;
  if (gelf_getehdr(elf_, &file) == nullptr || file.e_machine != EM_X86_64) return false;
  const auto segment = find_segment(elf_, [offset](const GElf_Phdr& s) {
    return s.p_type == PT_LOAD && offset >= s.p_offset && offset - s.p_offset < s.p_filesz;
  });
  if (!segment) return false;
  const uint64_t before = std::min({into_function, kBefore, offset - segment->p_offset});
  const uint64_t behind = std::min(kBehind, segment->p_offset + segment->p_filesz - offset);
  const Elf_Data* const data = elf_getdata_rawchunk(elf_, static_cast<int64_t>(offset - before),
                                                    before + behind, ELF_T_BYTE);
  if (data == nullptr || data->d_buf == nullptr) return false;
  return is_spin_loop({static_cast<const unsigned char*>(data->d_buf), data->d_size}, before,
                      [&](size_t place) { return stubs_.called_before(address - before + place); });
}

Symbol ObjectFile::symbol(uint64_t offset) {
  Symbol symbol;
  symbol.module = name_;
  const auto address = address_of(offset);
  if (!address) {
    symbol.address = offset;
    symbol.frames.push_back({fmt::format("{}+{:#x}", name_, offset), "", 0});
    return symbol;
  }
  symbol.address = *address;
  const bool from_dwarf = debug_info_.name(*address + bias_ - debug_bias_, symbol);
  name_from_symbol_table(*address, symbol);
  // Places lie one byte before the address that a call returns to.
  symbol.calls = stubs_.called_before(*address + 1).value_or("");
  symbol.from_debug_info = from_dwarf;
  symbol.named = symbol.named || from_dwarf;
  symbol.spins = spins_at(offset, *address, symbol.into_function);
  symbol.program = symbol.program || symbol.frames.front().function == "MAIN__";
  return symbol;
}

}  // namespace culprit::assemble
