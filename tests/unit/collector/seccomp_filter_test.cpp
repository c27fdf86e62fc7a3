// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Filters as programs write them, and what they mean for the collector's system calls.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "collector/sampling/signals/confinement.h"

namespace culprit::tests {
namespace {

using Steps = std::vector<sock_filter>;

bool leaves_us_alone(Steps steps) {
  const sock_fprog filter = {static_cast<unsigned short>(steps.size()), steps.data()};
  return collector::sampling::leaves_us_alone(filter);
}

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter answer(uint32_t what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}
sock_filter unless_equal(uint32_t value, uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

/// `what` for one call, `otherwise` for all others.
Steps for_one(long number, uint32_t what, uint32_t otherwise) {
  return {load(offsetof(seccomp_data, nr)), unless_equal(static_cast<uint32_t>(number), 1),
          answer(what), answer(otherwise)};
}

TEST(SeccompFilter, KnowsWhatEndsAProgram) {
  EXPECT_TRUE(leaves_us_alone({answer(SECCOMP_RET_ALLOW)}));
  EXPECT_TRUE(leaves_us_alone({answer(SECCOMP_RET_LOG)}));
  EXPECT_TRUE(leaves_us_alone({answer(SECCOMP_RET_ERRNO | 1)}));
  for (const uint32_t deadly : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
                                SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF}) {
    EXPECT_FALSE(leaves_us_alone({answer(deadly)})) << deadly;
    EXPECT_TRUE(leaves_us_alone(for_one(SYS_ptrace, deadly, SECCOMP_RET_ALLOW))) << deadly;
    for (const long ours : {SYS_timer_settime, SYS_mmap, SYS_openat, SYS_rt_sigreturn}) {
      EXPECT_FALSE(leaves_us_alone(for_one(ours, deadly, SECCOMP_RET_ALLOW))) << deadly;
      EXPECT_TRUE(leaves_us_alone(for_one(ours, SECCOMP_RET_ERRNO | 13, SECCOMP_RET_ALLOW)));
      EXPECT_FALSE(leaves_us_alone(for_one(ours, SECCOMP_RET_ALLOW, deadly)));
    }
  }
}

TEST(SeccompFilter, LooksAtArguments) {
  // Files that are mapped shared: the collector's records.
  const auto flags = static_cast<uint32_t>(offsetof(seccomp_data, args[3]));
  Steps shared = {load(offsetof(seccomp_data, nr)),
                  unless_equal(SYS_mmap, 4),
                  load(flags),
                  BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_ANONYMOUS),
                  unless_equal(MAP_SHARED, 1),
                  answer(SECCOMP_RET_KILL_PROCESS),
                  answer(SECCOMP_RET_ALLOW)};
  EXPECT_FALSE(leaves_us_alone(shared));
  shared[4].k = MAP_SHARED | MAP_ANONYMOUS;
  EXPECT_TRUE(leaves_us_alone(shared));
}

TEST(SeccompFilter, ComputesAsTheKernelDoes) {
  const auto number = static_cast<uint32_t>(SYS_timer_settime);
  // ((nr + 5) * 2 - 10) / 2, by way of memory and the other register, is the number again.
  const Steps steps = {load(offsetof(seccomp_data, nr)),
                       BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 5),
                       BPF_STMT(BPF_ST, 3),
                       BPF_STMT(BPF_LDX | BPF_MEM, 3),
                       BPF_STMT(BPF_MISC | BPF_TXA, 0),
                       BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
                       BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 10),
                       BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
                       unless_equal(number, 1),
                       answer(SECCOMP_RET_KILL_PROCESS),
                       answer(SECCOMP_RET_ALLOW)};
  EXPECT_FALSE(leaves_us_alone(steps));
  Steps another = steps;
  another[8].k = static_cast<uint32_t>(SYS_ptrace);
  EXPECT_TRUE(leaves_us_alone(another));
}

// The kernel refuses these; until then they are the worst there is, and nothing is read beyond
// them.
TEST(SeccompFilter, FearsWhatMakesNoSense) {
  EXPECT_FALSE(leaves_us_alone({load(0)}));
  EXPECT_FALSE(leaves_us_alone({load(sizeof(seccomp_data)), answer(SECCOMP_RET_ALLOW)}));
  EXPECT_FALSE(leaves_us_alone({load(2), answer(SECCOMP_RET_ALLOW)}));
  EXPECT_FALSE(
      leaves_us_alone({BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), answer(SECCOMP_RET_ALLOW)}));
  EXPECT_FALSE(leaves_us_alone({BPF_STMT(BPF_ST, BPF_MEMWORDS), answer(SECCOMP_RET_ALLOW)}));
  EXPECT_FALSE(
      leaves_us_alone({BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), answer(SECCOMP_RET_ALLOW)}));
  EXPECT_TRUE(collector::sampling::leaves_us_alone({0, nullptr}));
}

}  // namespace
}  // namespace culprit::tests
