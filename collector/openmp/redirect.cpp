// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Decides where the calls of programs built for libgomp go, and resolves the stand-ins accordingly.
// The rule is that a program must behave as before: libomp is taken only if libgomp is loaded, no
// libomp is (then the program has sorted that out itself), and libomp has every function that the
// program's objects ask of libgomp.
#include "collector/openmp/redirect.h"

#include <dlfcn.h>

#include <atomic>

#include "collector/environment.h"
#include "collector/interpose/trampolines.h"
#include "collector/openmp/needs.h"
#include "collector/openmp/serial_answers.h"
#include "collector/recorder.h"
#include "collector/system_file.h"

CULPRIT_TRAMPOLINES(gomp)

namespace culprit::collector::openmp {

namespace {

constexpr const char* kGomp = "libgomp.so.1";
constexpr const char* kRuntimesWithTools[] = {"libomp.so.5", "libomp.so", "libiomp5.so"};

enum class Decision : uint32_t { open, next, libomp, refused };

std::atomic<Decision> g_decision{Decision::open};
std::atomic<void*> g_libomp{nullptr};

/// A handle of an object that is loaded already, or nullptr. Its count of users stays raised.
void* loaded(const char* name) {
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

bool has_runtime_with_tools() {
  for (const char* name : kRuntimesWithTools) {
    if (loaded(name) != nullptr) return true;
  }
  return false;
}

Decision decide() {
  const Environment& wishes = environment();
  if (!wishes.wanted || wishes.openmp_runtime[0] == '\0') return Decision::next;
  if (loaded(kGomp) == nullptr || has_runtime_with_tools()) return Decision::next;
  void* libomp = dlopen(wishes.openmp_runtime, RTLD_NOW | RTLD_LOCAL);
  if (libomp == nullptr) return Decision::next;
  if (!answers_all_needs(libomp, kGomp)) return Decision::refused;
  g_libomp.store(libomp, std::memory_order_release);
  return Decision::libomp;
}

// Threads that decide at the same time decide alike; the first one's word stands.
Decision decision() {
  Decision taken = g_decision.load(std::memory_order_acquire);
  if (taken != Decision::open) return taken;
  const Decision mine = decide();
  return g_decision.compare_exchange_strong(taken, mine) ? mine : taken;
}

/// What the program would call without us. A runtime that was loaded for one object only (Python's
/// extensions) is not in the search order.
void* next_definition(const char* name) {
  if (void* function = dlsym(RTLD_NEXT, name)) return function;
  for (const char* runtime : {kGomp, "libomp.so.5", "libomp.so", "libiomp5.so"}) {
    void* handle = loaded(runtime);
    void* function = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (function != nullptr) return function;
  }
  return serial_answer(name);
}

}  // namespace

Redirection redirection() {
  switch (g_decision.load(std::memory_order_acquire)) {
    case Decision::libomp:
      return Redirection::active;
    case Decision::refused:
      return Redirection::refused;
    default:
      return Redirection::none;
  }
}

void* resolve(const char* name) {
  const KeepErrno keep;
  const Decision taken = decision();
  if (trace::RawProcess* record = process()) {
    record->gomp_redirected = static_cast<uint32_t>(redirection());
  }
  if (taken == Decision::libomp) {
    if (void* function = dlsym(g_libomp.load(std::memory_order_acquire), name)) return function;
  }
  return next_definition(name);
}

}  // namespace culprit::collector::openmp

void* culprit_resolve_gomp(unsigned index) {
  return culprit::collector::openmp::resolve(culprit_names_gomp[index]);
}
