// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Loops that do nothing but read memory until another thread changes it, and perhaps sleep for a
// while or give the core away in between: a thread in one waits, though no call says so. They are
// recognised by their instructions, on x86-64 only.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace culprit::assemble {

/// The function in another file that the instruction which ends at this place in the code calls.
using CalledBefore = std::function<std::optional<std::string>(size_t place)>;

/// Whether the innermost loop around the instruction at `at` is one: it contains `pause`, or reads
/// memory and changes neither memory (but for an atomic exchange) nor any register that the next
/// round uses, and calls nothing that does more than pass time. `code` begins with a function, or
/// with any other instruction before `at`.
bool is_spin_loop(std::span<const unsigned char> code, size_t at, const CalledBefore& called);

}  // namespace culprit::assemble
