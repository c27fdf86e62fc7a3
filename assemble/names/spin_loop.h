// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Loops that do nothing but read memory until another thread changes it: a thread in one waits,
// though no call says so. They are recognised by their instructions, on x86-64 only.
#pragma once

#include <cstddef>
#include <span>

namespace culprit::assemble {

/// Whether the innermost loop around the instruction at `at` is one: it contains `pause`, or reads
/// memory and changes neither memory (but for an atomic exchange) nor any register that the next
/// round uses. `code` begins with a function, or with any other instruction before `at`.
bool is_spin_loop(std::span<const unsigned char> code, size_t at);

}  // namespace culprit::assemble
