// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A library that is loaded and unloaded all the time, and throws from inside itself meanwhile.
extern "C" [[gnu::visibility("default")]] int throw_from_plugin(int depth) {
  if (depth == 0) throw depth;
  return throw_from_plugin(depth - 1) + 1;
}
