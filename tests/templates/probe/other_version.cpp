// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A probe that another version of culprit has left behind: told so, it stays away.
#include <cstdint>

extern "C" bool culprit_takes_probe(uint32_t raw_version);

extern "C" __attribute__((visibility("default"))) const void* toy_tools_start(void) {
  return culprit_takes_probe(1) ? "" : nullptr;
}
