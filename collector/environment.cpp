// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The environment contract between `culprit run` or `record` and the collector. Assumes nothing of
// the values: one that makes no sense counts as unset.
#include "collector/environment.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace culprit::collector {

namespace {

constexpr unsigned kMaxSamplingHz = 10000;

Environment g_environment;
bool g_read = false;

bool copy_path(const char* variable, char (&to)[PATH_MAX]) {
  const char* value = getenv(variable);
  if (value == nullptr || value[0] != '/') return false;
  const size_t length = strlen(value);
  if (length >= sizeof to) return false;
  memcpy(to, value, length + 1);
  return true;
}

unsigned sampling_rate() {
  const char* value = getenv("CULPRIT_SAMPLING_HZ");
  if (value == nullptr) return 0;
  const unsigned long hz = strtoul(value, nullptr, 10);
  return hz > kMaxSamplingHz ? kMaxSamplingHz : static_cast<unsigned>(hz);
}

bool switched_off() {
  const char* value = getenv("CULPRIT_DISABLE");
  return value != nullptr && value[0] != '\0' && strcmp(value, "0") != 0;
}

/// Something that is the same for all ranks of a job and for no other job at the same time. MPICH's
/// own launcher tells nothing of the kind.
template <size_t size>
void copy_job(char (&to)[size]) {
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_KVSNAME", "PALS_APID"}) {
    const char* value = getenv(name);
    if (value == nullptr || value[0] == '\0') continue;
    snprintf(to, size, "%s", value);
    return;
  }
  const char* job = getenv("SLURM_JOB_ID");
  const char* step = getenv("SLURM_STEP_ID");
  // In a heterogeneous job the ranks of one world have different numbers.
  if (job == nullptr || step == nullptr || getenv("SLURM_HET_SIZE") != nullptr) return;
  snprintf(to, size, "%s.%s", job, step);
}

}  // namespace

const Environment& environment() {
  if (g_read) return g_environment;
  const char* clock = getenv("CULPRIT_CLOCK");
  g_environment.monotonic_clock = clock != nullptr && strcmp(clock, "monotonic") == 0;
  g_environment.sampling_hz = sampling_rate();
  copy_path("CULPRIT_OPENMP_RUNTIME", g_environment.openmp_runtime);
  copy_job(g_environment.job);
  g_environment.wanted =
      copy_path("CULPRIT_EXPERIMENT", g_environment.experiment) && !switched_off();
  g_read = true;
  return g_environment;
}

}  // namespace culprit::collector
