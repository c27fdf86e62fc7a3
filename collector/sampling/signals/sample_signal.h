// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which signal samples use, and what the program has asked of it (docs/decisions/0025). A signal
// belongs to the program as soon as it does anything with it: samples then move on to a free one,
// and our handler stays before the program's only to keep back what was still on its way. What the
// program asks for, or finds, is what it set itself.
#pragma once

#include <signal.h>

namespace culprit::collector::sampling {

/// Chooses a signal, unless one is in use. 0 if none is to be had, or sampling is over. The caller
/// holds the turn.
int claim_sample_signal();
/// The one in use; 0: none.
int sample_signal();

/// Whether the set has all signals that samples might ever use, as one of all signals does.
bool has_all_sample_signals(const sigset_t& set);

/// Whether we have our hand in this signal, so that the program's calls for it come to us.
bool concerns_us(int signal);
/// As sigaction() for a signal that concerns us.
int set_program_action(int signal, const struct sigaction* action, struct sigaction* previous);
/// The program is about to take this signal in another way than by a handler.
void leave_to_program(int signal);

enum class Over { displaced, confined };
/// No samples are taken any more, whatever happens. Async-signal-safe.
void end_sampling(Over why);
/// Ends sampling if somebody else's handler stands in the place of ours.
void check_sample_signal();

/// In a forked child.
void forget_sample_signal();

/// In sampler.cpp: a signal of ours has come. Async-signal-safe.
void on_sample(const void* context);

}  // namespace culprit::collector::sampling
