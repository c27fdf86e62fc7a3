// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread that neither had a core nor waited for one between two looks has slept. Then the system
// shows in which call, and where its stack ends; the stack is unwound; and if the account is still
// the same, the thread has been there all the time. The sleep's begin and end lie between two
// looks, and follow from the account: the thread has computed for the rest. The files with this
// data are kept open, among descriptors that the program does not share.
#include "collector/sampling/watch/sleep_watch.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "collector/callpath/own_memory.h"
#include "collector/callpath/sleeper_stack.h"
#include "collector/process/lifecycle.h"
#include "collector/recorder/each_thread.h"
#include "collector/recorder/thread_log.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/program_code.h"

namespace culprit::collector::sampling {

#if defined(__x86_64__)

namespace {

constexpr unsigned kMostTasks = 128;
constexpr uint64_t kShortestPause_ns = 5'000'000, kLongestPause_ns = 80'000'000;
/// Pause between looks that would otherwise cost too much.
constexpr uint64_t kOverspentPause_ns = 1'280'000'000;
/// The cost limit of looks: a part of the time of one core, or of those that the process uses, and
/// a little at the beginning.
constexpr uint64_t kPartOfAll = 1000, kFree_ns = 10'000'000;
/// A sleep is recorded in pieces, so that the records of a killed process lack only the last.
constexpr uint64_t kPiece_ns = 1'000'000'000;
constexpr unsigned kLooksBetweenLists = 16, kMostSkipped = 16;

std::atomic<bool> g_has_new_thread{false};

uint64_t nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Reads the whole of a small system file again.
bool read_again(int file, char* to, size_t room) {
  const long bytes = syscall(SYS_pread64, file, to, room - 1, 0);
  to[bytes > 0 ? bytes : 0] = '\0';
  return bytes > 0;
}

int open_of(uint32_t thread, const char* name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%u/%s", thread, name);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
}

void close_it(int file) {
  if (file >= 0) syscall(SYS_close, file);
}

// --- whose code a thread sleeps in --------------------------------------------------------------

enum class Whose { unknown, program, nobodys_business };
Whose g_whose;

/// The base name of the file that holds the code; what the loader knows may be gone any moment.
bool name_of_file_at(uintptr_t address, char (&name)[256]) {
  const link_map* const map = object_of(address);
  link_map known;
  if (map == nullptr || !copy_own_memory(reinterpret_cast<uintptr_t>(map), &known, sizeof known)) {
    return false;
  }
  char path[sizeof name];
  memset(path, 0, sizeof path);
  constexpr size_t kStep = 32;
  const auto text = reinterpret_cast<uintptr_t>(known.l_name);
  for (size_t at = 0; at < sizeof path && memchr(path, '\0', at) == nullptr; at += kStep) {
    if (!copy_own_memory(text + at, path + at, kStep)) return false;
  }
  path[sizeof path - 1] = '\0';
  const char* const slash = strrchr(path, '/');
  strcpy(name, slash != nullptr ? slash + 1 : path);
  return true;
}

/// The innermost frame decides that is not in a library which only passes calls on.
bool goes_on_above(uintptr_t address) {
  if (g_whose != Whose::unknown) return g_whose == Whose::program;
  char name[256];
  if (!name_of_file_at(address - 1, name)) {
    g_whose = Whose::program;  // made while it runs
  } else if (is_collectors_file(name) || is_helpers_file(name)) {
    g_whose = Whose::nobodys_business;
  } else if (!is_transparent_file(name)) {
    g_whose = Whose::program;
  }
  return g_whose != Whose::nobodys_business;
}

// --- what it sleeps in --------------------------------------------------------------------------

struct NumberedCall {
  const char* name;  ///< nullptr: the thread sleeps by its own wish
  Slept slept;
};

NumberedCall call_of_number(long number, int file) {
  switch (number) {
#define NUMBER(name, what) \
  case SYS_##name:         \
    return {#name, what};
#include "collector/sampling/watch/system_numbers.def"
    case -1:
      return {"page fault", io()};
    default:
      return {"system call", blocked()};
  }
  static_cast<void>(file);
}

/// The descriptor is the program's; this thread has its own set.
bool is_file_of_program(int descriptor) {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  struct stat what;
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &what, 0) != 0) return false;
  return S_ISREG(what.st_mode) || S_ISBLK(what.st_mode) || S_ISDIR(what.st_mode);
}

}  // namespace

/// The system's account of a thread's time, in nanoseconds.
struct SleepWatch::Account {
  uint64_t on_core = 0, without = 0, times = 0;
  bool operator==(const Account&) const = default;
  uint64_t awake() const { return on_core + without; }

  bool read(int file) {
    char text[96];
    if (!read_again(file, text, sizeof text)) return false;
    char* at = text;
    on_core = strtoull(at, &at, 10);
    without = strtoull(at, &at, 10);
    times = strtoull(at, nullptr, 10);
    return true;
  }
};

