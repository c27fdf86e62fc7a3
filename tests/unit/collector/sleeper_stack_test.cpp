// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stacks of sleeping threads, taken from beside, against what the thread itself said of its own
// just before. Functions are compiled as compilers do: with and without a frame pointer, with room
// on the stack whose size is known late, with a stack of other alignment.
#include "collector/callpath/sleeper_stack.h"

#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "collector/process/code_map.h"
#include "tests/unit/frame_at_nowhere.h"

#if defined(__x86_64__)

namespace culprit::tests {
namespace {

constexpr int kMost = 64;
void* g_said[kMost];
std::atomic<int> g_count{0};
std::atomic<pid_t> g_thread{0};
int g_ends[2];

/// By the bare instruction: nobody can stand in front of it.
[[gnu::noinline]] long read_by_itself() {
  char one;
  long result = SYS_read;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(g_ends[0]), "S"(&one), "d"(1)
               : "rcx", "r11", "memory");
  return result;
}

/// One call, so that backtrace() and what sleeps have the same frames above them.
[[gnu::noinline]] long say_and_sleep() {
  g_count = backtrace(g_said, kMost);
  g_thread = static_cast<pid_t>(syscall(SYS_gettid));
  const long result = read_by_itself();
  asm volatile("" ::: "memory");
  return result;
}

#define AFTERWARDS(call)         \
  const long result = call;      \
  asm volatile("" ::: "memory"); \
  return result

[[gnu::noinline]] long plainly(int) {
  AFTERWARDS(say_and_sleep());
}
[[gnu::noinline, gnu::optimize("O0")]] long with_frame_pointer(int depth) {
  volatile char room[100];
  room[static_cast<unsigned>(depth) % sizeof room] = 1;
  AFTERWARDS(depth > 0 ? with_frame_pointer(depth - 1) : say_and_sleep());
}
[[gnu::noinline]] long with_late_room(int bytes) {
  auto* const room = static_cast<volatile char*>(alloca(static_cast<size_t>(bytes) + 1));
  room[bytes] = 1;
  AFTERWARDS(say_and_sleep());
}
[[gnu::noinline]] long with_aligned_stack(int number) {
  alignas(128) volatile char room[256];
  room[static_cast<unsigned>(number) % sizeof room] = 1;
  AFTERWARDS(say_and_sleep());
}
[[gnu::noinline]] long indirectly(int number) {
  long (*volatile function)(int) = number > 0 ? with_frame_pointer : plainly;
  AFTERWARDS(function(number));
}
[[gnu::noinline]] long all_of_them(int number) {
  long (*volatile function)(int) = with_late_room;
  auto* const room = static_cast<volatile char*>(alloca(static_cast<size_t>(number) + 1));
  room[number] = 1;
  AFTERWARDS(function(number));
}
long g_in_handler = 0;
[[gnu::noinline]] long in_handler(int number) {
  signal(SIGUSR1, [](int) { g_in_handler = with_frame_pointer(2); });
  raise(SIGUSR1);
  return g_in_handler + number - number;
}

struct Way {
  const char* name;
  long (*function)(int);
  int number;
};
class SleepersStack : public testing::TestWithParam<Way> {};

bool goes_on(uintptr_t) {
  return true;
}

/// Once it sleeps.
void find_place(pid_t thread, uintptr_t& sp, uintptr_t& pc) {
  for (;;) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
    std::string word;
    std::vector<std::string> words;
    while (file >> word) words.push_back(word);
    if (words.size() == 9 && words[0] == std::to_string(SYS_read)) {
      sp = std::stoull(words[7], nullptr, 16);
      pc = std::stoull(words[8], nullptr, 16);
      return;
    }
    std::this_thread::yield();
  }
}

/// Says what is wrong; 0 if nothing is.
int compare(const Way& way) {
  if (pipe(g_ends) != 0) return 1;
  collector::code_map::refresh();
  std::thread sleeper([&] { EXPECT_EQ(way.function(way.number), 1); });
  while (g_thread == 0) std::this_thread::yield();
  uintptr_t sp = 0, pc = 0;
  find_place(g_thread, sp, pc);
  static collector::Frames frames;
  EXPECT_TRUE(collector::unwind_sleeper(pc, sp, frames, goes_on));
  EXPECT_EQ(write(g_ends[1], "x", 1), 1);
  sleeper.join();
  // The innermost two stand in read_by_itself, and behind the call of it in say_and_sleep.
  EXPECT_EQ(frames.count, static_cast<unsigned>(g_count) + 1);
  for (unsigned i = 2; i < frames.count; ++i) {
    const auto said = reinterpret_cast<uintptr_t>(g_said[i - 1]);
    // Where a signal came in, backtrace() says the instruction itself.
    EXPECT_LE(frames.at[i].address - said, 1u) << "frame " << i << " of " << frames.count;
  }
  return testing::Test::HasFailure() ? 1 : 0;
}

// In a process of its own: what is known of code would be known in all tests that come later.
TEST_P(SleepersStack, IsWhatTheThreadSaidOfIt) {
  Experiment experiment;
  EXPECT_EQ(experiment.run([&] { return compare(GetParam()); }), 0);
}

INSTANTIATE_TEST_SUITE_P(All, SleepersStack,
                         testing::Values(Way{"plainly", plainly, 0},
                                         Way{"with_frame_pointer", with_frame_pointer, 5},
                                         Way{"with_late_room", with_late_room, 1000},
                                         Way{"with_aligned_stack", with_aligned_stack, 7},
                                         Way{"indirectly", indirectly, 0},
                                         Way{"indirectly_with_frame_pointer", indirectly, 3},
                                         Way{"all_of_them", all_of_them, 300},
                                         Way{"in_handler", in_handler, 0}),
                         [](const auto& way) { return std::string(way.param.name); });

[[gnu::noinline, gnu::optimize("O0")]] void sleep_with_frame_pointer() {
  g_thread = static_cast<pid_t>(syscall(SYS_gettid));
  read_by_itself();
}

/// Says what is wrong; 0 if nothing is.
int walk_to_nowhere() {
  if (pipe(g_ends) != 0) return 1;
  collector::code_map::refresh();
  std::thread sleeper([] { call_from_nowhere(sleep_with_frame_pointer); });
  while (g_thread == 0) std::this_thread::yield();
  uintptr_t sp = 0, pc = 0;
  find_place(g_thread, sp, pc);
  static collector::Frames frames;
  collector::unwind_sleeper(pc, sp, frames, goes_on);  // to wherever
  EXPECT_GE(frames.count, 2u);
  EXPECT_EQ(write(g_ends[1], "x", 1), 1);
  sleeper.join();
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(SleepersStack, SurvivesAFrameThatIsNowhere) {
  Experiment experiment;
  EXPECT_EQ(experiment.run(walk_to_nowhere), 0);
}

// A stack that is gone, and code that nobody knows, are no reason to fail.
TEST(SleepersStack, EndsWhereThereIsNothing) {
  static collector::Frames frames;
  EXPECT_FALSE(collector::unwind_sleeper(8, 8, frames, goes_on));
  EXPECT_EQ(frames.count, 1u);
  const auto here = reinterpret_cast<uintptr_t>(&read_by_itself) + 1;
  EXPECT_FALSE(collector::unwind_sleeper(here, 8, frames, goes_on));
}

}  // namespace
}  // namespace culprit::tests

#endif
