// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The timers whose signals are samples: one per thread, on its CPU time, so that sleeping threads
// are not woken. Each expires once and is set again by the sample that it brought: a thread whose
// signal ends in a handler other than ours gets no more. MT: functions for this thread are for its
// own use, and its handler's; the rest needs a SignalTurn.
#pragma once

#include <signal.h>

#include <cstdint>

namespace culprit::collector::sampling::timers {

/// Whether the signal is from one of our timers, of whichever thread and signal.
bool is_ours(const siginfo_t& info);
/// Sends this thread the signal that a timer would send.
void send_to_self(int signal);

/// This thread's CPU time in nanoseconds.
uint64_t cpu_nanoseconds();

/// Gives this thread a timer that sends `signal`, if it has none. False if that is impossible. The
/// caller holds the SignalTurn.
bool begin(int signal, uint64_t period_ns);
/// This thread ends. The caller holds the SignalTurn.
void end();
bool has_one();

/// Pauses this thread's timer, and resumes it: while the signal is blocked, the program could find
/// pending samples. A thread without a timer is left alone.
void pause();
void go_on();

/// Sets the period of this thread's timer, from the next sample on.
void set_period(uint64_t period_ns);
/// Called in the handler: the number of whole periods since the sample was due. The next is due at
/// the end of the period that has begun, if wind_up() is called.
uint64_t periods_missed(uint64_t cpu_ns);
void wind_up();
/// The timer's signal was taken without a sample.
void skip();

/// All threads' timers send this signal from now on; 0: none expires any more. The caller holds the
/// SignalTurn. Async-signal-safe.
void move_all(int signal);

/// Called in a forked child, which has no timers.
void forget_all();

}  // namespace culprit::collector::sampling::timers
