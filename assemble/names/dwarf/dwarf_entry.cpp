// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/dwarf/dwarf_entry.h"

namespace culprit::assemble {

/// From DWARF 5 on, index 0 is the unit's own file, and clang uses it; libdw's own function still
/// takes it for "no file", and gives up the program on units that the compiler split off.
const char* file_in(Dwarf_Die* die, unsigned named_by) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_attr_integrate(die, named_by, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &index) != 0 ||
      dwarf_cu_info(attribute.cu, &version, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) !=
          0 ||
      (index == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
      index >= count) {
    return nullptr;
  }
  return dwarf_filesrc(files, index, nullptr, nullptr);
}

const char* string_of(Dwarf_Die* die, unsigned kind) {
  Dwarf_Attribute attribute;
  const bool there = dwarf_attr_integrate(die, kind, &attribute) != nullptr;
  return there ? dwarf_formstring(&attribute) : nullptr;
}

const char* linkage_name_of(Dwarf_Die* die) {
  const char* name = string_of(die, DW_AT_linkage_name);
  return name != nullptr ? name : string_of(die, DW_AT_MIPS_linkage_name);
}

Dwarf_Die origin_of(Dwarf_Die die) {
  constexpr int kMaxSteps = 16;  // damaged entries may form a circle
  Dwarf_Attribute attribute;
  Dwarf_Die next;
  for (int i = 0; i < kMaxSteps; ++i) {
    const bool goes_on = dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr ||
                         dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr;
    if (!goes_on || dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

}  // namespace culprit::assemble
