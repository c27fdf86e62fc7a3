// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The entry by which an OpenMP runtime finds us: it looks for `ompt_start_tool` among the process's
// symbols and calls it before anything else. It may do so from the loader's own initialisation, so
// nothing of OpenMP is called back from here. A runtime takes one tool. If the user has another, by
// OMP_TOOL_LIBRARIES, preloaded behind us or in the program itself, that one keeps its place: the
// program must behave as without us.
#include "collector/openmp/ompt_tool.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/openmp/callbacks.h"
#include "collector/openmp/redirection.h"
#include "collector/openmp/unobserved.h"
#include "collector/probes.h"
#include "collector/process/environment.h"
#include "collector/sampling/program_code.h"

namespace culprit::collector::openmp {

namespace {

std::atomic<bool> g_alive{false};
const char* g_runtime_version = "";

int on_initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  return set != nullptr && begin_callbacks(set, g_runtime_version) ? 1 : 0;
}

void on_finalize(ompt_data_t*) {
  g_alive.store(false, std::memory_order_release);
}

/// The answer of the next definition, if any besides the runtime's exists: the runtime's own only
/// leads to us, since it asks for the next definition in turn.
using StartTool = ompt_start_tool_result_t* (*)(unsigned, const char*);

bool is_runtime(const char* object) {
  const char* name = strrchr(object, '/');
  name = name != nullptr ? name + 1 : object;
  return strncmp(name, "libomp.", 7) == 0 || strncmp(name, "libiomp5.", 9) == 0;
}

/// Whether this definition of ompt_start_tool belongs to a tool that observes OpenMP.
bool is_a_tools(void* definition) {
  Dl_info info;
  return definition != nullptr && dladdr(definition, &info) != 0 && !is_runtime(info.dli_fname);
}

StartTool next_tool() {
  void* next = dlsym(RTLD_NEXT, "ompt_start_tool");
  return is_a_tools(next) ? reinterpret_cast<StartTool>(next) : nullptr;
}

void yield_to_other_tool() {
  if (record_unobserved()) process()->declined = trace::RawDeclined::other_tool;
}

const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// The runtime calls only the first definition, and the program's own comes before ours.
[[gnu::constructor]] void notice_tool_in_front() {
  const Environment& wishes = environment();
  if (!wishes.wanted || wishes.omp_tools_disabled || !sampling::has_observed_runtime()) return;
  void* const first = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  if (is_a_tools(first) && object_of(first) != object_of(&g_alive)) yield_to_other_tool();
}

ompt_start_tool_result_t g_result = {on_initialize, on_finalize, {0}};

}  // namespace

bool alive() {
  return g_alive.load(std::memory_order_acquire);
}

bool begin_callbacks(ompt_set_callback_t set, const char* version) {
  if (!activate()) return false;
  trace::RawProcess& record = *process();
  record.declined = trace::RawDeclined::no;  // a tool in front of us has let us in
  snprintf(record.omp_runtime, sizeof record.omp_runtime, "%s", version);
  record.gomp_redirected = static_cast<uint32_t>(redirection());
  register_region_callbacks(set);
  register_construct_callbacks(set, !environment().without.loops);
  if (!environment().without.locks) register_mutex_callbacks(set);
  if (!environment().without.tasks) register_task_callbacks(set);
  register_target_callbacks(set);
  g_alive.store(true, std::memory_order_release);
  return true;
}

}  // namespace culprit::collector::openmp

/// OMPT: called by the runtime. Declining costs the program nothing.
extern "C" CULPRIT_EXPORT ompt_start_tool_result_t* ompt_start_tool(unsigned omp_version,
                                                                    const char* runtime_version) {
  using namespace culprit::collector;
  const openmp::StartTool next = openmp::next_tool();
  ompt_start_tool_result_t* other = next != nullptr ? next(omp_version, runtime_version) : nullptr;
  const char* others = getenv("OMP_TOOL_LIBRARIES");
  const bool yields = other != nullptr || (others != nullptr && others[0] != '\0');
  if (!start_probes()) return other;
  if (yields) {
    openmp::yield_to_other_tool();
    return other;
  }
  if (runtime_version != nullptr) openmp::g_runtime_version = runtime_version;
  return &openmp::g_result;
}
