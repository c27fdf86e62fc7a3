// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A made-up device runtime for the template of a probe (probe.cpp): one device with one queue,
// whose operations only take time. Like real ones it opens the tool that an environment variable
// names, TOY_TOOLS, calls the tool's `toy_tools_start`, and tells it of calls on the thread that
// makes them, and of operations, later, on a thread of its own. Its clock is not ours.
#pragma once

#include <cstdint>

extern "C" {

/// Hands over what takes that many milliseconds; returns its number.
uint64_t toy_launch(const char* name, unsigned milliseconds);
/// Returns when it has ended.
void toy_wait(uint64_t operation);
/// The device's clock, in nanoseconds.
uint64_t toy_clock(void);

struct ToyTools {
  void (*launch_begins)(void);
  void (*launch_ends)(uint64_t operation);
  void (*wait_begins)(void);
  void (*wait_ends)(uint64_t operation);
  void (*executed)(uint64_t operation, const char* name, uint64_t begin, uint64_t end);
};
using ToyToolsStart = const ToyTools* (*)(void);
}
