// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Forked processes, as their parent and they themselves tell of them: like threads that the program
// makes, they begin where another made them.
#pragma once

namespace culprit::collector::sampling {

/// The process is about to fork, has forked, or was forked from one that said so.
void note_forking();
void say_forked();
void note_forked();

}  // namespace culprit::collector::sampling
