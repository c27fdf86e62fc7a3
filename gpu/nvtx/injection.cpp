// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// NVTX's ranges as regions of the program, as if it used include/culprit.h. Ranges that are pushed
// and popped nest on their thread, so they are regions. Those that are started and ended may begin
// on one thread, end on another and overlap: they are no part of any thread's stack, and are
// counted, as marks are. A process that is not recorded for another reason stays so.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "collector/process/recorder.h"
#include "gpu/nvtx/abi.h"
#include "gpu/nvtx/names.h"
#include "include/culprit.h"

extern "C" const culprit_calls culprit_calls_1;

namespace culprit::gpu::nvtx {

namespace {

/// The data of an open range that its pop needs.
struct OpenRange {
  const Domain* domain = nullptr;
  bool recorded = false;
  Text name;
};
/// Ranges of a domain that are too deep are only counted.
struct DeeperRanges {
  const Domain* domain = nullptr;
  unsigned count = 0;
};
constexpr unsigned kDeepest = 64;
constexpr unsigned kMostDeeperDomains = 16;
struct OpenRanges {
  OpenRange ranges[kDeepest];
  unsigned count = 0;
  DeeperRanges deeper[kMostDeeperDomains];
};

/// Made at a thread's first range, so that threads without any take no memory; gone with it.
pthread_key_t g_key;
const bool g_has_key = pthread_key_create(&g_key, free) == 0;

OpenRanges* open_ranges() {
  if (void* known = pthread_getspecific(g_key)) return static_cast<OpenRanges*>(known);
  void* const memory = malloc(sizeof(OpenRanges));
  if (memory == nullptr) return nullptr;
  auto* const made = ::new (memory) OpenRanges;
  if (pthread_setspecific(g_key, made) == 0) return made;
  free(memory);
  return nullptr;
}

/// Domains beyond those that there is room for share the last place.
DeeperRanges& deeper_of(OpenRanges& open, const Domain* domain) {
  DeeperRanges* free_place = nullptr;
  for (DeeperRanges& deeper : open.deeper) {
    if (deeper.count > 0 && deeper.domain == domain) return deeper;
    if (deeper.count == 0 && free_place == nullptr) free_place = &deeper;
  }
  if (free_place == nullptr) return open.deeper[kMostDeeperDomains - 1];
  free_place->domain = domain;
  return *free_place;
}

void count(uint64_t trace::RawProcess::* counter) {
  trace::RawProcess* const process = collector::is_active() ? collector::process() : nullptr;
  if (process != nullptr) std::atomic_ref(process->*counter).fetch_add(1);
}

void tell_begin(const OpenRange& range) {
  if (!range.recorded) return;
  culprit_calls_1.region_begin(range.name.bytes.data(), range.name.length);
}

void tell_end(const OpenRange& range) {
  if (!range.recorded) return;
  culprit_calls_1.region_end(range.name.bytes.data(), range.name.length);
}

/// The level of the new range among those of its domain, as NVTX has it.
int push(const Domain* domain, const Text& name) {
  OpenRanges* const open = open_ranges();
  if (open == nullptr) return -1;
  int level = 0;
  for (unsigned i = 0; i < open->count; ++i) level += open->ranges[i].domain == domain ? 1 : 0;
  DeeperRanges& deeper = deeper_of(*open, domain);
  if (open->count == kDeepest || deeper.count > 0) return level + static_cast<int>(deeper.count++);
  OpenRange& range = open->ranges[open->count++];
  range = {domain, collector::is_active(), name};
  tell_begin(range);
  return level;
}

/// Ranges of several domains need not nest: those inside of the one that ends go on after it.
void close(OpenRanges& open, unsigned which) {
  for (unsigned i = open.count; i-- > which;) tell_end(open.ranges[i]);
  for (unsigned i = which; i + 1 < open.count; ++i) {
    open.ranges[i] = open.ranges[i + 1];
    tell_begin(open.ranges[i]);
  }
  --open.count;
}

int pop(const Domain* domain) {
  OpenRanges* const open = open_ranges();
  if (open == nullptr) return -1;
  int level = -1;
  unsigned last = kDeepest;
  for (unsigned i = 0; i < open->count; ++i) {
    if (open->ranges[i].domain != domain) continue;
    last = i;
    ++level;
  }
  DeeperRanges& deeper = deeper_of(*open, domain);
  if (deeper.count > 0) return level + static_cast<int>(deeper.count--);
  if (last == kDeepest) return -1;
  close(*open, last);
  return level;
}

uint64_t start() {
  static std::atomic<uint64_t> last{0};
  count(&trace::RawProcess::nvtx_ranges);
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void mark() {
  count(&trace::RawProcess::nvtx_marks);
}

// --- The functions that the program calls ---

using abi::Attributes;

int push_ex(const Attributes* attributes) {
  return push(nullptr, message(nullptr, attributes));
}
int push_a(const char* text) {
  return push(nullptr, message(nullptr, text));
}
int push_w(const wchar_t* text) {
  return push(nullptr, message(nullptr, text));
}
int pop_range() {
  return pop(nullptr);
}
int domain_push_ex(const Domain* domain, const Attributes* attributes) {
  return push(domain, message(domain, attributes));
}
int domain_pop(const Domain* domain) {
  return pop(domain);
}
uint64_t start_ex(const Attributes*) {
  return start();
}
uint64_t start_a(const char*) {
  return start();
}
uint64_t start_w(const wchar_t*) {
  return start();
}
uint64_t domain_start_ex(const Domain*, const Attributes*) {
  return start();
}
void mark_ex(const Attributes*) {
  mark();
}
void mark_a(const char*) {
  mark();
}
void mark_w(const wchar_t*) {
  mark();
}
void domain_mark_ex(const Domain*, const Attributes*) {
  mark();
}
const Registered* register_a(const Domain* domain, const char* string) {
  return register_string(domain, message(nullptr, string));
}
const Registered* register_w(const Domain* domain, const wchar_t* string) {
  return register_string(domain, message(nullptr, string));
}
const Domain* create_a(const char* name) {
  return domain_named(name != nullptr ? name : "");
}
const Domain* create_w(const wchar_t* name) {
  Text text;
  if (name != nullptr) text.add(name);
  return domain_named(text.view());
}

// --- Start ---

struct Place {
  unsigned number;
  abi::Function function;
};
template <class Number, class Function>
Place place(Number number, Function* function) {
  return {static_cast<unsigned>(number), reinterpret_cast<abi::Function>(function)};
}

/// A program may know fewer functions than we do.
template <size_t kCount>
void fill(const abi::Callbacks& callbacks, abi::Module module, const Place (&functions)[kCount]) {
  abi::Function** places = nullptr;
  unsigned count = 0;
  if (callbacks.functions_of(module, &places, &count) == 0 || places == nullptr) return;
  for (const Place& ours : functions) {
    if (ours.number < count && places[ours.number] != nullptr) {
      *places[ours.number] = ours.function;
    }
  }
}

void fill_all(const abi::Callbacks& callbacks) {
  using abi::Core;
  using abi::Core2;
  fill(callbacks, abi::Module::core,
       {place(Core::mark_ex, mark_ex), place(Core::mark_a, mark_a), place(Core::mark_w, mark_w),
        place(Core::range_start_ex, start_ex), place(Core::range_start_a, start_a),
        place(Core::range_start_w, start_w), place(Core::range_push_ex, push_ex),
        place(Core::range_push_a, push_a), place(Core::range_push_w, push_w),
        place(Core::range_pop, pop_range)});
  fill(callbacks, abi::Module::core2,
       {place(Core2::domain_mark_ex, domain_mark_ex),
        place(Core2::domain_range_start_ex, domain_start_ex),
        place(Core2::domain_range_push_ex, domain_push_ex),
        place(Core2::domain_range_pop, domain_pop),
        place(Core2::domain_register_string_a, register_a),
        place(Core2::domain_register_string_w, register_w), place(Core2::domain_create_a, create_a),
        place(Core2::domain_create_w, create_w)});
}

}  // namespace

}  // namespace culprit::gpu::nvtx

/// Called by NVTX in the program, and in each library with tables of its own; it does without us if
/// 0 is returned.
extern "C" CULPRIT_EXPORT int InitializeInjectionNvtx2(culprit::gpu::nvtx::abi::GetTable table_of) {
  using namespace culprit::gpu::nvtx;
  if (!culprit::collector::culprit_takes_probe(culprit::trace::kRawVersion)) return 0;
  const auto* callbacks = table_of != nullptr
                              ? static_cast<const abi::Callbacks*>(table_of(abi::Table::callbacks))
                              : nullptr;
  if (callbacks == nullptr || callbacks->size < sizeof *callbacks || !g_has_key) return 0;
  fill_all(*callbacks);
  return 1;
}
