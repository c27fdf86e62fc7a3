// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads of a child are stopped for a moment, and go on as if nothing had happened.
#include "assemble/look/short_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assemble/look/live_stacks.h"
#include "assemble/look/proc.h"

namespace culprit::assemble::look {
namespace {

[[gnu::noinline]] void count_for_ever(volatile uint64_t* count) {
  while (true) *count = *count + 1;
}

/// A child that counts until it is killed.
class Counting {
 public:
  Counting() : pid_(fork()) {
    if (pid_ != 0) return;
    static volatile uint64_t count = 0;
    count_for_ever(&count);
  }
  ~Counting() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  pid_t pid() const { return pid_; }
  uint64_t cpu_ns() const { return look_at_thread(pid_, static_cast<uint32_t>(pid_))->cpu_ns; }

 private:
  pid_t pid_;
};

TEST(ShortStop, GivesTheStackOfAThreadThatRuns) {
  const Counting child;
  ShortStops stops;
  const uint32_t tid = static_cast<uint32_t>(child.pid());
  std::vector<StoppedThread> stopped = stops.of(child.pid(), {&tid, 1});
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_GE(stops.count(), 1u);
  EXPECT_GE(stops.all_ns(), stops.longest_ns());
  const uint64_t pc = stopped[0].pc();
  const std::vector<uint64_t> frames = LiveStacks(child.pid()).of(std::move(stopped[0]));
  ASSERT_GE(frames.size(), 3u);
  EXPECT_EQ(frames[0], pc + 1);  // one past the instruction
}

TEST(ShortStop, TheThreadGoesOn) {
  const Counting child;
  ShortStops stops;
  const uint32_t tid = static_cast<uint32_t>(child.pid());
  for (int i = 0; i < 100; ++i) stops.of(child.pid(), {&tid, 1});
  const uint64_t before_ns = child.cpu_ns();
  const timespec tick = {0, 10'000'000};
  int waits = 0;
  while (child.cpu_ns() == before_ns && ++waits < 3000) nanosleep(&tick, nullptr);
  EXPECT_GT(child.cpu_ns(), before_ns);
  EXPECT_EQ(read_proc("/proc/" + std::to_string(tid) + "/status").find("TracerPid:\t0"),
            read_proc("/proc/" + std::to_string(tid) + "/status").find("TracerPid:"));
}

TEST(ShortStop, AThreadThatIsGoneIsNone) {
  pid_t gone = 0;
  {
    const Counting child;
    gone = child.pid();
  }
  ShortStops stops;
  const uint32_t tid = static_cast<uint32_t>(gone);
  EXPECT_TRUE(stops.of(gone, {&tid, 1}).empty());
  EXPECT_EQ(stops.refused(), 0u);
}

TEST(ShortStop, MapsHaveTheirFilesBelowARoot) {
  EXPECT_EQ(
      mapped_below("1-2 r-xp 0 0:0 0   /lib/a.so\n3-4 rw-p 0 0:0 0 \n5-6 r-xp 0 0:0 0 [vdso]\n",
                   "/elsewhere"),
      "1-2 r-xp 0 0:0 0   /elsewhere/lib/a.so\n3-4 rw-p 0 0:0 0 \n5-6 r-xp 0 0:0 0 [vdso]\n");
}

}  // namespace
}  // namespace culprit::assemble::look
