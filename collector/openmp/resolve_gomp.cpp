// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Decides where the calls of programs built for libgomp go, and resolves the stand-ins accordingly.
// The rule is that a program must behave as before: libomp is taken only if libgomp is loaded, no
// libomp is (then the program has chosen for itself), and libomp has every function of libgomp that
// the program's objects need.
#include "collector/openmp/redirection.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "collector/interpose/trampolines.h"
#include "collector/openmp/gomp/probe.h"
#include "collector/openmp/gomp_repairs.h"
#include "collector/openmp/loaded_runtimes.h"
#include "collector/openmp/needs.h"
#include "collector/openmp/serial_answers.h"
#include "collector/openmp/unobserved.h"
#include "collector/probes.h"
#include "collector/process/environment.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"

CULPRIT_TRAMPOLINES(gomp)

namespace culprit::collector::openmp {

namespace {

enum class Decision : uint32_t { open, next, libomp, refused, probe };

std::atomic<Decision> g_decision{Decision::open};
std::atomic<void*> g_libomp{nullptr};
char g_lacking[sizeof(trace::RawProcess::gomp_lacking)];  // threads that write at the same time
                                                          // write the same text

/// The function that the program would call without us.
void* next_definition(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  return function != nullptr ? function : defined_by_loaded(name);
}

/// Whether the program has loaded such a runtime. This is checked once: while one thread decides,
/// another may have loaded ours.
bool program_has_runtime_with_tools() {
  constexpr int kNotAsked = -1;
  static std::atomic<int> answer{kNotAsked};
  int known = answer.load(std::memory_order_acquire);
  if (known != kNotAsked) return known != 0;
  const int mine = has_runtime_with_tools() ? 1 : 0;
  return answer.compare_exchange_strong(known, mine) ? mine != 0 : known != 0;
}

Decision decide() {
  const Environment& wishes = environment();
  const bool asked_for = wishes.probes_libgomp || wishes.openmp_runtime[0] != '\0';
  if (!wishes.wanted || !asked_for) return Decision::next;
  if (loaded_libgomp() == nullptr || program_has_runtime_with_tools()) return Decision::next;
  if (wishes.probes_libgomp) {
    const bool probes = start_probes() && observe_libgomp(next_definition);
    return probes ? Decision::probe : Decision::next;
  }
  void* libomp = dlopen(wishes.openmp_runtime, RTLD_NOW | RTLD_LOCAL);
  if (libomp == nullptr) return Decision::next;
  if (!answers_all_needs(libomp, g_lacking, sizeof g_lacking)) return Decision::refused;
  g_libomp.store(libomp, std::memory_order_release);
  return Decision::libomp;
}

// Threads that decide at the same time decide alike; the first decision stands.
Decision decision() {
  Decision taken = g_decision.load(std::memory_order_acquire);
  if (taken != Decision::open) return taken;
  const Decision mine = decide();
  return g_decision.compare_exchange_strong(taken, mine) ? mine : taken;
}

void* find(Decision taken, const char* name) {
  if (taken == Decision::libomp) {
    void* const libomp = g_libomp.load(std::memory_order_acquire);
    if (void* function = dlsym(libomp, name)) return repaired(name, function, libomp);
  }
  void* const function = next_definition(name);
  return taken == Decision::probe && function != nullptr ? observed(name, function) : function;
}

/// A library's constructor may start a team and wait for it, while its thread holds the loader's
/// lock. The team's threads must not want that lock, as looking for a symbol does, so the thread
/// that starts the first team looks for all of them.
void find_all(Decision taken) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  for (unsigned i = 0; i < culprit_count_gomp; ++i) {
    void* const function = find(taken, culprit_names_gomp[i]);
    if (function == nullptr) continue;
    std::atomic_ref<void*>(culprit_slots_gomp[i]).store(function, std::memory_order_relaxed);
  }
}

bool starts_a_team(const char* name) {
  return strncmp(name, "GOMP_parallel", strlen("GOMP_parallel")) == 0;
}

}  // namespace

Redirection redirection() {
  switch (g_decision.load(std::memory_order_acquire)) {
    case Decision::libomp:
      return Redirection::active;
    case Decision::refused:
      return Redirection::refused;
    case Decision::probe:
      return Redirection::probed;
    default:
      return Redirection::none;
  }
}

void* resolve(const char* name) {
  const KeepErrno keep;
  const Decision taken = decision();
  if (taken == Decision::refused) record_unobserved();
  if (trace::RawProcess* record = process()) {
    record->gomp_redirected = static_cast<uint32_t>(redirection());
    if (taken == Decision::refused) memcpy(record->gomp_lacking, g_lacking, sizeof g_lacking);
  }
  if (starts_a_team(name)) find_all(taken);
  void* const function = find(taken, name);
  return function != nullptr ? function : serial_answer(name);
}

}  // namespace culprit::collector::openmp

void* culprit_resolve_gomp(unsigned index) {
  return culprit::collector::openmp::resolve(culprit_names_gomp[index]);
}
