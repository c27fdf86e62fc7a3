// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folders are read by the system call, since opendir allocates. A thread that is about to end while
// another reads the folder may be counted twice; it is one of many, or its time is short. The last
// known use of a library's thread is kept after the thread has ended.
#include "collector/recorder/tasks.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/process/system_file.h"
#include "collector/recorder/each_thread.h"

namespace culprit::collector::tasks {

namespace {

constexpr unsigned kSlots = 1024;
/// A thread is in one of this number of slots, from that of its own number on.
constexpr unsigned kReach = 16;
constexpr uint32_t kFree = 0, kBeingMade = ~uint32_t{0};
constexpr size_t kLongestName = 48;
/// A thread that has used less than this since it was last recorded is not recorded again.
constexpr uint64_t kWorthTelling_ns = 1'000'000;

struct Task {
  std::atomic<uint32_t> number{kFree};
  std::atomic<bool> said{false};    ///< it has recorded its use itself, at its end
  char library[kLongestName] = {};  ///< the library that made it; empty: unknown
  // Used by looks only:
  Use use;
  uint64_t told_ns = 0;  ///< sum of on_core and without that was recorded last
  uint32_t seen = 0;     ///< number of the last look that found it, or that came after its creation
};

constinit Task g_tasks[kSlots];
constinit Use g_ended;  ///< the use of threads that ended without recording it themselves
constinit std::atomic<uint32_t> g_looks{0};

/// Threads that are made together have consecutive numbers.
Task& slot(uint32_t number, unsigned i) {
  return g_tasks[(number * kReach + i) % kSlots];
}

Task* find(uint32_t number) {
  for (unsigned i = 0; i < kReach; ++i) {
    Task& task = slot(number, i);
    if (task.number.load(std::memory_order_acquire) == number) return &task;
  }
  return nullptr;
}

/// nullptr if there is no room: then its use is only counted in the total.
Task* enter(uint32_t number, const char* library) {
  for (unsigned i = 0; i < kReach; ++i) {
    Task& task = slot(number, i);
    uint32_t nobody = kFree;
    if (!task.number.compare_exchange_strong(nobody, kBeingMade)) continue;
    strncpy(task.library, library, kLongestName - 1);
    task.said.store(false, std::memory_order_relaxed);
    task.use = {};
    task.told_ns = 0;
    task.seen = g_looks.load(std::memory_order_relaxed);
    task.number.store(number, std::memory_order_release);
    return &task;
  }
  return nullptr;
}

/// Writes "/proc/self/task/<number>/<file>" without snprintf, which may not be called from signal
/// handlers.
class TaskPath {
 public:
  TaskPath(uint32_t number, const char* file) {
    add("/proc/self/task/");
    char digits[12];
    unsigned count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    while (count > 0) text_[length_++] = digits[--count];
    add("/");
    add(file);
  }
  const char* get() const { return text_; }

 private:
  void add(const char* part) {
    const size_t size = strlen(part);
    memcpy(text_ + length_, part, size + 1);
    length_ += size;
  }
  char text_[64] = {};
  size_t length_ = 0;
};

/// Format: "<on a core> <waited for one> <how often>", in nanoseconds.
bool read_use(const char* path, Use& use) {
  char text[96];
  if (!read_text(path, text, sizeof text)) return false;
  char* rest = nullptr;
  const uint64_t on_core = strtoull(text, &rest, 10);
  if (rest == text || *rest != ' ') return false;
  use = {on_core, strtoull(rest, nullptr, 10)};
  return true;
}

/// Threads may be bound one by one: the process's cores are the union over all of them.
void add_cores(uint32_t thread, uint64_t (&all)[trace::kRawCoreWords]) {
  uint64_t cores[trace::kRawCoreWords] = {};
  const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof cores, cores);
  if (bytes <= 0) return;
  for (unsigned i = 0; i < trace::kRawCoreWords; ++i) all[i] |= cores[i];
}

/// Two texts, each ended by a zero.
class Texts {
 public:
  void add(const char* text) {
    const size_t size = strlen(text) + 1;
    memcpy(bytes_ + used_, text, size);
    used_ += size;
  }
  uint16_t bytes() const { return static_cast<uint16_t>(used_); }
  const uint64_t* words() const { return words_.data(); }
  unsigned count() const { return static_cast<unsigned>((used_ + 7) / 8); }

