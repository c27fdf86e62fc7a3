// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From the caller on, the unwinder walks by the callers' tables. It gets there through a function
// whose own table says that its caller's state is in a structure. A result counts only if the walk
// ends where the thread begins.
#include "collector/callpath/without_table.h"

#include <unwind.h>

#include <cstddef>
#include <cstring>

namespace culprit::collector {

#if defined(__x86_64__)

namespace {

/// A caller's registers, as far as the tables of most functions need them. The assembly below uses
/// the offsets of the members.
struct State {
  uintptr_t stack_pointer;
  uintptr_t address;
  uintptr_t frame_pointer;
};
static_assert(offsetof(State, address) == 8 && offsetof(State, frame_pointer) == 16);

}  // namespace

extern "C" {
/// Calls `body(argument)`, for whose unwinding the caller's state is `state`.
[[gnu::visibility("hidden")]] void culprit_walk_from(const State* state, void (*body)(void*),
                                                     void* argument);
}

// The escapes say: the caller's stack pointer is what rbx points at; its address and rbp are kept 8
// and 16 bytes behind.
asm(R"(
.pushsection .text
.hidden culprit_walk_from
.globl culprit_walk_from
.type culprit_walk_from, @function
culprit_walk_from:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  movq %rdi, %rbx
  .cfi_remember_state
  .cfi_escape 0x0f, 0x03, 0x73, 0x00, 0x06
  .cfi_escape 0x10, 0x10, 0x02, 0x73, 0x08
  .cfi_escape 0x10, 0x06, 0x02, 0x73, 0x10
  .cfi_same_value %rbx
  movq %rsi, %rax
  movq %rdx, %rdi
  call *%rax
  .cfi_restore_state
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
.size culprit_walk_from, . - culprit_walk_from
.popsection
)");

namespace {

/// How far the return address may lie from the stack pointer: kernels keep blocks of matrices in
/// between.
constexpr size_t kFarthest = 4096;  ///< words
constexpr uintptr_t kLongestFunction = 64 << 10;
constexpr unsigned kMostTries = 16;
constexpr size_t kKeptNear = 16;  ///< words before the return address in which rbp may be kept

constinit thread_local uintptr_t t_outermost __attribute__((tls_model("initial-exec"))) = 0;

using IsCode = bool (*)(uintptr_t);

template <class Value>
Value load(uintptr_t address) {
  Value value;
  memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

bool is_in_function_at(uintptr_t begin, uintptr_t pc) {
  return begin <= pc && pc - begin < kLongestFunction;
}

/// Whether a call of `target` ends up in the function around `pc`, perhaps through a stub.
bool leads_to(uintptr_t target, uintptr_t pc, IsCode is_code) {
  if (is_in_function_at(target, pc)) return true;
  if (!is_code(target)) return false;
  constexpr uint32_t kLandingPad = 0xfa1e0ff3;
  if (load<uint32_t>(target) == kLandingPad) target += sizeof kLandingPad;
  if (load<uint8_t>(target) == 0xf2) ++target;
  if (load<uint16_t>(target) != 0x25ff) return false;  // jmp *displacement(%rip)
  const auto displacement = static_cast<uintptr_t>(intptr_t{load<int32_t>(target + 2)});
  return is_in_function_at(load<uintptr_t>(target + 6 + displacement), pc);
}

/// Length in bytes of a call through a register or memory, without its prefix, from the bytes that
/// follow the first.
unsigned length_of_indirect(uint8_t mode, uint8_t base) {
  const unsigned kind = mode >> 6, operand = mode & 7;
  const unsigned index = kind != 3 && operand == 4 ? 1 : 0;
  if (kind == 0 && (operand == 5 || (index == 1 && (base & 7) == 5))) return 6 + index;
  return 2 + index + (kind == 1 ? 1 : kind == 2 ? 4 : 0);
}

/// Whether the instruction before `address` calls the function around `pc`; true also for calls
/// that cannot be decided.
bool returns_from(uintptr_t address, uintptr_t pc, IsCode is_code) {
  if (load<uint8_t>(address - 5) == 0xe8) {
    const auto displacement = static_cast<uintptr_t>(intptr_t{load<int32_t>(address - 4)});
    if (leads_to(address + displacement, pc, is_code)) return true;
  }
  for (unsigned length = 2; length <= 7; ++length) {
    const uintptr_t begin = address - length;
    if (load<uint8_t>(begin) != 0xff || (load<uint8_t>(begin + 1) >> 3 & 7) != 2) continue;
    if (length_of_indirect(load<uint8_t>(begin + 1), load<uint8_t>(begin + 2)) == length) {
      return true;
    }
  }
  return false;
}

struct Walk {
  Frames& frames;
  uintptr_t start;
  bool started = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const uintptr_t address = _Unwind_GetIP(context);
  walk.started = walk.started || address == walk.start;
  if (!walk.started) return _URC_NO_REASON;
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.frames.count == Frames::kMaxDepth) {
    walk.frames.cut = true;
    return _URC_END_OF_STACK;
  }
  walk.frames.at[walk.frames.count++] = {address, _Unwind_GetCFA(context)};
  return _URC_NO_REASON;
}

void walk_on(void* argument) {
  _Unwind_Backtrace(visit, argument);
}

/// Whether the walk from there leads to where the thread begins.
bool walk_from(const State& state, Frames& frames) {
  frames.count = 1;
  frames.cut = false;
  Walk walk{frames, state.address};
  culprit_walk_from(&state, walk_on, &walk);
  if (frames.count < 3) return false;
  return t_outermost == 0 || frames.at[frames.count - 1].address == t_outermost;
}

}  // namespace

void find_callers(Frames& frames, uintptr_t frame_pointer, IsCode is_code) {
  constexpr uintptr_t kWord = sizeof(uintptr_t);
  const uintptr_t pc = frames.at[0].address - 1;
  const uintptr_t top = (frames.at[0].cfa + kWord - 1) / kWord * kWord;
  unsigned tries = 0;
  for (size_t i = 0; i < kFarthest && tries < kMostTries; ++i) {
    const uintptr_t slot = top + i * kWord;
    const auto address = load<uintptr_t>(slot);
    if (address < kLongestFunction || !is_code(address - 1)) continue;
    if (!returns_from(address, pc, is_code)) continue;
    State caller{slot + kWord, address, frame_pointer};
    if (++tries, walk_from(caller, frames)) return;
    // The caller's table may need rbp: the function may have saved it near the return address.
    for (size_t back = 1; back <= kKeptNear && back <= i; ++back) {
      caller.frame_pointer = load<uintptr_t>(slot - back * kWord);
      const bool may_be_one = caller.frame_pointer > slot && caller.frame_pointer % kWord == 0 &&
                              caller.frame_pointer - slot < kFarthest * kWord;
      if (may_be_one && ++tries < kMostTries && walk_from(caller, frames)) return;
    }
  }
  frames.count = 1;
  frames.cut = false;
}

void note_outermost(uintptr_t address) {
  t_outermost = address;
}

#else

void find_callers(Frames&, uintptr_t, bool (*)(uintptr_t)) {}
void note_outermost(uintptr_t) {}

#endif

}  // namespace culprit::collector
