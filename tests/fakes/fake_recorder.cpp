// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records in memory (fake_recorder.h). Logs live as long as the test program: a ThreadLog has
// no place to hang them on, so each thread has one and its records beside it.

#include "tests/fakes/fake_recorder.h"

#include <atomic>
#include <map>

#include "collector/process/cupti_place.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"

namespace culprit::collector {

/// In place of the one that makes logs.
class Recorder {
 public:
  static void give_slots(ThreadLog& log, trace::RawOpen* slots) { log.open_ = slots; }
};

}  // namespace culprit::collector

namespace culprit::tests {
namespace {

std::atomic<bool> active{true};
std::atomic<uint64_t> ticks{0};
trace::RawProcess process_record{};

struct Memory {
  collector::ThreadLog log;
  std::vector<FakeRecord> records;
  std::map<const char*, uint16_t> names;
  trace::RawOpen open[trace::kRawSlots] = {};
  Memory() { collector::Recorder::give_slots(log, open); }
};
thread_local Memory memory;

}  // namespace

void fake_recorder_reset(bool now_active) {
  active = now_active;
  memory.records.clear();
  process_record = {};
}

const std::vector<FakeRecord>& fake_records() {
  return memory.records;
}

FakeRecord fake_open(trace::RawSlot slot) {
  const trace::RawOpen& open = memory.open[static_cast<unsigned>(slot)];
  const trace::RawHeader& header = open.header;
  return {
      header.kind, header.time, header.flags, header.arg, {open.words, open.words + header.words}};
}

size_t fake_count(trace::RawKind kind) {
  size_t n = 0;
  for (const FakeRecord& record : memory.records) n += record.kind == kind;
  return n;
}

std::string fake_name(uint16_t id) {
  for (const auto& [name, number] : memory.names) {
    if (number == id) return name;
  }
  return "";
}

int fake_waiting() {
  return memory.log.waiting;
}

}  // namespace culprit::tests

namespace culprit::collector {

using tests::active;
using tests::memory;

uint64_t now() {
  return ++tests::ticks;
}
ThreadLog* thread_log() {
  return active ? &memory.log : nullptr;
}
bool activate() {
  return active;
}
trace::RawProcess* process() {
  return active ? &tests::process_record : nullptr;
}
ThreadLog* make_extra_log() {
  return thread_log();
}
bool is_active() {
  return active;
}
extern "C" bool culprit_takes_probe(uint32_t raw_version) {
  return raw_version == trace::kRawVersion;
}
void checkpoint() {}
const Environment& environment() {
  static const Environment all = [] {
    Environment environment;
    environment.wanted = true;
    return environment;
  }();
  return all;
}
bool recording() {
  return true;
}
void switch_recording(bool) {}
bool tests_wanted() {
  return true;
}
void rank_is_known(int) {}

void ThreadLog::set_word(RawKind kind, unsigned word, uint64_t value) {
  if (memory.records.empty() || memory.records.back().kind != kind) return;
  memory.records.back().words.at(word) = value;
}
bool ThreadLog::put_words(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                          const uint64_t* words, unsigned count, const uint64_t* rest,
                          unsigned rest_count) {
  memory.records.push_back({kind, time, flags, arg, {words, words + count}});
  if (rest_count > 0)
    memory.records.back().words.insert(memory.records.back().words.end(), rest, rest + rest_count);
  return true;
}
void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg) {
  put_words(kind, time, flags, arg, nullptr, 0);
}
void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0) {
  put_words(kind, time, flags, arg, &w0, 1);
}
void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1) {
  const uint64_t words[] = {w0, w1};
  put_words(kind, time, flags, arg, words, 2);
}
void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1, uint64_t w2) {
  const uint64_t words[] = {w0, w1, w2};
  put_words(kind, time, flags, arg, words, 3);
}
void ThreadLog::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0,
                    uint64_t w1, uint64_t w2, uint64_t w3) {
  const uint64_t words[] = {w0, w1, w2, w3};
  put_words(kind, time, flags, arg, words, 4);
}

bool ThreadLog::put_test_of(PathId, uint64_t, uint16_t, uint64_t) {
  return false;
}

bool ThreadLog::put_test(uint64_t end, uint16_t name, uint64_t ticks) {
  if (memory.records.empty()) return false;
  tests::FakeRecord& last = memory.records.back();
  if (last.kind != RawKind::mpi_tests || last.flags != name) return false;
  last.words[0] = end;
  last.words[1] += 1;
  last.words[2] += ticks;
  return true;
}

bool ThreadLog::put_poll(const raw::device_polls& one) {
  if (memory.records.empty()) return false;
  tests::FakeRecord& last = memory.records.back();
  if (last.kind != RawKind::device_polls || last.flags != one.name || last.words[3] != one.number ||
      last.words[4] != one.queue) {
    return false;
  }
  last.words[0] = one.until;
  last.words[1] += 1;
  last.words[2] += one.inside;
  return true;
}

void ThreadLog::count(uint64_t time) {
  put(time, raw::counters{});
}

PathId ThreadLog::current_path() {
  return PathId{7};
}

PathId ThreadLog::path_above(uintptr_t) {
  return PathId{7};
}

StringId ThreadLog::enter(RawKind kind, uint64_t time, const char* name, uintptr_t) {
  const StringId number = ThreadLog::name(name);
  if (counting) count(time);
  put(kind, time, static_cast<uint16_t>(number), 7);
  return number;
}

StringId ThreadLog::name(const char* name) {
  const auto next = static_cast<uint16_t>(memory.names.size() + 1);
  return StringId{memory.names.emplace(name, next).first->second};
}

uint64_t clock_identity(const trace::RawProcess&) {
  return 1;
}

void hold_cupti_place(void (*)()) {}  // nobody else wants it

}  // namespace culprit::collector
