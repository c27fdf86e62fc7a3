// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rules of instructions are remembered, since threads sleep at few places. The system does not give
// a sleeper's frame pointer. As long as no frame has saved it, it belongs to the innermost function
// that uses one, and points just below the return address of a call to that function: there it is
// looked for. Without checking which function the call goes to, one in five stacks found in this
// way would be wrong.
#include "collector/callpath/sleeper_stack.h"

#include <cstring>
#include <initializer_list>

#include "base/address_range.h"
#include "collector/callpath/frame_rules.h"
#include "collector/callpath/own_memory.h"
#include "collector/process/code_map.h"

namespace culprit::collector {

#if defined(__x86_64__)

namespace {

constexpr size_t kWord = sizeof(uint64_t);
/// How far above a frame its caller's frame is searched for.
constexpr size_t kFarthestFrame = size_t{64} << 10;

/// The sleeper's stack, read piece by piece.
class Stack {
 public:
  bool word(uintptr_t address, uint64_t& value) {
    if (!here_.holds(address, kWord) && !read_piece(address)) return false;
    memcpy(&value, piece_ + (address - here_.begin), kWord);
    return true;
  }

 private:
  /// Reads from there on, as far as memory exists.
  bool read_piece(uintptr_t address) {
    for (size_t bytes = sizeof piece_; bytes >= kWord; bytes /= 2) {
      if (!copy_own_memory(address, piece_, bytes)) continue;
      here_ = {address, bytes};
      return true;
    }
    return false;
  }

  AddressRange here_;
  alignas(kWord) unsigned char piece_[2048];
};

bool is_code(uintptr_t address) {
  return code_map::owner_of(address - 1) != code_map::Owner::unknown;
}

enum class Called { other, perhaps, surely };

/// Whether the call in front of the return address calls the function, directly or through a stub
/// of the linker's; for an indirect call the answer is `perhaps`.
Called calls(uintptr_t after, uintptr_t function) {
  unsigned char code[6];
  if (!copy_own_memory(after - sizeof code, code, sizeof code)) return Called::other;
  if (code[1] == 0xe8) {
    int32_t distance;
    memcpy(&distance, code + 2, sizeof distance);
    const uintptr_t target = after + static_cast<uintptr_t>(intptr_t{distance});
    if (target == function) return Called::surely;
    unsigned char stub[16];
    if (!copy_own_memory(target, stub, sizeof stub)) return Called::other;
    for (unsigned i = 0; i + 6 <= sizeof stub; ++i) {  // jmp *distance(%rip)
      if (stub[i] != 0xff || stub[i + 1] != 0x25) continue;
      memcpy(&distance, stub + i + 2, sizeof distance);
      uint64_t real = 0;
      const uintptr_t slot = target + i + 6 + static_cast<uintptr_t>(intptr_t{distance});
      if (!copy_own_memory(slot, &real, sizeof real)) return Called::other;
      return real == function ? Called::surely : Called::perhaps;
    }
    return Called::other;
  }
  const auto is_indirect = [](unsigned char first, unsigned char second) {
    return first == 0xff && (second & 0x38) == 0x10;
  };
  const bool may_be = is_indirect(code[4], code[5]) || is_indirect(code[3], code[4]) ||
                      is_indirect(code[2], code[3]) || is_indirect(code[0], code[1]);
  return may_be ? Called::perhaps : Called::other;
}

/// A frame's registers, as far as they are known.
struct Place {
  uintptr_t pc, sp, fp;
  bool knows_fp;
};

/// Evaluates the expression that a few frames have in place of a register and an offset: stubs of
/// the linker, frames that align the stack, and those of signals.
bool evaluate(const FrameRule::Expression& expression, Stack& stack, const Place& place,
              uint64_t& value) {
  uint64_t values[8];
  unsigned count = 0;
  for (unsigned i = 0; i < expression.count; ++i) {
    const auto& [operation, number] = expression.at[i];
    using Op = FrameRule::Operation;
    const bool pushes = operation <= Op::number;
    if (pushes ? count == 8 : count < (operation >= Op::add ? 2u : 1u)) return false;
    uint64_t& top = values[count - (pushes ? 0 : 1)];
    uint64_t& below = values[count >= 2 ? count - 2 : 0];
    const auto n = static_cast<uint64_t>(number);
    switch (operation) {
      case Op::sp:
        top = place.sp + n;
        break;
      case Op::pc:
        top = place.pc + n;
        break;
      case Op::fp:
        if (!place.knows_fp) return false;
        top = place.fp + n;
        break;
      case Op::number:
        top = n;
        break;
      case Op::plus:
        top += n;
        break;
      case Op::load: {
        uint64_t loaded = 0;
        if (!stack.word(top, loaded)) return false;
        top = loaded;
        break;
      }
      case Op::add:
        below += top;
        break;
      case Op::both:
        below &= top;
        break;
      case Op::at_least:
        below = static_cast<int64_t>(below) >= static_cast<int64_t>(top);
        break;
      case Op::shift:
        below = top < 64 ? below << top : 0;
        break;
    }
    if (pushes) ++count;
    if (operation >= Op::add) --count;
  }
  if (count != 1) return false;
  value = values[0];
  return true;
}

/// False if too little is known of the frame. The caller makes sure that the frame pointer is known
/// if the rule needs it.
bool find_caller_frame(const FrameRule& rule, Stack& stack, Place& place, uintptr_t& cfa) {
  if (rule.base == FrameRule::Base::none) return false;
  if (rule.base == FrameRule::Base::expression) {
    uint64_t value = 0;
    if (!evaluate(rule.cfa, stack, place, value)) return false;
    cfa = value;
  } else {
    const uintptr_t base = rule.base == FrameRule::Base::fp ? place.fp : place.sp;
    cfa = base + static_cast<uintptr_t>(rule.offset);
  }
  uint64_t at = cfa + static_cast<uintptr_t>(rule.return_offset), pc = 0, fp = place.fp;
  if (rule.return_at.count > 0 && !evaluate(rule.return_at, stack, place, at)) return false;
  if (!stack.word(at, pc)) return false;
  if (rule.fp_at.count > 0) {
    if (!evaluate(rule.fp_at, stack, place, at) || !stack.word(at, fp)) return false;
    place.knows_fp = true;
  } else if (rule.saves_fp) {
    if (!stack.word(cfa + static_cast<uintptr_t>(rule.fp_offset), fp)) return false;
    place.knows_fp = true;
  }
  if (cfa <= place.sp && rule.return_at.count == 0)
    return false;  // without this check the walk
                   // might never end
  place = {pc, cfa, fp, place.knows_fp};
  return true;
}

/// One walk up a stack.
class Walk {
 public:
  Walk(Stack& stack, Frames& frames, bool (*goes_on)(uintptr_t))
      : stack_(stack), frames_(frames), goes_on_(goes_on) {}

