// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// A library whose one function has three others inlined into it. `mark_address` holds the address
// of an instruction of the innermost, which an intrinsic stands for. Line 16 matters.
namespace shape {

[[gnu::always_inline, gnu::artificial]] inline void mark() {
  // clang-format off
  asm volatile("77: nop\n.pushsection .data.rel,\"aw\"\n.globl mark_address\n.type mark_address,@object\n.size mark_address,8\nmark_address: .quad 77b\n.popsection");
  // clang-format on
}

template <class Number>
[[gnu::always_inline]] inline Number innermost(Number value) {
  mark();
  return value * 3;
}

struct Square {
  [[gnu::always_inline]] int middle(int side) const { return innermost<int>(side) + side; }
};

namespace {
[[gnu::always_inline]] inline int hidden(int side) {
  return Square().middle(side);
}
}  // namespace

[[gnu::visibility("default")]] int outer(int side) {
  return hidden(side) - 1;
}

}  // namespace shape
