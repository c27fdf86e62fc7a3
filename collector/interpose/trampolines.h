// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Trampolines: how the preload library stands in for functions whose signatures it does not know.
//
// For a list of names (a "group") the build generates one exported symbol per name that does
// nothing but jump through its slot. A slot first leads to a stub, which keeps all argument
// registers, asks the group's resolver for the function that takes the calls from now on,
// stores it in the slot and jumps there. No argument is ever copied, so any signature works:
// doubles, Fortran's hidden lengths, variadic functions. Once resolved, a call costs one indirect
// jump.
//
// To make a group: culprit_trampolines(<target> <group> <file of names>) in CMake
// (cmake/Trampolines .cmake; an OBJECT library of the same folder, since nothing refers to what it
// exports), CULPRIT_TRAMPOLINES(<group>) in one source file, and a definition of its resolver.
//
// Assumes that the library has no *named* symbol version (a version script must be anonymous,
// `{ global: ...; local: *; };`), so that references like GOMP_parallel@GOMP_4.0 bind to it too.
#pragma once

/// Declares what the generator makes for a group, and the resolver that the group's owner writes.
/// The resolver may be called by several threads at once, and for one index more than once; it must
/// not return nullptr, must keep errno and must not call any function of its own group.
#define CULPRIT_TRAMPOLINES(group)                                                     \
  extern "C" {                                                                         \
  extern const char* const culprit_names_##group[];                                    \
  extern const unsigned culprit_count_##group;                                         \
  extern void* culprit_slots_##group[];                                                \
  __attribute__((visibility("hidden"))) void* culprit_resolve_##group(unsigned index); \
  }
