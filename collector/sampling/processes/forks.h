// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Forked processes, as recorded by their parent and by themselves: like threads that the program
// makes, they begin where their creator made them.
#pragma once

namespace culprit::collector::sampling {

/// The process is about to fork, has forked, or was forked from one that called this.
void note_forking();
void say_forked();
void note_forked();

}  // namespace culprit::collector::sampling
