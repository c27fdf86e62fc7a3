// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counters by PAPI: presets (PAPI_TOT_INS), native events (perf::PAGE-FAULTS) and those that
// libraries define in software (sde:::lib::name). Each component of PAPI needs an event set of its
// own, for each thread. Which events count here is found by trying: all events that a component
// claims are added to a set that is started and stopped once, and those that cannot be added are
// left out. A program that uses PAPI itself keeps it: two owners of one component's counters would
// stop each other. Assumes that choose() is over before any thread begins.
#include <papi.h>
#include <pthread.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "collector/counters/source.h"

namespace {

using culprit::collector::counters::Choice;
using culprit::collector::counters::kSourceVersion;
using culprit::collector::counters::Source;

constexpr unsigned kMaxEvents = 32;
constexpr unsigned kMaxComponents = 8;
constexpr rlim_t kDescriptors = 4096;  ///< each counter of each thread may take one

struct Event {
  int code;
  unsigned group;  ///< index of its component
};

struct Group {
  int component;
  bool whole_process;  ///< one thread reads it for all
  bool kernel_too;
};

Event g_events[kMaxEvents];  ///< in the order of the choices
unsigned g_event_count = 0;
Group g_groups[kMaxComponents];
unsigned g_group_count = 0;
bool g_multiplex = false;

struct ThreadSets {
  int sets[kMaxComponents];
};

/// Whether a component counts once for the whole process, as for events that a library of the
/// program defines.
bool counts_whole_process(int component) {
  const PAPI_component_info_t* info = PAPI_get_component_info(component);
  return info != nullptr && strcmp(info->name, "sde") == 0;
}

/// The kernel counts these on its own behalf: the default, which counts user mode only, always
/// gives 0.
bool happens_in_kernel(const char* name) {
  return strstr(name, "CONTEXT-SWITCHES") != nullptr || strstr(name, "MIGRATIONS") != nullptr;
}

void raise_descriptor_limit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) return;
  limit.rlim_cur = limit.rlim_max < kDescriptors ? limit.rlim_max : kDescriptors;
  setrlimit(RLIMIT_NOFILE, &limit);
}

const char* make_ready() {
  if (PAPI_is_initialized() != PAPI_NOT_INITED) return "the program uses PAPI itself";
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return "PAPI cannot be initialized";
  if (PAPI_thread_init(pthread_self) != PAPI_OK) return "PAPI does not support threads";
  if (g_multiplex && PAPI_multiplex_init() != PAPI_OK) return "PAPI cannot multiplex";
  return nullptr;
}

/// PAPI's text for an error, or where that is only "invalid argument", the component's own.
const char* why(int error, int component) {
  const PAPI_component_info_t* info = component < 0 ? nullptr : PAPI_get_component_info(component);
  if (info != nullptr && info->disabled != 0) return info->disabled_reason;
  const char* text = PAPI_strerror(error);
  return text != nullptr ? text : "PAPI rejects it";
}

/// For an event that PAPI has no code for: whether the component it names cannot be used at all.
const char* why_unknown(int error, const char* name) {
  const bool perf = strchr(name, ':') == nullptr || strncmp(name, "perf::", 6) == 0;
  const int component = PAPI_get_component_index(perf ? "perf_event" : "");
  return why(error, component);
}

unsigned group_of(int component) {
  for (unsigned i = 0; i < g_group_count; ++i) {
    if (g_groups[i].component == component) return i;
  }
  if (g_group_count == kMaxComponents) return kMaxComponents;
  g_groups[g_group_count] = {component, counts_whole_process(component), false};
  return g_group_count++;
}

/// A new event set of the component's; PAPI_NULL if it cannot be made.
int new_set(const Group& group) {
  int set = PAPI_NULL;
  if (PAPI_create_eventset(&set) != PAPI_OK) return PAPI_NULL;
  if (PAPI_assign_eventset_component(set, group.component) != PAPI_OK) {
    PAPI_destroy_eventset(&set);
    return PAPI_NULL;
  }
  if (group.kernel_too) {
    PAPI_option_t option = {};
    option.domain.eventset = set;
    option.domain.domain = PAPI_DOM_ALL;
    PAPI_set_opt(PAPI_DOMAIN, &option);
  }
  if (g_multiplex) PAPI_set_multiplex(set);
  return set;
}

void drop_set(int set) {
  long long ignored[kMaxEvents];
  PAPI_stop(set, ignored);
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
}

