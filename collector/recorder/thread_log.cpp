// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Appends records to the mapped window of a thread's file. The common case is a bound check, a few
// stores, and as many multiplications for the window's checksum; everything rare (the window's end,
// a full disk) goes through append_at_end. Assumes that the header's second half is one 64-bit word
// whose top byte is `kind`: storing it last publishes the record to a reader of the file, even
// after this process was killed half way.
#include "collector/recorder/thread_log.h"

#include <algorithm>
#include <cstring>

#include "collector/callpath/return_slot.h"
#include "collector/callpath/unwind.h"
#include "collector/process/code_map.h"
#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

using trace::raw_second_half;
using trace::RawHeader;

uint16_t* NameTable::find(const char* name) {
  const auto key = reinterpret_cast<uintptr_t>(name);
  unsigned at = static_cast<unsigned>((key * 0x9e3779b97f4a7c15u) >> 52) % kSlots;
  while (names_[at] != nullptr && names_[at] != name) at = (at + 1) % kSlots;
  if (names_[at] == nullptr && count_ == kMaxNames) return nullptr;
  return &ids_[at];
}

uint16_t NameTable::enter(uint16_t* slot, const char* name) {
  names_[slot - ids_] = name;
  *slot = ++count_;
  return count_;
}

// A record that may grow enters the checksum when it no longer can, so that the checksum is right
// at any moment.
inline void ThreadLog::Impl::store(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                                   Words words) {
  if (grows) finish_newest();
  auto* to = reinterpret_cast<uint64_t*>(file.window() + used);
  const uint64_t second = raw_second_half(kind, flags, arg, words.all());
  const uint64_t place = used / sizeof(uint64_t);
  uint64_t with_it = sum + trace::raw_sum_of(time, place) + trace::raw_sum_of(second, place + 1);
  for (unsigned i = 0; i < words.count; ++i) {
    to[2 + i] = words.fields[i];
    with_it += trace::raw_sum_of(words.fields[i], place + 2 + i);
  }
  for (unsigned i = 0; i < words.rest_count; ++i) {
    const unsigned at = words.count + i;
    to[2 + at] = words.rest[i];
    with_it += trace::raw_sum_of(words.rest[i], place + 2 + at);
  }
  to[0] = time;
  std::atomic_ref<uint64_t>(to[1]).store(second, std::memory_order_release);
  newest = used;
  used += record_bytes(words.all());
  grows = trace::may_grow(kind);
  if (grows) return;
  sum = with_it;
  file.seal(sum, used);
}

void ThreadLog::Impl::finish_newest() {
  grows = false;
  sum += trace::raw_sum(file.window() + newest, (used - newest) / sizeof(uint64_t),
                        newest / sizeof(uint64_t));
  file.seal(sum, used);
}

uint64_t* ThreadLog::Impl::growing(RawKind kind) {
  if (!grows) return nullptr;
  auto* header = reinterpret_cast<RawHeader*>(file.window() + newest);
  return header->kind == kind ? reinterpret_cast<uint64_t*>(header + 1) : nullptr;
}

uint64_t* ThreadLog::Impl::growing(RawKind kind, uint16_t flags) {
  uint64_t* const words = growing(kind);
  if (words == nullptr) return nullptr;
  return (reinterpret_cast<const RawHeader*>(words) - 1)->flags == flags ? words : nullptr;
}

// The new words are 0 until they are written: a reader of the file then finds no value in them.
bool ThreadLog::Impl::lengthen(unsigned words) {
  if (used + words * sizeof(uint64_t) + sizeof(RawHeader) > limit) return false;
  auto* const record = reinterpret_cast<uint64_t*>(file.window() + newest);
  const auto* header = reinterpret_cast<const RawHeader*>(record);
  const uint64_t second =
      raw_second_half(header->kind, header->flags, header->arg, header->words + words);
  std::atomic_ref<uint64_t>(record[1]).store(second, std::memory_order_release);
  used += static_cast<uint32_t>(words * sizeof(uint64_t));
  return true;
}

// Times may not decrease within a file, but a signal can come between a probe's now() and its
// put().
bool ThreadLog::Impl::append(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                             Words words) {
  if (time < last_time) time = last_time;
  set_last_time(time);
  // A rest of 8 bytes could hold no pad, so the end is left to the careful way.
  if (used + record_bytes(words.all()) + sizeof(RawHeader) > stop) [[unlikely]] {
    return append_at_end(kind, time, flags, arg, words);
  }
  store(kind, time, flags, arg, words);
  return true;
}