/// Where a thread is blocked in the system.
struct SleepWatch::Place {
  long number = 0;
  int file = -1;
  uintptr_t sp = 0, pc = 0;
  bool operator==(const Place&) const = default;

  /// False if the thread is not asleep: it computes, or has no core.
  bool read(int from) {
    char text[256];
    if (!read_again(from, text, sizeof text) || text[0] == 'r') return false;
    char* at = text;
    number = strtol(at, &at, 10);
    uint64_t words[8];
    unsigned count = 0;
    while (count < 8 && *at == ' ') words[count++] = strtoull(at, &at, 16);
    if (count < 2) return false;
    file = count == 8 ? static_cast<int>(words[0]) : -1;
    sp = words[count - 2];
    pc = words[count - 1];
    return true;
  }
};

struct SleepWatch::Task {
  enum class Doing : uint8_t {
    something,
    sleeps,  ///< it sleeps, and no other record shows it
    rests,   ///< it sleeps where other records show it, or where it does not matter
  };
  uint32_t number = 0;
  int account_file = -1, place_file = -1;
  Doing doing = Doing::something;
  bool lives = false;       ///< the last list contained it
  unsigned skips = 0;       ///< coming looks that skip it
  unsigned last_skips = 0;  ///< how many looks skipped it the last time
  Account account;
  Place place;
  uint64_t looked = 0;  ///< ticks of the last look
  uint64_t since = 0;   ///< ticks: if it has slept since before the last look, the begin of the
                        ///< sleep
  uint64_t told = 0;    ///< ticks: its sleep is recorded up to then
  uint64_t seen = 0;    ///< ticks: a later moment at which it slept for sure
  PathId path = PathId::unknown;
  const char* name = nullptr;
  uint64_t file = 0;  ///< file number, as in seen_asleep

  void close() {
    close_it(account_file);
    close_it(place_file);
  }
};

namespace {

SleepWatch g_watch;

}  // namespace

SleepWatch::Task* SleepWatch::tasks() {
  static Task all[kMostTasks];
  return all;
}

SleepWatch& SleepWatch::begin(ThreadLog& log) {
  SleepWatch& watch = g_watch;
  watch = {};
  watch.log_ = &log;
  watch.self_ = static_cast<uint32_t>(syscall(SYS_gettid));
  watch.pause_ns_ = kShortestPause_ns;
  watch.begin_ticks_ = now();
  watch.begin_ns_ = nanoseconds(CLOCK_MONOTONIC);
  return watch;
}

void SleepWatch::note_thread() {
  g_has_new_thread.store(true, std::memory_order_relaxed);
}

uint64_t SleepWatch::ticks(uint64_t of_nanoseconds) const {
  return static_cast<uint64_t>(static_cast<double>(of_nanoseconds) * ticks_per_ns_);
}

void SleepWatch::add(uint32_t number) {
  Task* const all = tasks();
  for (unsigned i = 0; i < count_; ++i) {
    if (all[i].number == number) all[i].lives = true;
    if (all[i].number == number) return;
  }
  if (count_ == kMostTasks || number == self_) return;
  Task& task = all[count_] = {};
  task.number = number;
  task.lives = true;
  task.account_file = open_of(number, "schedstat");
  task.place_file = open_of(number, "syscall");
  if (task.account.read(task.account_file)) {
    task.looked = task.since = now();
    ++count_;
  } else {
    task.close();
  }
}

void SleepWatch::list() {
  Task* const all = tasks();
  for (unsigned i = 0; i < count_; ++i) all[i].lives = false;
  if (!for_each_thread([this](uint32_t number) { add(number); })) return;
  for (unsigned i = 0; i < count_;) {
    if (all[i].lives) {
      ++i;
      continue;
    }
    all[i].close();
    all[i] = all[--count_];
  }
}

void SleepWatch::say(const Task& task, uint64_t until) {
  if (!lifecycle::is_active() || until <= task.told) return;
  const StringId name = task.name != nullptr ? log_->name(task.name) : StringId::none;
  log_->put(now(), raw::seen_asleep{.path = static_cast<uint32_t>(task.path),
                                    .name = static_cast<uint16_t>(name),
                                    .tid = task.number,
                                    .from = task.told,
                                    .seen = task.seen,
                                    .until = until,
                                    .file = task.file});
}

/// Finds where it sleeps; true if that is worth recording.
bool SleepWatch::find_place(Task& task, const Place& place) {
  auto& impl = Recorder::impl(*log_);
  g_whose = Whose::unknown;
  const bool whole = unwind_sleeper(place.pc, place.sp, impl.frames, goes_on_above);
  if (!whole || g_whose != Whose::program) return false;
  Account account;
  if (!account.read(task.account_file) || account != task.account) return false;
  const NumberedCall call = call_of_number(place.number, place.file);
  const bool of_file = call.slept.in == Slept::In::file ||
                       (call.slept.in == Slept::In::any && is_file_of_program(place.file));
  task.path = impl.path_of_frames();
  task.name = call.slept.in == Slept::In::nap ? nullptr : call.name;
  task.file = of_file ? number_of_file(*log_, call.slept.descriptor) : 0;
  return true;
}