  /// Walks up from a frame; `interrupted`: its address is the current instruction, not the one
  /// after a call. True if the outermost frame was reached.
  bool go(Place place, unsigned behind_call, unsigned interrupted) {
    while (frames_.count < Frames::kMaxDepth) {
      const FrameRule* const rule = frame_rule(place.pc - behind_call);
      Frame& frame = frames_.at[frames_.count++];
      frame = {place.pc + interrupted, place.sp};
      if (!goes_on_(frame.address) || rule == nullptr) return false;
      if (rule->ends) return true;
      if (rule->needs_fp() && !place.knows_fp) return go_on_with_any(*rule, place);
      if (!find_caller_frame(*rule, stack_, place, frame.cfa)) return false;
      interrupted = rule->is_signals ? 1 : 0;
      behind_call = 1 - interrupted;
      if (place.pc == 0) return true;
    }
    frames_.cut = true;
    return false;
  }

 private:
  /// No frame has saved the frame pointer since the current function set it: it points below a
  /// return address of a call to that function. Candidates whose call is direct are tried first;
  /// for others, only a walk that reaches the outermost frame proves them.
  bool go_on_with_any(const FrameRule& rule, const Place& place) {
    const FrameRule known = rule;  // frame_rule() reuses the original
    const unsigned count = frames_.count;
    for (const Called wanted : {Called::surely, Called::perhaps}) {
      const uintptr_t begin = (place.sp + kWord - 1) & ~(kWord - 1);
      uint64_t after;
      for (uintptr_t slot = begin; slot < begin + kFarthestFrame; slot += kWord) {
        if (!stack_.word(slot + kWord, after)) break;
        if (!is_code(after) || calls(after, known.function) != wanted) continue;
        if (tries_-- == 0) return false;
        Place with = place;
        with.fp = slot;
        with.knows_fp = true;
        frames_.count = count;
        Frame& frame = frames_.at[count - 1];
        if (find_caller_frame(known, stack_, with, frame.cfa) && go(with, 1, 0)) return true;
      }
    }
    frames_.count = count;
    return false;
  }

  Stack& stack_;
  Frames& frames_;
  bool (*goes_on_)(uintptr_t);
  unsigned tries_ = 24;  ///< frame pointers that may still be tried
};

}  // namespace

bool unwind_sleeper(uintptr_t pc, uintptr_t sp, Frames& frames,
                    bool (*goes_on)(uintptr_t address)) {
  static Stack stack;  // too large for the stacks of helpers
  stack = {};
  frames.count = 0;
  frames.cut = false;
  return Walk(stack, frames, goes_on).go({pc, sp, 0, false}, 0, 0);
}

#else

bool unwind_sleeper(uintptr_t, uintptr_t, Frames& frames, bool (*)(uintptr_t)) {
  frames.count = 0;
  frames.cut = false;
  return false;
}

#endif

}  // namespace culprit::collector
