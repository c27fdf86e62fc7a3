// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The door through which an OpenMP runtime finds us: it looks for `ompt_start_tool` among the
// process's symbols and calls it before anything else. It may do so from the loader's own
// initialisation, so nothing of OpenMP is called back from here.
#include "collector/openmp/ompt_tool.h"

#include <atomic>
#include <cstdio>

#include "collector/openmp/callbacks.h"
#include "collector/openmp/redirect.h"
#include "collector/probes.h"

namespace culprit::collector::openmp {

namespace {

std::atomic<bool> g_alive{false};
const char* g_runtime_version = "";

int on_initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set == nullptr || !activate()) return 0;
  trace::RawProcess& record = *process();
  snprintf(record.omp_runtime, sizeof record.omp_runtime, "%s", g_runtime_version);
  record.gomp_redirected = static_cast<uint32_t>(redirection());
  register_region_callbacks(set);
  register_construct_callbacks(set);
  register_mutex_callbacks(set);
  register_task_callbacks(set);
  g_alive.store(true, std::memory_order_release);
  return 1;
}

void on_finalize(ompt_data_t*) {
  g_alive.store(false, std::memory_order_release);
}

ompt_start_tool_result_t g_result = {on_initialize, on_finalize, {0}};

}  // namespace

bool alive() {
  return g_alive.load(std::memory_order_acquire);
}

}  // namespace culprit::collector::openmp

/// OMPT: called by the runtime. Declining costs the program nothing.
extern "C" CULPRIT_EXPORT ompt_start_tool_result_t* ompt_start_tool(unsigned,
                                                                    const char* runtime_version) {
  using namespace culprit::collector;
  if (!start_probes()) return nullptr;
  if (runtime_version != nullptr) openmp::g_runtime_version = runtime_version;
  return &openmp::g_result;
}
