// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that start the ranks of a job, and those that they keep on each node. The command line
// looks behind them for the program; the collector, which reaches them too, leaves them alone.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace culprit {

/// On a command line, in front of the program.
inline constexpr std::array<std::string_view, 10> kLaunchers = {
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "aprun", "jsrun", "flux", "ibrun"};

/// Programs that these start on each node, and programs that start them.
inline constexpr std::array<std::string_view, 12> kLaunchersServants = {"hydra_pmi_proxy",
                                                                        "hydra_bstrap_proxy",
                                                                        "hydra_nameserver",
                                                                        "orted",
                                                                        "prted",
                                                                        "prte",
                                                                        "slurmstepd",
                                                                        "salloc",
                                                                        "sbatch",
                                                                        "palsd",
                                                                        "jsmd",
                                                                        "ssh"};

/// Programs that start others, be it from a child that is forked first.
inline constexpr std::array<std::string_view, 14> kStarters = {
    "sh",  "bash", "dash", "zsh",  "ksh",     "csh",   "tcsh",
    "env", "time", "make", "nice", "timeout", "xargs", "culprit"};

/// "mpiexec" of "mpiexec.hydra": distributions name each MPI's own so.
constexpr std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

constexpr bool starts_ranks(std::string_view name) {
  return std::find(kLaunchers.begin(), kLaunchers.end(), stem_of(name)) != kLaunchers.end();
}

constexpr bool is_launchers_name(std::string_view name) {
  return starts_ranks(name) || std::find(kLaunchersServants.begin(), kLaunchersServants.end(),
                                         stem_of(name)) != kLaunchersServants.end();
}

/// Its children are programs of their own, and its own work is not the measured program's.
constexpr bool starts_others(std::string_view name) {
  return is_launchers_name(name) ||
         std::find(kStarters.begin(), kStarters.end(), name) != kStarters.end();
}

}  // namespace culprit
