/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   For machines without a counter that PAPI can read: preloaded, it lets libpfm4 tell PAPI that what
   the kernel counts in software is a processor's. Then PAPI's component for perf events can be
   used, with event sets and descriptors for each thread as on real hardware. PAPI and with it
   libpfm4 are loaded privately, so the real function is asked of the library itself. */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <string.h>

enum { kCounters = 8 };

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t* info) {
  pfm_err_t (*next)(pfm_pmu_t, pfm_pmu_info_t*);
  *(void**)&next = dlsym(dlopen("libpfm.so.4", RTLD_LAZY), "pfm_get_pmu_info");
  const pfm_err_t result = next(pmu, info);
  if (result == PFM_SUCCESS && info->is_present && info->name && strcmp(info->name, "perf") == 0) {
    info->type = PFM_PMU_TYPE_CORE;
    info->num_cntrs = kCounters;
  }
  return result;
}
