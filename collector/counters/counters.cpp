// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The requested counters are divided among the sources that know them; each thread attaches to
// those sources when it begins, and reads them all in one go.
#include "collector/counters/counters.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "collector/counters/source.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/recorder/thread_log.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector::counters {

namespace {

/// The sources in use. Their counters follow each other in this order.
struct Used {
  const Source* source = nullptr;
  unsigned count = 0;
};
constexpr unsigned kSources = 2;

enum class Phase : uint32_t { undecided, deciding, decided };

std::atomic<Phase> g_phase{Phase::undecided};
Used g_used[kSources];
Choice g_choices[kMaxCounters];  ///< the counters that work, source by source
unsigned g_count = 0;
Choice g_refused[kMaxCounters];
unsigned g_refused_count = 0;

struct ThreadCounters {
  void* of_source[kSources];
  bool attached;
};
constinit thread_local ThreadCounters t_counters __attribute__((tls_model("initial-exec"))) = {};

constexpr const char* kAllOfRusage[] = {"ru_minflt", "ru_majflt", "ru_nvcsw", "ru_nivcsw",
                                        "ru_utime",  "ru_stime",  "ru_maxrss"};

/// The words of the environment's list, in memory that stays.
class CounterRequest {
 public:
  CounterRequest() {
    snprintf(text_, sizeof text_, "%s", environment().counters);
    char* rest = text_;
    for (char* word; (word = strtok_r(rest, ",", &rest)) != nullptr;) add(word);
  }

  /// The words for which `wanted` holds, without repetition.
  template <class Wanted>
  unsigned select(Choice* to, Wanted wanted) const {
    unsigned count = 0;
    for (unsigned i = 0; i < count_; ++i) {
      if (wanted(names_[i])) to[count++] = {names_[i], "", false, nullptr};
    }
    return count;
  }
  bool multiplex() const { return multiplex_; }

 private:
  void add(const char* word) {
    if (strcmp(word, "multiplex") == 0) {
      multiplex_ = true;
    } else if (strcmp(word, "rusage") == 0) {
      for (const char* name : kAllOfRusage) add_name(name);
    } else {
      add_name(word);
    }
  }
  void add_name(const char* name) {
    const auto same = [name](const char* other) { return strcmp(name, other) == 0; };
    if (std::any_of(names_, names_ + count_, same)) return;
    if (count_ < kMaxCounters) {
      names_[count_++] = name;
    } else if (g_refused_count < kMaxCounters) {
      g_refused[g_refused_count++] = {name, "", false, "too many counters"};
    }
  }

  static inline char text_[sizeof(Environment::counters)];
  const char* names_[kMaxCounters];
  unsigned count_ = 0;
  bool multiplex_ = false;
};

/// Keeps the counters that the source can count, and records the rest as missing.
void use(unsigned slot, const Source* source, Choice* choices, unsigned count, bool multiplex,
         const char* without) {
  if (count == 0) return;
  if (source != nullptr) source->choose(choices, count, multiplex);
  for (unsigned i = 0; i < count; ++i) {
    if (source == nullptr) choices[i].why_not = without;
    if (choices[i].why_not == nullptr) {
      g_choices[g_count++] = choices[i];
      ++g_used[slot].count;
    } else if (g_refused_count < kMaxCounters) {
      g_refused[g_refused_count++] = choices[i];
    }
  }
  if (g_used[slot].count > 0) g_used[slot].source = source;
}

/// Opens the library for counters that the system does not offer, from this library's own folder.
const Source* open_library(const char*& without) {
  without = "culprit was built without PAPI";
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&open_library), &self) == 0 || self.dli_fname == nullptr) {
    return nullptr;
  }
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash != nullptr ? static_cast<int>(slash - self.dli_fname) + 1 : 0;
  char path[4200];
  snprintf(path, sizeof path, "%.*slibculprit-papi.so", folder, self.dli_fname);
  if (!is_file(path)) return nullptr;
  without = "libculprit-papi.so cannot be loaded (is PAPI installed?)";
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto* source = static_cast<const Source*>(dlsym(library, kSourceEntry));
  const bool usable = source != nullptr && source->version == kSourceVersion;
  if (!usable) without = "libculprit-papi.so belongs to another version of culprit";
  return usable ? source : nullptr;
}

