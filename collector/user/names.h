// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The names that a program gives to its regions, each kept once for the whole process: the
// program's own text may be gone after the call, and logs identify names by their address. MT:
// lock-free; two threads that meet a name at the same time get the same one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::collector::user {

struct Name {
  uint32_t hash;
  uint16_t length;
  bool excluded;  ///< for a region's name: --exclude names it
  char text[1];   ///< all of it, zero-terminated
};

/// When there is no room for more names, all further regions have one name in common: programs may
/// put numbers into names. nullptr: there is no memory. Longer ones than 255 bytes are cut.
const Name* name_of(const char* text, size_t length);
/// The same for the name of a file, of which there may be any number: half of the room is reserved
/// for regions.
const Name* name_of_file(const char* text, size_t length);

}  // namespace culprit::collector::user
