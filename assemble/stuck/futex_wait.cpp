// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The innermost frames of a blocked thread are the system's; the outermost of them that has a known
// name is the call that the program made. Layouts are those of glibc on 64-bit Linux.
#include "assemble/stuck/futex_wait.h"

#include <linux/futex.h>

#include <algorithm>
#include <string_view>

#include "assemble/stuck/waiting_calls.h"

namespace culprit::assemble::stuck {
namespace {

using look::ThreadLook;

/// Libraries that begin threads of their own, beside those of CodeKind::system.
constexpr std::string_view kHelpers[] = {"libevent", "libprrte", "libibverbs", "librdmacm",
                                         "libmlx",   "libze_",   "libhsa",     "libroc"};
/// Through these threads begin whoever makes them.
constexpr std::string_view kTransparent[] = {"libc.",  "libc-", "libpthread", "libstdc++",
                                             "libc++", "ld-",   "libculprit."};

template <size_t size>
bool begins_with_one_of(std::string_view name, const std::string_view (&prefixes)[size]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

StackFacts facts_of(const ProcessCode& code, const std::vector<uint64_t>& stack) {
  StackFacts facts;
  for (const uint64_t address : stack) {
    const Code& here = code.before(address);
    if (here.symbol == nullptr) continue;
    const std::string_view module = here.symbol->module;
    const bool is_helper = begins_with_one_of(module, kHelpers);
    for (size_t i = here.symbol->frames.size(); i-- > 0;) {
      CodeKind kind = i < here.frames.size() ? here.frames[i].kind : CodeKind::user;
      if (is_helper) kind = CodeKind::system;
      if (kind == CodeKind::user || kind == CodeKind::outlined) {
        facts.program = facts.program || (i < here.frames.size() && !here.frames[i].start);
      } else if (!facts.program) {
        const trace::ThreadCall* call = waiting_call(here.symbol->frames[i].function);
        if (call != nullptr) facts.call = call;
      }
    }
    if (begins_with_one_of(module, kTransparent)) continue;
    const CodeKind kind = here.frames.empty() ? CodeKind::user : here.frames.front().kind;
    const bool is_user = kind == CodeKind::user || kind == CodeKind::outlined;
    facts.helper = !is_user || is_helper;
  }
  return facts;
}

namespace {

uint32_t low(uint64_t word) {
  return static_cast<uint32_t>(word);
}

/// Word `bytes` behind the futex's address, which is where look::kWordsBefore says.
uint32_t word_behind(const ThreadLook& thread, int64_t bytes) {
  const int64_t at = static_cast<int64_t>(look::kWordsBefore * sizeof(uint64_t)) +
                     static_cast<int64_t>(thread.args[0] % sizeof(uint64_t)) + bytes;
  if (at < 0 || at + 4 > static_cast<int64_t>(sizeof thread.words)) return 0;
  const uint64_t word = thread.words[static_cast<size_t>(at) / sizeof(uint64_t)];
  return at % 8 == 0 ? low(word) : static_cast<uint32_t>(word >> 32);
}

/// Who owns a mutex, and who holds a read-write lock for writing (glibc's pthread_mutex_t and
/// pthread_rwlock_t); 0: nobody, or it is not known.
uint32_t owner_of_mutex(const ThreadLook& thread) {
  constexpr int64_t kOwner = 8;
  return word_behind(thread, kOwner);
}
uint32_t owner_of_rwlock(const ThreadLook& thread) {
  constexpr int64_t kFutexes[] = {8, 12};
  constexpr int64_t kWriter = 24;
  // The lock is aligned to 8 bytes.
  return word_behind(thread, kWriter - kFutexes[thread.args[0] % 8 == 0 ? 0 : 1]);
}

}  // namespace

ThreadWait wait_of(const ThreadLook& thread, const StackFacts& facts) {
  const int operation = static_cast<int>(thread.args[1]) & FUTEX_CMD_MASK;
  ThreadWait wait;
  wait.kind = facts.call != nullptr ? kind_of(*facts.call) : ThreadWait::Kind::word;
  wait.shared = thread.object == look::kSharedMemory;
  wait.timed = thread.args[3] != 0;
  const bool inherits = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
  // Who is woken from a condition takes its mutex back.
  const bool locks = inherits || (operation == FUTEX_WAIT && low(thread.args[2]) == 2);
  if (wait.kind == ThreadWait::Kind::condition && locks) wait.kind = ThreadWait::Kind::mutex;
  switch (wait.kind) {
    case ThreadWait::Kind::mutex:
      wait.owner = inherits ? word_behind(thread, 0) & FUTEX_TID_MASK : owner_of_mutex(thread);
      return wait;
    case ThreadWait::Kind::rwlock:
      wait.owner = owner_of_rwlock(thread);
      return wait;
    case ThreadWait::Kind::join:
      wait.owner = low(thread.args[2]);
      return wait;
    default:
      return wait;
  }
}

}  // namespace culprit::assemble::stuck
