// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The functions of an executable by name, from its symbol table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace culprit::assemble {

struct NamedFunction {
  uint64_t address = 0;  ///< in the file
  std::string name;      ///< readable_name() of it
  std::string linkage_name;
};

/// Empty if it is no ELF file, or nothing in it was compiled with -finstrument-functions.
std::vector<NamedFunction> instrumented_functions(const std::string& path);

}  // namespace culprit::assemble