/// Notes that it sleeps; true if that is new.
bool SleepWatch::see_asleep(Task& task, uint64_t time) {
  using Doing = Task::Doing;
  if (task.doing == Doing::sleeps) {
    if (time - task.told >= ticks(kPiece_ns)) {
      say(task, time);
      task.told = task.seen = time;
    }
    return false;
  }
  Place place;
  if (!place.read(task.place_file)) return false;
  const bool is_known = place == task.place && task.last_skips > 0;
  const bool is_ours = !is_known && find_place(task, place);
  task.place = place;
  if (is_ours) {
    task.doing = Doing::sleeps;
    task.told = task.since;
    task.seen = task.looked;
    task.last_skips = 0;
    return true;
  }
  task.doing = Doing::rests;
  task.last_skips = std::min(std::max(2 * task.last_skips, 2u), kMostSkipped);
  task.skips = task.last_skips;
  return false;
}

/// It has been awake since the last look. True if that is new, also if it has slept unseen.
bool SleepWatch::see_moved(Task& task, const Account& account, uint64_t time) {
  constexpr uint64_t kShortestSleep_ns = 2'000'000;
  const uint64_t awake = ticks(account.awake() - std::min(task.account.awake(), account.awake()));
  const uint64_t passed = time - task.looked, asleep = passed - std::min(awake, passed);
  if (task.doing == Task::Doing::sleeps) say(task, task.looked + asleep);
  const bool rested = task.doing == Task::Doing::rests;
  task.doing = Task::Doing::something;
  task.account = account;
  task.since = std::min(task.looked + awake, time);
  const bool rests_often = task.last_skips == kMostSkipped;
  return !rested && !rests_often && asleep >= ticks(kShortestSleep_ns) && asleep >= passed / 5;
}

bool SleepWatch::look_at(Task& task, uint64_t time) {
  Account account;
  if (!account.read(task.account_file)) {
    if (task.doing == Task::Doing::sleeps) say(task, task.looked);
    task.doing = Task::Doing::rests;  // the thread has ended, and the next list drops it
    task.skips = kMostSkipped;
    return false;
  }
  const bool moved = account != task.account;
  const bool is_news = moved ? see_moved(task, account, time) : see_asleep(task, time);
  task.looked = time;
  return is_news;
}

uint64_t SleepWatch::next_pause(bool any_news) {
  const uint64_t spent = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t passed = nanoseconds(CLOCK_MONOTONIC) - begin_ns_;
  const uint64_t all = std::max(passed, nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
  pause_ns_ = any_news ? kShortestPause_ns : std::min(2 * pause_ns_, kLongestPause_ns);
  if (spent > kFree_ns + all / kPartOfAll) {
    const uint64_t each = spent / std::max(looks_, 1u);  // looks wrap around
    pause_ns_ = std::clamp(each * kPartOfAll, pause_ns_, kOverspentPause_ns);
  }
  return pause_ns_;
}

uint64_t SleepWatch::look() {
  const bool is_new = g_has_new_thread.exchange(false, std::memory_order_relaxed);
  const bool is_due = looks_++ % kLooksBetweenLists == 0;
  if (is_new || is_due) list();
  bool any_news = is_new;
  const uint64_t passed_ns = nanoseconds(CLOCK_MONOTONIC) - begin_ns_;
  if (passed_ns > 0) {
    ticks_per_ns_ = static_cast<double>(now() - begin_ticks_) / static_cast<double>(passed_ns);
  }
  Task* const all = tasks();
  for (unsigned i = 0; i < count_; ++i) {
    if (all[i].skips > 0) {
      --all[i].skips;
    } else {
      any_news = look_at(all[i], now()) || any_news;
    }
  }
  return next_pause(any_news);
}

void SleepWatch::finish() {
  Task* const all = tasks();
  for (unsigned i = 0; i < count_; ++i) {
    Account account;
    const bool same = account.read(all[i].account_file) && account == all[i].account;
    if (all[i].doing == Task::Doing::sleeps) say(all[i], same ? now() : all[i].looked);
    all[i].close();
  }
  count_ = 0;
}

#else

SleepWatch& SleepWatch::begin(ThreadLog&) {
  static SleepWatch watch;
  return watch;
}
void SleepWatch::note_thread() {}
uint64_t SleepWatch::look() {
  return 0;
}
void SleepWatch::finish() {}

#endif

}  // namespace culprit::collector::sampling
