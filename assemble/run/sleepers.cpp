// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks are milliseconds apart, and a thread's own records microseconds: of a sleep that spans
// several of them the part is taken that lies between the two around the moment at which it was
// seen.
#include "assemble/run/sleepers.h"

#include <algorithm>

#include "assemble/look/system_calls.h"

namespace culprit::assemble {

using trace::RawKind;

namespace {

/// A log's own numbers of call paths and names.
class Numbers {
 public:
  explicit Numbers(std::deque<std::vector<uint64_t>>& paths) : paths_(paths) {}

  void define(const RawRecord& record) {
    if (record.kind == RawKind::path_def) {
      const auto path = record.as<raw::path_def>();
      std::vector<uint64_t> addresses;
      if (const auto parent = path_of_.find(path.parent); parent != path_of_.end()) {
        addresses = *parent->second;
      }
      addresses.push_back(path.address);
      path_of_[path.path] = &paths_.emplace_back(std::move(addresses));
    } else if (record.kind == RawKind::string_def) {
      const auto text = record.as<raw::string_def>();
      names_[text.string] = text_in(record.rest_of<raw::string_def>(), text.length);
    }
  }
  const std::vector<uint64_t>* path(uint32_t number) const {
    const auto found = path_of_.find(number);
    return found != path_of_.end() ? found->second : nullptr;
  }
  std::string name(uint64_t number) const {
    const auto found = names_.find(number);
    return found != names_.end() ? found->second : "";
  }

 private:
  std::deque<std::vector<uint64_t>>& paths_;
  std::unordered_map<uint32_t, const std::vector<uint64_t>*> path_of_;
  std::unordered_map<uint64_t, std::string> names_;
};

uint64_t ticks_at(const trace::RawProcess& process, uint64_t monotonic_ns) {
  const trace::RawClockPair& first = process.first;
  const uint64_t ns = process.last.monotonic_ns - first.monotonic_ns;
  const uint64_t ticks = process.last.ticks - first.ticks;
  const double rate = ns > 0 ? static_cast<double>(ticks) / static_cast<double>(ns) : 1;
  const auto since = static_cast<double>(static_cast<int64_t>(monotonic_ns - first.monotonic_ns));
  return first.ticks + static_cast<uint64_t>(static_cast<int64_t>(since * rate));
}

/// Until when the thread was busy with the activity of this record.
uint64_t end_of(const RawRecord& record) {
  if (record.kind == RawKind::blocked) return record.as<raw::blocked>().until;
  if (record.kind == RawKind::mpi_tests) return record.as<raw::mpi_tests>().until;
  return record.ticks;
}

uint64_t begin_of(const RawRecord& record) {
  const bool slept = record.kind == RawKind::blocked;
  return slept ? began_to_block(record.as<raw::blocked>(), record.ticks) : record.ticks;
}

}  // namespace

void Sleepers::read(const RawLog& log) {
  Numbers numbers(paths_);
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    numbers.define(record);
    if (record.kind != RawKind::seen_asleep) continue;
    const auto seen = record.as<raw::seen_asleep>();
    SeenAsleep sleep;
    sleep.from = seen.from;
    sleep.seen = std::clamp(seen.seen, std::min(seen.from, seen.until), seen.until);
    sleep.until = seen.until;
    sleep.path = numbers.path(seen.path);
    sleep.call = numbers.name(seen.name);
    sleep.in_file = seen.file != 0;
    if (seen.file != trace::kRawNamelessFile) sleep.file = numbers.name(seen.file);
    if (sleep.path == nullptr || sleep.until <= sleep.from) continue;
    by_thread_[static_cast<uint32_t>(seen.tid)].push_back(std::move(sleep));
  }
  sort();
}

/// Whatever a thread did between its last record and the look, it did for less than a sample.
void Sleepers::add(const look::ProcessLook& look, const trace::RawProcess& process) {
  const uint64_t seen = ticks_at(process, look.at_ns);
  for (const look::ThreadLook& thread : look.threads) {
    const bool sleeps = thread.state == 'S' || thread.state == 'D';
    if (!sleeps || thread.call == look::kNotInACall || thread.stack.empty()) continue;
    const look::SystemCall call = look::system_call(thread.call);
    SeenAsleep sleep;
    sleep.seen = sleep.until = seen;
    sleep.path = &paths_.emplace_back(thread.stack.rbegin(), thread.stack.rend());
    if (call.sort != look::CallSort::sleeps) sleep.call = call.name;
    sleep.open = true;
    by_thread_[thread.tid].push_back(std::move(sleep));
  }
  sort();
}

void Sleepers::sort() {
  for (auto& [tid, sleeps] : by_thread_) {
    std::stable_sort(sleeps.begin(), sleeps.end(),
                     [](const SeenAsleep& a, const SeenAsleep& b) { return a.seen < b.seen; });
  }
}

std::span<const SeenAsleep> Sleepers::of(uint32_t tid) const {
  const auto found = by_thread_.find(tid);
  return found != by_thread_.end() ? std::span<const SeenAsleep>(found->second)
                                   : std::span<const SeenAsleep>();
}

uint64_t Sleepers::length_of(uint32_t tid) const {
  uint64_t all = 0, end = 0;
  for (const SeenAsleep& sleep : of(tid)) {
    if (sleep.until > std::max(sleep.from, end)) all += sleep.until - std::max(sleep.from, end);
    end = std::max(end, sleep.until);
  }
  return all;
}

void Sleepers::add_addresses(std::unordered_set<uint64_t>& to) const {
  for (const std::vector<uint64_t>& path : paths_) to.insert(path.begin(), path.end());
}

/// A record names the thread that the log belongs to, unless it is the first thread.
SleepsBetween::SleepsBetween(const RawLog& log, const trace::RawProcess& process,
                             const Sleepers& all)
    : all_(all) {
  begin(log.thread() == 0 ? process.pid : 0, process.start_ticks);
}

void SleepsBetween::begin(uint32_t tid, uint64_t ticks) {
  sleeps_ = all_.of(tid);
  next_ = 0;
  while (next_ < sleeps_.size() && sleeps_[next_].seen < ticks) ++next_;
  awake_ = ticks;
}

std::vector<PartAsleep> SleepsBetween::take(uint64_t until) {
  std::vector<PartAsleep> found;
  for (; next_ < sleeps_.size() && sleeps_[next_].seen < until; ++next_) {
    const SeenAsleep& sleep = sleeps_[next_];
    const uint64_t begin = std::max(sleep.from, awake_), end = std::min(sleep.until, until);
    if (sleep.seen < awake_ || end <= begin) continue;
    found.push_back({sleep, begin, end});
    awake_ = end;
  }
  return found;
}

std::vector<PartAsleep> SleepsBetween::before(const RawRecord& record) {
  if (sleeps_.empty() && record.kind != RawKind::thread_id) return {};
  std::vector<PartAsleep> found = take(begin_of(record));
  if (record.kind == RawKind::thread_id) {
    begin(static_cast<uint32_t>(record.as<raw::thread_id>().tid), record.ticks);
  }
  awake_ = std::max(awake_, end_of(record));
  return found;
}

std::vector<PartAsleep> SleepsBetween::rest(uint64_t ticks) {
  const bool is_open = !sleeps_.empty() && sleeps_.back().open;
  return take(is_open ? std::max(ticks, sleeps_.back().until + 1) : ticks);
}

}  // namespace culprit::assemble