// 0 means that no time was noted, so a time must not be 0: it is at least one tick.
inline bool ThreadLog::Impl::note(RawKind kind, raw::Place moment, uint64_t time, uint16_t flags,
                                  uint64_t w0) {
  uint64_t* const words = growing(kind, flags);
  if (words == nullptr || words[0] != w0) return false;
  const auto* header = reinterpret_cast<const RawHeader*>(words) - 1;
  const unsigned half = moment.half, shift = 32 * half;
  uint64_t& last = words[moment.word];
  time = std::max({time, last_time, header->time + 1});
  const uint64_t ticks = time - header->time;
  const bool in_order = half == 0 || static_cast<uint32_t>(last) != 0;
  if (!in_order || ticks > UINT32_MAX || static_cast<uint32_t>(last >> shift) != 0) return false;
  set_last_time(time);
  std::atomic_ref<uint64_t>(last).store(last | ticks << shift, std::memory_order_release);
  return true;
}

bool ThreadLog::Impl::append_at_end(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                                    Words words) {
  if ((stop < limit || widen()) && ends_step(record_bytes(words.all()))) {
    store(kind, time, flags, arg, words);
    return true;
  }
  if (used + record_bytes(words.all()) == limit) {
    store(kind, time, flags, arg, words);
    return true;
  }
  const uint64_t begin = now();
  if (!next_window()) return drop();
  store(kind, time, flags, arg, words);
  store(RawKind::tool_begin, begin > time ? begin : time, 0, 0, {});
  set_last_time(now());
  store(RawKind::tool_end, last_time, 0, 0, {});
  return true;
}

bool ThreadLog::Impl::drop() {
  if (!scratch && lifecycle::is_active()) tally(&trace::RawProcess::dropped_records);
  return false;
}

bool ThreadLog::Impl::may_append_from_signal() const {
  return file.window() != nullptr;
}

uint32_t ThreadLog::Impl::add_frame(uint32_t path, uint64_t address) {
  const PathTree::Node node = paths.child(path, address);
  if (node.is_new) {
    append(last_time, raw::path_def{.path = node.id, .parent = path, .address = address});
  }
  return node.id;
}

PathId ThreadLog::Impl::define_path(const Frames& frames, unsigned known, bool keep,
                                    const python::Stack* python) {
  if ((frames.count == 0 && known == 0) || frames.cut) tally(&trace::RawProcess::failed_unwinds);
  uint32_t path = known > 0 ? last[known - 1].path : 0;
  bool complete = !frames.cut;
  unsigned python_left = python != nullptr ? python->count : 0;
  if (keep) last.keep(known);
  if (python_left > 0) path = add_python_around(path, frames, *python, python_left);
  for (unsigned i = frames.count; i-- > 0;) {
    const uintptr_t address = frames.at[i].address;
    code_map::Owner owner = code_map::owner_of(address - 1);
    if (owner == code_map::Owner::unknown && code_map::learn()) {
      owner = code_map::owner_of(address - 1);
    }
    if (owner != code_map::Owner::collector) {
      const uint32_t child = add_frame(path, address);
      if (child == 0) {
        tally(&trace::RawProcess::failed_unwinds);
        complete = false;
        break;
      }
      path = child;
    }
    if (python_left > 0) path = add_python(path, frames.at[i], *python, python_left);
    complete = complete && (!keep || last.push({frames.at[i].cfa, address, path, 0}));
  }
  // Native code of the interpreter lies elsewhere, too (`.cold`), where it is not recognised.
  while (python_left > 0) path = add_python_frame(path, python->at[--python_left]);
  if (keep && !complete) last.forget();
  return PathId{path};
}

void ThreadLog::Impl::append_sample(uint64_t time, uint16_t missed, const Frames& frames,
                                    const python::Stack* python) {
  say_unknown_python();
  const PathId path = define_path(frames, 0, false, python);
  append(time, raw::sample{.path = static_cast<uint32_t>(path), .missed = missed});
}

/// One search in many is timed, and stands for all of them.
uint32_t ThreadLog::Impl::remembered_path(uintptr_t cfa, uintptr_t return_address) {
  if (until_timing-- > 0) [[likely]]
    return memo.find(cfa, return_address);
  until_timing = trace::kRawSearchesPerTiming - 1;
  const uint64_t begin = now();
  const uint32_t path = memo.find(cfa, return_address);
  tally(&trace::RawProcess::search_ticks, trace::kRawSearchesPerTiming * (now() - begin));
  tally(&trace::RawProcess::searches);
  return path;
}

PathId ThreadLog::Impl::take_path(uintptr_t cfa) {
  say_unknown_python();
  const uint64_t begin = now();
  const unsigned known = unwind_to_known(cfa, frames, last);
  const PathId path = define_path(frames, known, true);
  memo.add(last, known);
  const uint64_t end = now();
  digest.account().add_path(end - begin);
  tally(&trace::RawProcess::unwind_ticks, end - begin);
  return path;
}

