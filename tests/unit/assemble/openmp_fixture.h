// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process with a team of two, for tests of what becomes of OpenMP's records.
#pragma once

#include "fixture.h"

namespace culprit::assemble::test {

// ompt_sync_region_t, ompt_work_t, ompt_mutex_t, ompt_task_status_t
inline constexpr uint16_t kExplicit = 3, kImplementation = 4, kTaskwait = 5, kTaskgroup = 6,
                          kRegionEnd = 9;
inline constexpr uint16_t kSections = 2, kSingle = 3, kSingleOther = 4, kLoop = 1;
inline constexpr uint16_t kLock = 1, kTestLock = 2, kCritical = 5;
inline constexpr uint16_t kComplete = 1, kSwitch = 7;
inline constexpr uint32_t kExplicitTask = 4;  // ompt_task_flag_t
inline constexpr uint64_t kFirst = uint64_t{5} << 40 | 1, kSecond = kFirst + 1;

/// A body that the compiler outlined, as workers and masters see it.
inline std::vector<std::string> in_body(std::vector<std::string> functions) {
  functions.insert(functions.begin(), {"libc:start_thread", "__kmp_launch_worker",
                                       "__kmp_invoke_microtask", "main.omp_outlined"});
  return functions;
}

class OpenmpTest : public AssembleTest {
 protected:
  OpenmpTest() : p(process()), master(p->thread(0)), worker(p->thread(1)) { p->ended(100); }
  void play_all() {
    p.reset();
    play();
  }
  uint64_t fork_code = code.at("main", 42);
  std::unique_ptr<RawProcessBuilder> p;
  RawThread& master;
  RawThread& worker;
};

}  // namespace culprit::assemble::test
