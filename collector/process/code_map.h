// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which addresses are code, and whose. The assembler needs copies of /proc/self/maps to turn
// addresses into functions; the unwinder needs to recognise the collector's own frames; both need
// to notice code that was loaded later. A hook for dlopen would cost the program, so newly loaded
// code is noticed by a return address that lies in no known range. MT: safe. Async-signal-safe, but
// for `loaded_more`.
#pragma once

#include <cstdint>

namespace culprit::collector::code_map {

enum class Owner : uint8_t {
  unknown,  ///< in no executable range seen so far
  program,
  collector,  ///< libculprit*.so: left out of call paths
  runtime,    ///< the loader: the sampling handler does not unwind in it
  unwinder,   ///< libgcc's, where exceptions are thrown: nor there, if it is an old one
};

/// Takes the first copy, `<folder>/maps.0`. `folder` must live for ever.
void begin(const char* folder);

/// Takes another copy, maps.<n>, and learns its ranges; before begin(), only the latter.
void refresh();

Owner owner_of(uintptr_t address);

/// Whether there are any ranges: before that, every address is unknown.
bool is_there();

/// To be called after owner_of() returned `unknown`: refreshes, unless earlier refreshes for
/// unknown addresses were in vain (damaged stacks have many). Returns whether the ranges are new.
bool learn();

/// Whether the loader has added objects since the last refresh.
bool loaded_more();

}  // namespace culprit::collector::code_map
