// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads attributes of entries of debug information, whichever compiler wrote them.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

namespace culprit::assemble {

/// Of entries in entries; those of damaged files may go on for ever.
inline constexpr unsigned kDeepest = 1000;

/// The file that an attribute of `die` names (where it is declared, or called), or nullptr.
const char* file_in(Dwarf_Die* die, unsigned named_by);

/// The text of this attribute in `die`, or in the entry that it continues; or nullptr.
const char* string_of(Dwarf_Die* die, unsigned kind);
const char* linkage_name_of(Dwarf_Die* die);

/// The entry that this one repeats or goes on with: there its scope can be seen.
Dwarf_Die origin_of(Dwarf_Die die);

/// Calls use(child) for each of an entry's own entries.
template <class Use>
void for_each_child(Dwarf_Die* parent, const Use& use) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return;
  do use(child);
  while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace culprit::assemble
