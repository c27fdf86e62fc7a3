// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The environment contract between `culprit run` or `record` and the collector. No value is
// trusted: one that makes no sense counts as unset.
#include "collector/process/environment.h"

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "collector/process/system_file.h"

namespace culprit::collector {

namespace {

Environment g_environment;
bool g_read = false;

/// Field 4 of /proc/<pid>/stat; the name in field 2 may hold anything, so it is counted from its
/// end.
long parent_of(long process) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  if (!read_text(path, text, sizeof text)) return 0;
  const char* name_end = strrchr(text, ')');
  long parent = 0;
  return name_end != nullptr && sscanf(name_end + 1, " %*c %ld", &parent) == 1 ? parent : 0;
}

/// MPICH's own launcher gives its jobs no name, but all its proxies, one per node, get the port of
/// the mpiexec that they serve. A rank's proxy is its parent, or that of a shell in between.
template <size_t size>
void copy_port_of_hydra(char (&to)[size]) {
  constexpr char kOption[] = "--control-port";
  constexpr int kGenerations = 5;
  long process = getppid();
  for (int i = 0; i < kGenerations && process > 1; ++i, process = parent_of(process)) {
    char path[64], words[1024] = {};
    snprintf(path, sizeof path, "/proc/%ld/cmdline", process);
    if (!read_text(path, words, sizeof words - 1)) return;
    for (const char* word = words; *word != '\0'; word += strlen(word) + 1) {
      if (strcmp(word, kOption) != 0) continue;
      snprintf(to, size, "hydra.%s", word + sizeof kOption);
      return;
    }
  }
}

/// A name that is the same for all ranks of a job and for no other job at the same time.
template <size_t size>
void copy_job(char (&to)[size]) {
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_KVSNAME", "PALS_APID"}) {
    const char* value = getenv(name);
    if (value == nullptr || value[0] == '\0') continue;
    snprintf(to, size, "%s", value);
    return;
  }
  if (getenv("PMI_FD") != nullptr || getenv("PMI_PORT") != nullptr) copy_port_of_hydra(to);
  const char* job = getenv("SLURM_JOB_ID");
  const char* step = getenv("SLURM_STEP_ID");
  if (to[0] != '\0' || job == nullptr || step == nullptr) return;
  // In a heterogeneous job the ranks of one world have different numbers.
  if (getenv("SLURM_HET_SIZE") == nullptr) snprintf(to, size, "%s.%s", job, step);
}

/// The value of the first variable that holds a number, else -1.
int first_number(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = getenv(name);
    if (value == nullptr) continue;
    char* end = nullptr;
    const long number = strtol(value, &end, 10);
    if (end != value && *end == '\0' && number >= 0 && number < INT_MAX) {
      return static_cast<int>(number);
    }
  }
  return -1;
}

/// Open MPI passes a spawned program the port of its parents' root: "<job>.<rank>:<number>".
template <size_t size>
void copy_parent(char (&to)[size]) {
  const char* port = getenv("OMPI_PARENT_PORT");
  if (port != nullptr) snprintf(to, size, "%.*s", static_cast<int>(strcspn(port, ":")), port);
}

/// Resolves settings that depend on each other.
void reconcile(Environment& read) {
  if (read.without.samples) read.sampling = 0;
  read.probes_libgomp = strcmp(read.openmp_runtime, "libgomp") == 0;
  if (read.openmp_runtime[0] != '/') read.openmp_runtime[0] = '\0';
  read.wanted = read.experiment[0] == '/' && !read.disable;
}

}  // namespace

const Environment& environment() {
  if (g_read) return g_environment;
  read_program_settings([](const char* name) { return getenv(name); }, g_environment);
  reconcile(g_environment);
  copy_job(g_environment.job);
  copy_parent(g_environment.parent);
  g_environment.launcher_rank =
      first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  g_environment.launcher_size =
      first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  g_environment.launcher_local_size =
      first_number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"});
  const char* tools = getenv("OMP_TOOL");
  g_environment.omp_tools_disabled = tools != nullptr && strcmp(tools, "disabled") == 0;
  g_read = true;
  return g_environment;
}

}  // namespace culprit::collector
