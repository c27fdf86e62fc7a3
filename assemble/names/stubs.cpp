// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a linker makes its stubs of, one of their instructions jumps to an address in memory,
// and the relocation for that word has the name.
#include "assemble/names/stubs.h"

#include <cstring>
#include <string_view>

namespace culprit::assemble {
namespace {

/// jmp *displacement(%rip)
constexpr unsigned char kJump[] = {0xff, 0x25};
constexpr size_t kJumpBytes = 6;
/// call displacement; and call *displacement(%rip), which compilers make with -fno-plt
constexpr unsigned char kCall = 0xe8;
constexpr size_t kCallBytes = 5;
constexpr unsigned char kCallBySlot[] = {0xff, 0x15};
constexpr uint64_t kStubBytes = 16;

/// Calls use(section, header) until it returns true.
template <class Use>
void for_each_section(Elf* elf, const Use& use) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && use(section, header)) return;
  }
}

bool is_stubs(Elf* elf, const GElf_Shdr& header) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  const char* const name = elf_strptr(elf, names, header.sh_name);
  return name != nullptr && std::string_view(name).starts_with(".plt");
}

/// Address of the word in which the stub at `begin` of the section's bytes finds its jump target.
std::optional<uint64_t> slot_of(const Elf_Data& data, uint64_t begin, uint64_t stub_bytes,
                                uint64_t section_address) {
  const auto* const bytes = static_cast<const unsigned char*>(data.d_buf);
  for (uint64_t at = begin; at < begin + stub_bytes && at + kJumpBytes <= data.d_size; ++at) {
    if (std::memcmp(bytes + at, kJump, sizeof kJump) != 0) continue;
    int32_t displacement = 0;
    std::memcpy(&displacement, bytes + at + sizeof kJump, sizeof displacement);
    return section_address + at + kJumpBytes + static_cast<uint64_t>(int64_t{displacement});
  }
  return std::nullopt;
}

}  // namespace

void Stubs::read_slots() {
  read_ = true;
  for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_RELA || header.sh_entsize == 0) return false;
    GElf_Shdr of_symbols;
    Elf_Scn* const symbols = elf_getscn(elf_, header.sh_link);
    Elf_Data* const names = symbols != nullptr && gelf_getshdr(symbols, &of_symbols) != nullptr
                                ? elf_getdata(symbols, nullptr)
                                : nullptr;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (names == nullptr || data == nullptr) return false;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Rela slot;
      GElf_Sym symbol;
      if (gelf_getrela(data, i, &slot) == nullptr ||
          gelf_getsym(names, static_cast<int>(GELF_R_SYM(slot.r_info)), &symbol) == nullptr) {
        continue;
      }
      const char* const name = elf_strptr(elf_, of_symbols.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') slots_.try_emplace(slot.r_offset, name);
    }
    return false;
  });
}

std::optional<std::string> Stubs::called_at(uint64_t address) {
  GElf_Ehdr file;
  if (elf_ == nullptr || gelf_getehdr(elf_, &file) == nullptr || file.e_machine != EM_X86_64) {
    return std::nullopt;
  }
  std::optional<uint64_t> slot;
  for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    const bool holds = address >= header.sh_addr && address - header.sh_addr < header.sh_size;
    if (!holds || (header.sh_flags & SHF_EXECINSTR) == 0) return false;
    Elf_Data* const data = is_stubs(elf_, header) ? elf_getdata(section, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr) return true;
    const uint64_t stub_bytes = header.sh_entsize == 8 ? 8 : kStubBytes;
    const uint64_t begin = (address - header.sh_addr) / stub_bytes * stub_bytes;
    slot = slot_of(*data, begin, stub_bytes, header.sh_addr);
    return true;
  });
  return slot ? in_slot(*slot) : std::nullopt;
}

std::optional<std::string> Stubs::in_slot(uint64_t slot) {
  if (!read_) read_slots();
  const auto known = slots_.find(slot);
  return known != slots_.end() ? std::optional(known->second) : std::nullopt;
}

std::optional<std::string> Stubs::called_before(uint64_t address) {
  GElf_Ehdr file;
  if (elf_ == nullptr || gelf_getehdr(elf_, &file) == nullptr || file.e_machine != EM_X86_64) {
    return std::nullopt;
  }
  std::optional<uint64_t> stub, slot;
  for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    const bool holds = address > header.sh_addr && address - header.sh_addr <= header.sh_size;
    if (!holds || (header.sh_flags & SHF_EXECINSTR) == 0) return false;
    const Elf_Data* const data = elf_getdata(section, nullptr);
    const uint64_t end = address - header.sh_addr;
    if (data == nullptr || data->d_buf == nullptr || end > data->d_size) return true;
    const auto* const behind = static_cast<const unsigned char*>(data->d_buf) + end;
    if (end < kCallBytes) return true;
    int32_t displacement = 0;
    std::memcpy(&displacement, behind - sizeof displacement, sizeof displacement);
    const uint64_t target = address + static_cast<uint64_t>(int64_t{displacement});
    if (*(behind - kCallBytes) == kCall) stub = target;
    const bool by_slot =
        end >= kJumpBytes && std::memcmp(behind - kJumpBytes, kCallBySlot, sizeof kCallBySlot) == 0;
    if (by_slot) slot = target;
    return true;
  });
  if (slot) return in_slot(*slot);
  return stub ? called_at(*stub) : std::nullopt;
}

}  // namespace culprit::assemble
