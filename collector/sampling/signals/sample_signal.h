// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which signal samples use, and how the program uses it (docs/decisions/0025). A signal belongs to
// the program as soon as it does anything with it: samples then move on to a free one, and our
// handler stays before the program's only to drop samples that were still on their way. The program
// always finds the action that it set itself.
#pragma once

#include <signal.h>

namespace culprit::collector::sampling {

/// Chooses a signal, unless one is in use. 0 if none is available, or sampling is over. The caller
/// holds the SignalTurn.
int claim_sample_signal();
/// The signal in use; 0: none.
int sample_signal();

/// Whether the set has all signals that samples might ever use, like a set of all signals.
bool has_all_sample_signals(const sigset_t& set);

/// Whether we use or intercept this signal, so that the program's calls for it come to us.
bool concerns_us(int signal);
/// As sigaction() for a signal that concerns us.
int set_program_action(int signal, const struct sigaction* action, struct sigaction* previous);
/// The program is about to take this signal in another way than by a handler.
void leave_to_program(int signal);

enum class Over { displaced, confined };
/// Ends sampling for good. Async-signal-safe.
void end_sampling(Over why);
/// Ends sampling if a handler other than ours is installed.
void check_sample_signal();

/// In a forked child.
void forget_sample_signal();

/// In sampler.cpp: one of our signals has come. Async-signal-safe.
void on_sample(const void* context);

}  // namespace culprit::collector::sampling