void decide() {
  const CounterRequest wishes;
  Choice choices[kMaxCounters];
  unsigned count = wishes.select(choices, is_rusage);
  use(0, &kRusage, choices, count, false, "");
  count = wishes.select(choices, [](const char* name) { return !is_rusage(name); });
  const char* without = "";
  const Source* const library = count > 0 ? open_library(without) : nullptr;
  use(1, library, choices, count, wishes.multiplex(), without);
}

/// A record whose rest is two strings, each ended by a zero.
template <class Record>
void put_texts(ThreadLog& log, uint64_t time, Record record, const char* a, const char* b) {
  uint64_t words[63] = {};
  char* text = reinterpret_cast<char*>(words);
  const size_t a_length = std::min(strlen(a), sizeof words / 2 - 1);
  const size_t b_length = std::min(strlen(b), sizeof words / 2 - 1);
  memcpy(text, a, a_length);
  memcpy(text + a_length + 1, b, b_length);
  record.bytes = static_cast<uint16_t>(a_length + b_length + 2);
  log.put(time, record, words, (record.bytes + 7u) / 8);
}

/// Records in this thread's log what its values will mean.
void attach(ThreadLog& log, bool first) {
  const uint64_t time = now();
  for (unsigned slot = 0; slot < kSources; ++slot) {
    const Source* const source = g_used[slot].source;
    t_counters.of_source[slot] = source != nullptr ? source->begin_thread(first) : nullptr;
  }
  t_counters.attached = true;
  for (unsigned i = 0; first && i < g_refused_count; ++i) {
    put_texts(log, time, raw::counter_refused{}, g_refused[i].name, g_refused[i].why_not);
  }
  for (unsigned i = 0; i < g_count; ++i) {
    const Choice& choice = g_choices[i];
    put_texts(log, time, raw::counter_def{.counter = i, .height = choice.level}, choice.name,
              choice.unit);
  }
  log.counting = g_count > 0;
}

void on_thread_begun() {
  ThreadLog* const log = registry::existing_log();
  if (log == nullptr) return;
  const KeepErrno keep;
  Phase phase = Phase::undecided;
  const bool first = g_phase.compare_exchange_strong(phase, Phase::deciding);
  if (first) {
    // Events that the sources cause while they set up are not the program's.
    const Busy busy(Recorder::impl(*log).busy);
    decide();
  }
  if (first || phase == Phase::decided) {
    attach(*log, first);
    if (first) g_phase.store(Phase::decided, std::memory_order_release);
  } else {
    log->counting = true;  // count() tries again
  }
}

void on_thread_ended() {
  if (!t_counters.attached) return;
  if (ThreadLog* const log = registry::existing_log(); log != nullptr && log->counting) {
    log->count(now());
  }
  t_counters.attached = false;
  for (unsigned slot = 0; slot < kSources; ++slot) {
    if (t_counters.of_source[slot] != nullptr) {
      g_used[slot].source->end_thread(t_counters.of_source[slot]);
    }
  }
}

}  // namespace

void start() {
  if (environment().counters[0] != '\0') registry::add_hook({on_thread_begun, on_thread_ended});
}

unsigned read(uint64_t (&values)[kMaxCounters]) {
  unsigned at = 0;
  for (unsigned slot = 0; slot < kSources; ++slot) {
    const Used& used = g_used[slot];
    if (used.source == nullptr) continue;
    void*& thread = t_counters.of_source[slot];
    if (thread == nullptr) return 0;
    if (!used.source->read(thread, values + at)) {
      used.source->end_thread(thread);
      thread = nullptr;
      return 0;
    }
    at += used.count;
  }
  return at;
}

}  // namespace culprit::collector::counters

namespace culprit::collector {

// The values go before the record of the border, so that a reader has them at hand.
void ThreadLog::count(uint64_t time) {
  using namespace counters;
  if (!recording()) return;
  const KeepErrno keep;
  if (!t_counters.attached) {
    if (g_phase.load(std::memory_order_acquire) != Phase::decided) return;
    attach(*this, false);
    if (!counting) return;
  }
  uint64_t values[kMaxCounters];
  unsigned known = 0;
  {
    const Busy busy(impl_->busy);
    known = read(values);
  }
  if (known > 0) {
    put(time, raw::counters{.first = values[0]}, values + 1, known - 1);
  } else {
    counting = false;
    tally(&trace::RawProcess::failed_counters);
  }
}

}  // namespace culprit::collector
