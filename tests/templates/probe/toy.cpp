// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/templates/probe/toy.h"

#include <dlfcn.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

namespace {

struct Operation {
  uint64_t number;
  const char* name;
  unsigned milliseconds;
};

/// Never destroyed: the device's thread uses it to the very end.
std::mutex& g_mutex = *new std::mutex;
std::condition_variable& g_changed = *new std::condition_variable;
std::deque<Operation>& g_queue = *new std::deque<Operation>;
uint64_t g_given = 0, g_done = 0;

void nothing() {}
void nothing_of(uint64_t) {}
constexpr ToyTools kNoTools = {nothing, nothing_of, nothing, nothing_of,
                               [](uint64_t, const char*, uint64_t, uint64_t) {}};

const ToyTools& tools() {
  static const ToyTools* const found = [] {
    const char* const file = getenv("TOY_TOOLS");
    void* const library = file != nullptr ? dlopen(file, RTLD_NOW) : nullptr;
    void* const start = library != nullptr ? dlsym(library, "toy_tools_start") : nullptr;
    const ToyTools* const given =
        start != nullptr ? reinterpret_cast<ToyToolsStart>(start)() : nullptr;
    return given != nullptr ? given : &kNoTools;
  }();
  return *found;
}

void execute_all() {
  for (;;) {
    std::unique_lock lock(g_mutex);
    g_changed.wait(lock, [] { return !g_queue.empty(); });
    const Operation operation = g_queue.front();
    g_queue.pop_front();
    lock.unlock();
    const uint64_t begin = toy_clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(operation.milliseconds));
    tools().executed(operation.number, operation.name, begin, toy_clock());
    lock.lock();
    g_done = operation.number;
    g_changed.notify_all();
  }
}

}  // namespace

extern "C" uint64_t toy_clock(void) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count()) + 1'000'000'000'000;
}

extern "C" uint64_t toy_launch(const char* name, unsigned milliseconds) {
  static std::thread device(execute_all);
  static const bool is_alone = (device.detach(), true);
  (void)is_alone;
  tools().launch_begins();
  std::unique_lock lock(g_mutex);
  const uint64_t number = ++g_given;
  g_queue.push_back({number, name, milliseconds});
  lock.unlock();
  tools().launch_ends(number);
  g_changed.notify_all();
  return number;
}

extern "C" void toy_wait(uint64_t operation) {
  tools().wait_begins();
  std::unique_lock lock(g_mutex);
  g_changed.wait(lock, [&] { return g_done >= operation; });
  lock.unlock();
  tools().wait_ends(operation);
}
