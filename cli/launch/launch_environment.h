// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The variables in the measured program's environment that configure the collector:
//   LD_PRELOAD               libculprit-preload.so, in front of what is there
//   CULPRIT_...              the settings of base/settings.def that somebody gave a value
//   OPENCL_LAYERS, ...       the probes that runtimes open (probes.def)
//   ASAN_OPTIONS             what lets AddressSanitizer run behind us, after the user's options
//   Launchers carry their own environment to local ranks; hydra and srun to remote ones too, Open
//   MPI only the variables on its list, and srun, once a list is given, only those on it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "cli/command.h"
#include "cli/launch/probes.h"

namespace culprit::cli {

struct LaunchSettings {
  std::filesystem::path preload;
  std::vector<std::pair<Setting, std::string>> settings;  ///< for the measured program
  ProbeLibraries probes = {};
};

struct Launch {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< all of it, "NAME=value"
};

/// `command` as it has to be started, with `environment` ("NAME=value", as inherited) changed.
Launch prepare_launch(const Command& command, const LaunchSettings& settings,
                      const std::vector<std::string>& environment);

/// This process's environment.
std::vector<std::string> inherited_environment();

}  // namespace culprit::cli
