// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each instruction, a hash over the registers is kept. A loop that has more instructions than
// there are places to keep them is no simple wait.
#include "collector/sampling/spin_watch.h"

#include <cstring>

namespace culprit::collector::sampling {

namespace {

constexpr unsigned kPlaces = 12;
/// Consecutive samples without a change before a thread counts as spinning.
constexpr unsigned kEnough = 30;

/// Halves of an address and of a hash over the registers: enough to distinguish places and states.
/// Each thread has this in the static block of thread-local storage, of which a library that is
/// loaded late gets some 1600 bytes.
struct Place {
  uint32_t pc;
  uint32_t sum;
};
struct Spin {
  Place places[kPlaces];
  unsigned known;    ///< number of known places
  unsigned samples;  ///< consecutive samples without a change
  uint64_t since;    ///< time of the first of them
  bool said;
};
constinit thread_local Spin t_spin __attribute__((tls_model("initial-exec"))) = {};

void add(uint64_t& sum, const void* registers, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, static_cast<const char*>(registers) + at, sizeof word);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
}

Place place_of(const ucontext_t& context) {
  const auto& machine = context.uc_mcontext;
  uint64_t pc = 0, sum = 0;
#if defined(__x86_64__)
  pc = static_cast<uint64_t>(machine.gregs[REG_RIP]);
  add(sum, machine.gregs, sizeof machine.gregs[0] * REG_RIP);  // the registers before the program
                                                               // counter
  if (machine.fpregs != nullptr) add(sum, machine.fpregs->_xmm, sizeof machine.fpregs->_xmm);
#elif defined(__aarch64__)
  pc = machine.pc;
  add(sum, machine.regs, sizeof machine.regs);
  fpsimd_context vectors;
  memcpy(&vectors, machine.__reserved, sizeof vectors);
  if (vectors.head.magic == FPSIMD_MAGIC) add(sum, vectors.vregs, sizeof vectors.vregs);
#endif
  return {static_cast<uint32_t>(pc), static_cast<uint32_t>(sum >> 32)};
}

/// Whether the thread is at a known place in the same state as the last time.
bool is_as_before(Spin& spin, const Place& place) {
  for (unsigned i = 0; i < spin.known; ++i) {
    if (spin.places[i].pc == place.pc) return spin.places[i].sum == place.sum;
  }
  if (spin.known == kPlaces) return false;
  spin.places[spin.known++] = place;
  return true;
}

}  // namespace

void watch_spinning(ThreadLog& log, uint64_t time, const ucontext_t& context) {
  Spin& spin = t_spin;
  const Place place = place_of(context);
  if (!is_as_before(spin, place)) {
    if (spin.said) log.put(time, raw::spin{.from = 0});
    spin = {};
    spin.places[spin.known++] = place;
  }
  if (spin.samples++ == 0) spin.since = time;
  if (spin.samples % kEnough != 0) return;
  log.put(time, raw::spin{.from = spin.since});
  spin.said = true;
}

}  // namespace culprit::collector::sampling
