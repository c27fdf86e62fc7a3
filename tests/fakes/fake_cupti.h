// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A libcupti.so without a device behind it: the functions that culprit uses, and these, by which a
// program plays driver and device. Records wait until a flush, as CUPTI's do: a forced one brings
// all, another those whose kernel is over; those of a context that ends are gone. The program may
// have them delivered in the order that it likes. What versions of CUPTI are known to do wrong, it
// does as that version: give kernels no times once a clock is registered (12.6 Update 2 to 13.0),
// or have no record of the device being waited for (13.0).
//
// The environment may wish, too, for programs that know nothing of this: FAKE_CUPTI_VERSION (a
// number), FAKE_CUPTI_EVENT_SYNC and FAKE_CUPTI_PER_THREAD (set).
#pragma once

#include <cupti.h>

#include <cstdint>

extern "C" {

struct FakeCuptiWishes {
  CUptiResult subscribe;  ///< what cuptiSubscribe answers
  bool old_clock;         ///< no registration of a clock: times are CUPTI's own
  bool hang;              ///< the forced flush never returns
  size_t buffer_bytes;    ///< of each buffer, how much is used; 0: all
  uint32_t version;       ///< what cuptiGetVersion answers; 0: 13.0 Update 1
  bool event_sync;        ///< waits for a device are told as waits for an event
  bool per_thread;        ///< each thread has a buffer of its own, from its first record to a flush
};
void fake_cupti_wish(const FakeCuptiWishes* wishes);

/// A moment as records tell it.
uint64_t fake_cupti_now();
/// A context on device `ordinal`; its number is 1 + ordinal.
void fake_cupti_context(uint32_t ordinal);
void fake_cupti_context_ends(uint32_t ordinal);
/// A module was loaded.
void fake_cupti_module();

/// The runtime's or the driver's function of this name begins or ends, in context 1.
void fake_cupti_enter(const char* function, uint32_t correlation);
void fake_cupti_leave(const char* function, uint32_t correlation);
/// It ends with this result; `arguments`: a struct of them, as of CUPTI's generated headers.
void fake_cupti_answer(const char* function, uint32_t correlation, const void* arguments,
                       int result);
/// Streams are handles: pointers to their numbers. A null pointer is number 7.

/// Whether records of this CUpti_ActivityKind were asked for.
bool fake_cupti_wants(int kind);
/// Keeps a copy of a record for the next flush.
void fake_cupti_record(const void* record, size_t size);
/// Asks for so many buffers at once and keeps them; how many were given.
int fake_cupti_hoard(int count);
/// Gives them back, without records.
void fake_cupti_let_go();
/// The next flush says that so many were dropped.
void fake_cupti_drop(size_t count);
/// Delivers what was kept, in reverse order if so.
void fake_cupti_deliver(bool reversed);

/// How often the library was finalised, or synchronised: never.
int fake_cupti_misdeeds();
}
