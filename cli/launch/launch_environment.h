// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the measured program's environment says to the collector:
//   LD_PRELOAD               libculprit.so, in front of what is there
//   CULPRIT_EXPERIMENT       the experiment folder, absolute
//   CULPRIT_OPENMP_RUNTIME   the libomp to put under programs built for libgomp, or `libgomp`
//   CULPRIT_SAMPLING_HZ      samples a second and thread; 0: none
//   CULPRIT_COUNTERS         what to count, names joined by commas
//   CULPRIT_WINDOW, _RANKS, _PHASE, _WITHOUT   what not to record; unset: nothing
//   CULPRIT_MEMORY           MiB that the collector may take in a process
//   CULPRIT_MAX_SIZE         bytes of records that a process may write
//   OPENCL_LAYERS            the OpenCL probe, behind the user's own layers
//   CUDA_INJECTION64_PATH    the CUDA probe, unless the user has another tool there
//   NVTX_INJECTION64_PATH    the NVTX probe, likewise
//   CULPRIT_CUDA_GRAPHS      "nodes": CUDA's graphs node by node; "launches": not so
//   ASAN_OPTIONS             what lets AddressSanitizer run behind us, after the user's options
// Launchers carry their own environment to local ranks; hydra and srun to remote ones too, Open MPI
// only what it is told to, and srun, once it is told something, no more than that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/launch/launcher.h"

namespace culprit::cli {

struct LaunchSettings {
  std::filesystem::path experiment;
  std::filesystem::path preload;
  std::filesystem::path openmp_runtime;  ///< "libgomp": observe that; empty: neither
  unsigned sampling_hz = 0;
  std::string counters;  ///< names joined by commas; empty: none
  std::vector<std::pair<std::string, std::string>> selected = {};  ///< of cli/launch/selection.h
  unsigned memory_mib = 0;                                         ///< 0: as the collector likes
  uint64_t max_size = 0;                                           ///< bytes; 0: no limit
  std::filesystem::path opencl_layer = {};                         ///< empty: there is none
  std::filesystem::path cuda_injection = {};                       ///< likewise
  std::filesystem::path nvtx_injection = {};                       ///< likewise
  std::string cuda_graphs = {};  ///< "nodes": of graphs, each of them; else one operation a launch
};

struct Launch {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< all of it, "NAME=value"
};

/// `command` as it has to be started, with `environment` ("NAME=value", as inherited) changed.
Launch prepare_launch(const std::vector<std::string>& command, const LaunchSettings& settings,
                      const std::vector<std::string>& environment);

/// This process's environment.
std::vector<std::string> inherited_environment();

}  // namespace culprit::cli
