// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/probes.h"

#include "cli/installation.h"

namespace culprit::cli {

ProbeLibraries installed_probes() {
  ProbeLibraries libraries;
  for (size_t i = 0; i < kProbes.size(); ++i) libraries[i] = device_probe(kProbes[i].id);
  return libraries;
}

}  // namespace culprit::cli