void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg) {
  if (selection::skips(kind, time)) return;
  const Busy busy(impl_->busy);
  impl_->append(kind, time, flags, arg, {});
}

void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0) {
  if (selection::skips(kind, time)) return;
  const Busy busy(impl_->busy);
  impl_->append(kind, time, flags, arg, {&w0, 1});
}

void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1) {
  if (selection::skips(kind, time)) return;
  const Busy busy(impl_->busy);
  const uint64_t words[] = {w0, w1};
  impl_->append(kind, time, flags, arg, {words, 2});
}

void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1, uint64_t w2) {
  if (selection::skips(kind, time)) return;
  const Busy busy(impl_->busy);
  const uint64_t words[] = {w0, w1, w2};
  impl_->append(kind, time, flags, arg, {words, 3});
}

void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1, uint64_t w2, uint64_t w3) {
  if (selection::skips(kind, time)) return;
  const Busy busy(impl_->busy);
  const uint64_t words[] = {w0, w1, w2, w3};
  impl_->append(kind, time, flags, arg, {words, 4});
}

bool ThreadLog::put_words(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                          const uint64_t* words, unsigned count, const uint64_t* rest,
                          unsigned rest_count) {
  if (count + rest_count > kMaxWords) {
    tally(&trace::RawProcess::dropped_records);
    return false;
  }
  if (selection::skips(kind, time)) return true;
  const Busy busy(impl_->busy);
  return impl_->append(kind, time, flags, arg, {words, count, rest, rest_count});
}

void ThreadLog::put_blocked(uint64_t begin, uint64_t end, StringId name, PathId caller,
                            uint64_t object) {
  put_blocked(begin, raw::blocked{.path = static_cast<uint32_t>(caller),
                                  .name = static_cast<uint16_t>(name),
                                  .until = end,
                                  .object = object});
}

void ThreadLog::put_blocked(uint64_t begin, raw::blocked blocked) {
  if (selection::skips(RawKind::blocked, begin)) return;
  const Busy busy(impl_->busy);
  if (begin < impl_->last_time) blocked.begun = begin;
  impl_->append(begin, blocked);
}

bool ThreadLog::prolong_blocked(uint64_t was, uint64_t end) {
  constexpr unsigned kUntil = raw::place_of(&raw::blocked::until).word;
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(RawKind::blocked);
  if (words == nullptr || words[kUntil] != was) return false;
  std::atomic_ref<uint64_t>(words[kUntil]).store(end, std::memory_order_relaxed);
  return true;
}

// The begin comes after the object in the record, so that there is a word for that.
bool ThreadLog::explain_blocked(uint64_t was, const raw::blocked& blocked) {
  constexpr unsigned kUntil = raw::place_of(&raw::blocked::until).word;
  constexpr unsigned kObject = raw::place_of(&raw::blocked::object).word;
  constexpr unsigned kBegun = raw::place_of(&raw::blocked::begun).word;
  static_assert(kObject < kBegun);
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(RawKind::blocked);
  if (words == nullptr || words[kUntil] != was) return false;
  auto* const header = reinterpret_cast<RawHeader*>(words) - 1;
  if (header->words <= kBegun) return false;
  const raw::Packed<raw::blocked> packed(blocked);
  std::atomic_ref<uint64_t>(words[kObject]).store(blocked.object, std::memory_order_relaxed);
  std::atomic_ref<uint64_t>(words[kUntil]).store(blocked.until, std::memory_order_relaxed);
  const uint64_t second =
      raw_second_half(header->kind, packed.flag_bits, packed.argument, header->words);
  std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(header)[1])
      .store(second, std::memory_order_release);
  return true;
}

void ThreadLog::set_word(RawKind kind, unsigned word, uint64_t value) {
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(kind);
  if (words == nullptr) return;
  std::atomic_ref<uint64_t>(words[word]).store(value, std::memory_order_relaxed);
}

bool ThreadLog::note(RawKind kind, raw::Place moment, uint64_t time, uint16_t flags, uint64_t w0) {
  const Busy busy(impl_->busy);
  return impl_->note(kind, moment, time, flags, w0);
}

namespace {

void add_test(uint64_t* words, uint64_t end, uint64_t ticks) {
  constexpr unsigned kUntil = raw::place_of(&raw::mpi_tests::until).word;
  constexpr unsigned kCount = raw::place_of(&raw::mpi_tests::count).word;
  constexpr unsigned kInside = raw::place_of(&raw::mpi_tests::inside).word;
  words[kUntil] = end;
  words[kCount] += 1;
  words[kInside] += ticks;
}

}  // namespace