/// Tries the choices of one component together; those that do not fit get a reason.
void try_group(unsigned number, Choice* choices, const Event* events, unsigned count) {
  const Group& group = g_groups[number];
  const int set = new_set(group);
  int error = set == PAPI_NULL ? PAPI_ECMP : PAPI_OK;
  unsigned added = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (choices[i].why_not != nullptr || events[i].group != number) continue;
    const int refused = error != PAPI_OK ? error : PAPI_add_event(set, events[i].code);
    if (refused != PAPI_OK) {
      choices[i].why_not = why(refused, group.component);
    } else {
      ++added;
    }
  }
  if (set == PAPI_NULL) return;
  if (added > 0) error = PAPI_start(set);
  for (unsigned i = 0; error != PAPI_OK && i < count; ++i) {
    if (choices[i].why_not != nullptr || events[i].group != number) continue;
    choices[i].why_not = why(error, group.component);
  }
  drop_set(set);
}

void choose(Choice* choices, unsigned count, bool multiplex) {
  g_multiplex = multiplex;
  Event events[kMaxEvents] = {};
  const char* const hopeless = make_ready();
  if (hopeless == nullptr) raise_descriptor_limit();
  for (unsigned i = 0; i < count; ++i) {
    if (hopeless != nullptr || i >= kMaxEvents) {
      choices[i].why_not = hopeless != nullptr ? hopeless : "too many counters";
      continue;
    }
    const int error = PAPI_event_name_to_code(choices[i].name, &events[i].code);
    if (error != PAPI_OK) {
      choices[i].why_not = why_unknown(error, choices[i].name);
      continue;
    }
    events[i].group = group_of(PAPI_get_event_component(events[i].code));
    if (events[i].group == kMaxComponents) {
      choices[i].why_not = "too many PAPI components at once";
    } else if (happens_in_kernel(choices[i].name)) {
      g_groups[events[i].group].kernel_too = true;
    }
  }
  for (unsigned number = 0; number < g_group_count; ++number) {
    try_group(number, choices, events, count);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (choices[i].why_not == nullptr) g_events[g_event_count++] = events[i];
  }
}

bool start_set(int set, unsigned number) {
  for (unsigned i = 0; i < g_event_count; ++i) {
    if (g_events[i].group == number && PAPI_add_event(set, g_events[i].code) != PAPI_OK)
      return false;
  }
  return PAPI_start(set) == PAPI_OK;
}

void end_thread(void* state) {
  auto* thread = static_cast<ThreadSets*>(state);
  for (unsigned number = 0; number < g_group_count; ++number) {
    if (thread->sets[number] != PAPI_NULL) drop_set(thread->sets[number]);
  }
  PAPI_unregister_thread();
  delete thread;
}

void* begin_thread(bool first) {
  if (PAPI_register_thread() != PAPI_OK) return nullptr;
  auto* thread = new ThreadSets;
  for (int& set : thread->sets) set = PAPI_NULL;
  for (unsigned number = 0; number < g_group_count; ++number) {
    if (g_groups[number].whole_process && !first) continue;
    int& set = thread->sets[number];
    set = new_set(g_groups[number]);
    if (set == PAPI_NULL || !start_set(set, number)) {
      end_thread(thread);
      return nullptr;
    }
  }
  return thread;
}

bool read(void* state, uint64_t* values) {
  const auto* thread = static_cast<const ThreadSets*>(state);
  for (unsigned number = 0; number < g_group_count; ++number) {
    long long counted[kMaxEvents] = {};
    const int set = thread->sets[number];
    if (set != PAPI_NULL && PAPI_read(set, counted) != PAPI_OK) return false;
    unsigned next = 0;
    for (unsigned i = 0; i < g_event_count; ++i) {
      if (g_events[i].group == number) values[i] = static_cast<uint64_t>(counted[next++]);
    }
  }
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const Source culprit_counter_source = {kSourceVersion, choose, begin_thread, read, end_thread};

/// For people who ask beforehand (culprit doctor): why each does not count here, nullptr if it
/// does.
extern "C" __attribute__((visibility("default"))) void culprit_try_counters(
    const char* const* names, unsigned count, const char** why_not) {
  Choice choices[kMaxEvents];
  if (count > kMaxEvents) count = kMaxEvents;
  for (unsigned i = 0; i < count; ++i) choices[i] = {names[i], "", false, nullptr};
  choose(choices, count, false);
  for (unsigned i = 0; i < count; ++i) why_not[i] = choices[i].why_not;
}
