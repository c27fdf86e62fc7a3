// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The timers whose signals are samples: one per thread, on its CPU time, so that threads that sleep
// are not woken. Each goes off once and is wound up again by the sample that it brought: where a
// signal of ours ends in somebody else's handler, it is the thread's last.
// MT: what concerns this thread is for its own use, and its handler's; the rest takes a SignalTurn.
#pragma once

#include <signal.h>

#include <cstdint>

namespace culprit::collector::sampling::timers {

/// Whether it is one of our timers', of whichever thread and signal.
bool is_ours(const siginfo_t& info);
/// Sends this thread what a timer would.
void send_to_self(int signal);

/// This thread's CPU time in nanoseconds.
uint64_t cpu_nanoseconds();

/// Gives this thread a timer that sends `signal`, if it has none. False if there can be none. The
/// caller holds the turn.
bool begin(int signal, uint64_t period_ns);
/// This thread ends. The caller holds the turn.
void end();
bool has_one();

/// Lets this thread's timer rest, and go on: while the signal is blocked, samples would wait for
/// the program to find them. Of a thread without a timer nothing changes.
void pause();
void go_on();

/// Of this thread's timer, from the next sample on.
void set_period(uint64_t period_ns);
/// In the handler: how many whole periods have passed since the sample was due. The next is due at
/// the end of the period that has begun, if wind_up() is called.
uint64_t periods_missed(uint64_t cpu_ns);
void wind_up();
/// Its signal has been taken without a sample.
void skip();

/// All threads' timers send this signal from now on; 0: none goes off any more. The caller holds
/// the turn. Async-signal-safe.
void move_all(int signal);

/// In a forked child, which has none.
void forget_all();

}  // namespace culprit::collector::sampling::timers
