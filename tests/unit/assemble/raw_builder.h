// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Makes folders of raw records by hand, exactly as trace/raw/raw.h says, so that any ending of a
// program can be tested without running one. Times are nanoseconds since the run's begin. Functions
// are given by name: each gets an address in a library of its kind, and the names come back through
// symbols().
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assemble/names/symbols.h"
#include "trace/raw/raw.h"

namespace culprit::assemble::test {

/// The code of all processes that a test builds.
class FakeCode {
 public:
  /// Return address of a call in `function` at `line`. Names that begin with "__kmp" are the OpenMP
  /// runtime's, with "libc:" the C library's; with "?" the function has no name but its offset.
  uint64_t at(std::string_view function, uint32_t line = 1);
  /// What /proc/self/maps says of it.
  std::string maps() const;
  SymbolSource symbols() const;

 private:
  std::vector<std::string> functions_;
};

class RawProcessBuilder;

/// A log of these records, as a thread that ended leaves it.
std::string sealed(const std::string& records, uint64_t start_ticks, uint32_t log);

/// Appends records to one events file.
class RawThread {
 public:
  RawThread(RawProcessBuilder& process, std::filesystem::path file, uint32_t number)
      : process_(process), file_(std::move(file)), number_(number) {}
  ~RawThread();
  RawThread(const RawThread&) = delete;

  RawThread& put(trace::RawKind kind, uint64_t time, uint16_t flags = 0, uint32_t arg = 0,
                 const std::vector<uint64_t>& words = {});
  /// Path id of these functions, outermost first: defines what is new.
  uint32_t path(const std::vector<std::string>& functions);

  // The commonest records.
  RawThread& enter(uint64_t time, std::string_view call, const std::vector<std::string>& path = {});
  RawThread& leave(uint64_t time, std::string_view call);
  RawThread& send(uint64_t time, uint32_t peer, uint64_t bytes, uint32_t comm = 0);
  RawThread& recv(uint64_t time, uint32_t peer, uint64_t bytes, uint32_t comm = 0);
  RawThread& begin_user(uint64_t time, trace::RawUserRegion kind, std::string_view name,
                        const std::vector<std::string>& path, int64_t number = 0);
  RawThread& end_user(uint64_t time, trace::RawUserRegion kind, std::string_view name);
  /// In a call of the system; `file`: that it reads or writes, "?" if it is not known.
  RawThread& blocked(uint64_t time, uint64_t until, std::string_view call,
                     const std::vector<std::string>& path, std::string_view file = "");
  /// Another thread slept, as seen from beside, in the log that says so of it.
  RawThread& asleep(uint64_t tid, uint64_t from, uint64_t seen, uint64_t until,
                    std::string_view call, const std::vector<std::string>& path,
                    std::string_view file = "");
  /// In one in which it waited for an object.
  RawThread& awaited(uint64_t time, uint64_t until, std::string_view call,
                     const std::vector<std::string>& path, uint64_t object);
  RawThread& woke(uint64_t time, uint64_t object);
  RawThread& sample(uint64_t time, const std::vector<std::string>& path);
  RawThread& fork(uint64_t time, uint64_t region, const std::vector<std::string>& path,
                  uint64_t code = 0);
  RawThread& join(uint64_t time, uint64_t region);
  RawThread& begin(uint64_t time, uint64_t region, uint32_t size, uint32_t index);
  RawThread& end(uint64_t time, uint64_t region);
  RawThread& sync(uint64_t time, uint16_t kind, uint64_t region, uint64_t code = 0);
  RawThread& sync_end(uint64_t time, uint16_t kind, uint64_t region);

  /// Bytes that are no record.
  void append(const void* data, size_t size);

 private:
  uint16_t name(std::string_view call);

  RawProcessBuilder& process_;
  std::filesystem::path file_;
  uint32_t number_;
  std::string bytes_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> paths_;
  std::map<std::string, uint16_t, std::less<>> names_;
};

class RawProcessBuilder {
 public:
  RawProcessBuilder(std::filesystem::path folder, FakeCode& code);
  ~RawProcessBuilder();

  RawThread& thread(uint32_t number);
  /// Of MPI_COMM_WORLD.
  RawProcessBuilder& rank(int32_t rank, int32_t size);
  /// It ended in order, at `time`.
  RawProcessBuilder& ended(uint64_t time);
  RawProcessBuilder& started(uint64_t time);

  trace::RawProcess process{};
  FakeCode& code;

 private:
  std::filesystem::path folder_;
  std::deque<RawThread> threads_;
  std::map<uint32_t, RawThread*> by_number_;
};

/// Ticks of a moment in tests.
inline constexpr uint64_t kTicksAtZero = 1'000'000;
inline constexpr uint64_t kRealtimeAtZero = 1'700'000'000'000'000'000;

}  // namespace culprit::assemble::test