bool ThreadLog::put_test(uint64_t end, uint16_t name, uint64_t ticks) {
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(RawKind::mpi_tests);
  if (words == nullptr) return false;
  const auto* header = reinterpret_cast<const RawHeader*>(words) - 1;
  if (header->flags != name) {
    unsigned other = trace::kRawTestsWords;
    while (other < header->words && static_cast<uint16_t>(words[other]) != name) other += 2;
    if (other >= header->words) return false;
    words[other + 1] += ticks;
  }
  add_test(words, end, ticks);
  return true;
}

bool ThreadLog::put_test_of(PathId caller, uint64_t end, uint16_t name, uint64_t ticks) {
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(RawKind::mpi_tests);
  if (words == nullptr) return false;
  const unsigned count = (reinterpret_cast<const RawHeader*>(words) - 1)->words;
  if (count >= trace::kRawTestsWords + 2 * trace::kRawOtherTests) return false;
  if (!impl_->lengthen(2)) return false;
  words[count] = uint64_t{static_cast<uint32_t>(caller)} << 32 | name;
  words[count + 1] = ticks;
  add_test(words, end, ticks);
  return true;
}

bool ThreadLog::put_poll(const raw::device_polls& one) {
  constexpr unsigned kNumber = raw::place_of(&raw::device_polls::number).word;
  constexpr unsigned kQueue = raw::place_of(&raw::device_polls::queue).word;
  static_assert(
      raw::place_of(&raw::device_polls::until).word == raw::place_of(&raw::mpi_tests::until).word &&
      raw::place_of(&raw::device_polls::count).word == raw::place_of(&raw::mpi_tests::count).word &&
      raw::place_of(&raw::device_polls::inside).word ==
          raw::place_of(&raw::mpi_tests::inside).word);
  const Busy busy(impl_->busy);
  uint64_t* const words = impl_->growing(RawKind::device_polls, one.name);
  if (words == nullptr || words[kNumber] != one.number || words[kQueue] != one.queue) return false;
  add_test(words, one.until, one.inside);
  return true;
}

namespace {

uintptr_t return_address_at(uintptr_t cfa) {
  return kReturnAddressesAreOnTheStack ? held_below(cfa) : 0;
}

}  // namespace

inline PathId ThreadLog::Impl::path_at(uintptr_t cfa, uintptr_t return_address) {
  const uint32_t known = remembered_path(cfa, return_address);
  const PathId path = known != 0 ? PathId{known} : take_path(cfa);
  return python::is_there() ? with_python(static_cast<uint32_t>(path), cfa) : path;
}

[[gnu::noinline]] PathId ThreadLog::current_path() {
  const auto cfa = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  if (!recording() && !impl_->scratch) return PathId::unknown;
  const Busy busy(impl_->busy);
  return impl_->path_at(cfa, caller);
}

PathId ThreadLog::path_above(uintptr_t cfa) {
  if (!recording() && !impl_->scratch) return PathId::unknown;
  const Busy busy(impl_->busy);
  return impl_->path_at(cfa, return_address_at(cfa));
}

StringId ThreadLog::enter(RawKind kind, uint64_t time, const char* name, uintptr_t cfa) {
  const bool skipped = selection::skips(kind, time);
  StringId number = StringId::none;
  PathId path = PathId::unknown;
  {
    const Busy busy(impl_->busy);
    number = impl_->name(name);
    if (skipped) return number;
    if (!selection::is_off()) path = impl_->path_at(cfa, return_address_at(cfa));
    if (!counting) [[likely]] {
      impl_->append(kind, time, static_cast<uint16_t>(number), static_cast<uint32_t>(path), {});
      return number;
    }
  }
  count(time);
  put(kind, time, static_cast<uint16_t>(number), static_cast<uint32_t>(path));
  return number;
}

StringId ThreadLog::name(const char* name) {
  const Busy busy(impl_->busy);
  return impl_->name(name);
}

StringId ThreadLog::Impl::name(const char* name) {
  uint16_t* slot = names.find(name);
  if (slot == nullptr) return StringId::none;
  if (*slot != 0) [[likely]]
    return StringId{*slot};
  const uint16_t id = names.enter(slot, name);
  uint64_t words[32] = {};
  size_t length = strlen(name);
  if (length > sizeof words) length = sizeof words;
  memcpy(words, name, length);
  append(last_time, raw::string_def{.string = id, .length = static_cast<uint16_t>(length)}, words,
         static_cast<unsigned>((length + 7) / 8));
  return StringId{id};
}

}  // namespace culprit::collector
