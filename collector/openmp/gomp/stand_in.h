// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts that all stand-ins for libgomp's functions need: the real function by its name, and the
// way in which a family of stand-ins offers itself. A stand-in is a template over the name of the
// function that it replaces, so that functions of one kind share their code. Its caller is the
// program: __builtin_return_address(0) in it is the address from which the program calls. MT: a
// real function is stored before its stand-in is handed out, and never changed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp::gomp {

/// A function's name as an argument of a template.
template <size_t length>
struct Name {
  consteval Name(const char (&from)[length]) { std::copy_n(from, length, text); }
  char text[length];
};

template <Name name>
constinit inline std::atomic<void*> g_real{nullptr};

/// libgomp's own function.
template <Name name, class Function>
Function* real() {
  return reinterpret_cast<Function*>(g_real<name>.load(std::memory_order_relaxed));
}

/// Looks for the stand-in of one function.
class Match {
 public:
  Match(const char* name, void* function) : name_(name), function_(function) {}
  template <Name name, class Function>
  void offer(Function* stand_in) {
    if (strcmp(name_, name.text) != 0) return;
    g_real<name>.store(function_, std::memory_order_relaxed);
    stand_in_ = reinterpret_cast<void*>(stand_in);
  }
  /// Looks up a function that has no stand-in, but is called by those of others.
  template <Name name>
  void note() {
    if (strcmp(name_, name.text) == 0) g_real<name>.store(function_, std::memory_order_relaxed);
  }
  /// nullptr: none was offered.
  void* stand_in() const { return stand_in_; }

 private:
  const char* name_;
  void* function_;
  void* stand_in_ = nullptr;
};

/// match.offer of a template of stand-ins, instantiated for the name and further arguments.
#define CULPRIT_OFFER(name, stand_in, ...) \
  match.offer<name>(stand_in<name __VA_OPT__(, ) __VA_ARGS__>)

/// The families.
void offer_regions(Match& match);
void offer_loops(Match& match);
void offer_constructs(Match& match);
void offer_mutexes(Match& match);
void offer_tasks(Match& match);
void offer_targets(Match& match);

/// A thread that ends has left its region: watches for that. Called once, before the first
/// stand-in.
void watch_ends_of_threads();

/// The state of a thread that stand-ins must remember from one call to the next.
struct Thread {
  ompt_data_t* task = nullptr;  ///< the explicit task it executes; nullptr: an implicit one
  long step = 0;                ///< step of the loop it executes
  unsigned work = 0;            ///< the ompt_work_t of the loop or sections it executes
  unsigned dimensions = 0;      ///< nested loops of the doacross loop it executes
  bool arrived = false;         ///< it is at its region's end, and its leaving is yet to be
                                ///< recorded
};
[[gnu::tls_model("initial-exec")]] constinit inline thread_local Thread t_thread = {};

/// Whether this thread's events are wanted at all.
inline bool is_recorded() {
  return live_log() != nullptr;
}

}  // namespace culprit::collector::openmp::gomp
