// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The probes that runtimes open, by number. The table is probes.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace culprit::cli {

enum class Probe : uint8_t {
#define PROBE(id, name, variable, others) id,
#include "cli/launch/probes.def"
#undef PROBE
};

/// A row of probes.def, which explains the columns.
struct ProbeText {
  const char* id;
  const char* name;
  const char* variable;
  bool beside_others;
};

inline constexpr std::array kProbes = {
#define BESIDE true
#define ALONE false
#define PROBE(id, name, variable, others) ProbeText{#id, name, variable, others},
#include "cli/launch/probes.def"
#undef PROBE
#undef BESIDE
#undef ALONE
};

/// By Probe; an empty path: culprit was built without.
struct ProbeLibraries : std::array<std::filesystem::path, kProbes.size()> {
  using array::operator[];
  std::filesystem::path& operator[](Probe probe) { return (*this)[static_cast<size_t>(probe)]; }
};

/// Returns the probes of this installation.
ProbeLibraries installed_probes();

}  // namespace culprit::cli