 private:
  std::array<uint64_t, 10> words_ = {};
  char* bytes_ = reinterpret_cast<char*>(words_.data());
  size_t used_ = 0;
};

void tell(ThreadLog& log, uint32_t number, Task& task) {
  const uint64_t all_ns = task.use.on_core_ns + task.use.without_ns;
  if (all_ns < task.told_ns + kWorthTelling_ns) return;
  char name[20];
  if (!read_text(TaskPath(number, "comm").get(), name, sizeof name)) return;
  Texts texts;
  texts.add(task.library);
  texts.add(name);
  const bool told = log.put(now(),
                            raw::task_use{.tid = number,
                                          .bytes = texts.bytes(),
                                          .on_core = task.use.on_core_ns,
                                          .without = task.use.without_ns},
                            texts.words(), texts.count());
  if (told) task.told_ns = all_ns;
}

/// The number belongs to another thread now.
void succeed(Task& task) {
  g_ended.on_core_ns += task.use.on_core_ns;
  g_ended.without_ns += task.use.without_ns;
  task.told_ns = 0;
}

/// Frees the slots of threads that have ended. A thread that was made while the threads were listed
/// is spared.
void clear_ended(uint32_t look) {
  for (Task& task : g_tasks) {
    const uint32_t number = task.number.load(std::memory_order_acquire);
    if (number == kFree || number == kBeingMade || task.seen + 1 >= look) continue;
    if (!task.said.load(std::memory_order_relaxed)) {
      g_ended.on_core_ns += task.use.on_core_ns;
      g_ended.without_ns += task.use.without_ns;
    }
    task.number.store(kFree, std::memory_order_release);
  }
}

}  // namespace

void note_maker(const char* library) {
  const auto number = static_cast<uint32_t>(syscall(SYS_gettid));
  Task* const known = find(number);  // a look may have found it before
  if (known == nullptr) {
    enter(number, library);
  } else {
    strncpy(known->library, library, kLongestName - 1);
    known->said.store(false, std::memory_order_relaxed);
  }
}

void note_end() {
  Task* const task = find(static_cast<uint32_t>(syscall(SYS_gettid)));
  if (task != nullptr) task->said.store(true, std::memory_order_relaxed);
}

bool own_use(Use& use) {
  return read_use("/proc/thread-self/schedstat", use);
}

Look look(ThreadLog* log, uint64_t (&cores)[trace::kRawCoreWords]) {
  Look found;
  const uint32_t number_of_look = g_looks.fetch_add(1, std::memory_order_relaxed) + 1;
  for_each_thread([&](uint32_t number) {
    Use use;
    Task* task = find(number);
    if (task != nullptr && task->said.load(std::memory_order_relaxed)) return;
    if (!read_use(TaskPath(number, "schedstat").get(), use)) return;
    found.known = true;
    ++found.threads;
    found.use.on_core_ns += use.on_core_ns;
    found.use.without_ns += use.without_ns;
    add_cores(number, cores);
    if (task == nullptr) task = enter(number, "");
    if (task == nullptr) return;
    if (use.on_core_ns < task->use.on_core_ns) succeed(*task);
    task->use = use;
    task->seen = number_of_look;
    if (log != nullptr) tell(*log, number, *task);
  });
  if (!found.known) return found;
  clear_ended(number_of_look);
  found.use.on_core_ns += g_ended.on_core_ns;
  found.use.without_ns += g_ended.without_ns;
  return found;
}

void forget() {
  for (Task& task : g_tasks) task.number.store(kFree, std::memory_order_relaxed);
  g_ended = {};
}

}  // namespace culprit::collector::tasks
