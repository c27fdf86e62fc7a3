// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs are made of records in memory, cut somewhere, and the preamble of the rest is read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fold/carry.h"
#include "fold/preamble.h"
#include "trace/raw/records.h"

namespace culprit::fold {
namespace {

namespace raw = trace::raw;
using trace::RawGroup;
using trace::RawHeader;
using trace::RawKind;

struct Record {
  RawHeader header{};
  std::vector<uint64_t> words;

  template <class Kind>
  Kind as() const {
    EXPECT_EQ(header.kind, Kind::kKind);
    return raw::unpack<Kind>(header.arg, header.flags, words.data(), header.words);
  }
};

class Log {
 public:
  template <class Kind>
  Log& put(uint64_t time, const Kind& record) {
    const raw::Packed<Kind> packed(record);
    return put(
        {time, packed.argument, packed.flag_bits, static_cast<uint8_t>(packed.count), Kind::kKind},
        {packed.words, packed.words + packed.count});
  }
  Log& put(const RawHeader& header, const std::vector<uint64_t>& words) {
    ends_.push_back(bytes_.size());
    bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
    bytes_.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  /// Where the n-th record begins.
  size_t at(size_t n) const { return n < ends_.size() ? ends_[n] : bytes_.size(); }
  size_t size() const { return ends_.size(); }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

std::unique_ptr<Carry> carried(const std::string& bytes) {
  auto state = std::make_unique<Carry>();
  carry(*state, bytes.data(), bytes.size());
  return state;
}

constexpr uint64_t kMoment = 1'000'000;

std::string preamble_bytes(const Carry& state, size_t room = kLeastPreambleRoom) {
  std::string all;
  std::vector<uint64_t> buffer(room / sizeof(uint64_t));
  Preamble preamble(state, kMoment);
  while (const size_t bytes = preamble.next(buffer.data(), room)) {
    EXPECT_LE(bytes, room);
    all.append(reinterpret_cast<const char*>(buffer.data()), bytes);
  }
  return all;
}

std::vector<Record> records_in(const std::string& bytes) {
  std::vector<Record> records;
  for (size_t at = 0; at < bytes.size();) {
    Record& record = records.emplace_back();
    std::memcpy(&record.header, bytes.data() + at, sizeof record.header);
    at += sizeof record.header;
    record.words.resize(record.header.words);
    std::copy_n(bytes.data() + at, record.words.size() * sizeof(uint64_t),
                reinterpret_cast<char*>(record.words.data()));
    at += record.words.size() * sizeof(uint64_t);
  }
  return records;
}

std::vector<Record> preamble_of(const Log& log) {
  return records_in(preamble_bytes(*carried(log.bytes())));
}

std::vector<RawKind> kinds_of(const std::vector<Record>& records) {
  std::vector<RawKind> kinds;
  for (const Record& record : records) kinds.push_back(record.header.kind);
  return kinds;
}

using Kinds = std::vector<RawKind>;

TEST(Carry, NothingOpen) {
  Log log;
  log.put(1, raw::mpi_enter{.path = 1, .name = 1}).put(2, raw::mpi_leave{.name = 1});
  EXPECT_EQ(kinds_of(preamble_of(log)), Kinds{RawKind::carried});
  EXPECT_EQ(preamble_of(log).back().header.time, kMoment);
}

TEST(Carry, CallThatHasNotReturned) {
  Log log;
  log.put(5, raw::mpi_enter{.path = 7, .name = 3});
  log.put(5, raw::mpi_send{.comm = 2, .peer = 1, .tag = 9, .bytes = 100});
  const std::vector<Record> found = preamble_of(log);
  ASSERT_EQ(kinds_of(found), (Kinds{RawKind::mpi_enter, RawKind::mpi_sent, RawKind::mpi_send,
                                    RawKind::mpi_sent, RawKind::carried}));
  EXPECT_EQ(found[0].header.time, 5u);
  EXPECT_EQ(found[0].as<raw::mpi_enter>().path, 7u);
  EXPECT_EQ(found[1].as<raw::mpi_sent>().count, 0u);
  EXPECT_EQ(found[3].as<raw::mpi_sent>().count, 1u);
  EXPECT_EQ(found[3].as<raw::mpi_sent>().tag, 9);
}

TEST(Carry, PendingRequestsBearTheirPlaceAmongTheMessages) {
  Log log;
  for (uint64_t i = 0; i < 3; ++i) {
    log.put(10 + i, raw::mpi_enter{.path = 1, .name = 4});
    log.put(10 + i, raw::mpi_isend{.comm = 0, .peer = 2, .tag = 5, .bytes = 8, .request = i + 1});
    log.put(11 + i, raw::mpi_leave{.name = 4});
  }
  log.put(20, raw::mpi_isend_done{.request = 2});
  const std::vector<Record> found = preamble_of(log);
  const RawKind call[] = {RawKind::mpi_enter, RawKind::mpi_sent, RawKind::mpi_isend,
                          RawKind::mpi_leave};
  ASSERT_EQ(found.size(), 10u);
  EXPECT_TRUE(std::equal(call, call + 4, kinds_of(found).begin()));
  EXPECT_EQ(found[1].as<raw::mpi_sent>().count, 0u);
  EXPECT_EQ(found[5].as<raw::mpi_sent>().count, 2u);
  EXPECT_EQ(found[6].as<raw::mpi_isend>().request, 3u);
  EXPECT_EQ(found[8].as<raw::mpi_sent>().count, 3u);
}

TEST(Carry, ReceivesThatWereOvertaken) {
  Log log;
  log.put(10, raw::mpi_irecv_post{.comm = 0, .request = 1, .source = 2, .tag = 5});
  log.put(20, raw::mpi_irecv_post{.comm = 0, .request = 2, .source = 2, .tag = 5});
  log.put(30, raw::mpi_irecv{.comm = 0, .peer = 2, .tag = 5, .bytes = 8, .request = 2});
  const std::vector<Record> found = preamble_of(log);
  ASSERT_EQ(kinds_of(found),
            (Kinds{RawKind::mpi_irecv_post, RawKind::mpi_received, RawKind::carried}));
  EXPECT_EQ(found[1].as<raw::mpi_received>().count, 1u);
  EXPECT_EQ(found[1].as<raw::mpi_received>().posted, 20u);
}

TEST(Carry, FreedCommunicatorsAreForgotten) {
  Log log;
  for (uint32_t comm = 2; comm < 10'000; ++comm) {
    log.put(comm, raw::mpi_collective{.comm = comm});
    log.put(comm, raw::mpi_comm_free{.comm = comm});
  }
  EXPECT_EQ(kinds_of(preamble_of(log)), Kinds{RawKind::carried});
  EXPECT_EQ(preamble_of(log).back().as<raw::carried>().counts, 0u);
}

TEST(Carry, WorkerThatHasNotLeftItsBarrier) {
  Log log;
  log.put(1, raw::omp_implicit_begin{.region = 3, .team_size = 4, .index = 2});
  log.put(2, raw::omp_sync_begin{.kind = 1}).put(2, raw::omp_wait_begin{.kind = 1});
  log.put(3, raw::omp_wait_end{.kind = 1}).put(3, raw::omp_sync_end{.kind = 1});
  log.put(4, raw::omp_work_begin{.kind = 1});
  log.put(5, raw::omp_sync_begin{.kind = 2}).put(5, raw::omp_wait_begin{.kind = 2});
  const std::vector<Record> found = preamble_of(log);
  ASSERT_EQ(kinds_of(found),
            (Kinds{RawKind::omp_implicit_begin, RawKind::omp_barriers, RawKind::omp_sync_begin,
                   RawKind::omp_wait_begin, RawKind::carried}));
  EXPECT_EQ(found[1].as<raw::omp_barriers>().count, 1u);
  // It joins its next team without having said that it left.
  log.put(9, raw::omp_implicit_begin{.region = 4, .team_size = 2, .index = 1});
  EXPECT_EQ(kinds_of(preamble_of(log)),
            (Kinds{RawKind::omp_implicit_begin, RawKind::omp_barriers, RawKind::carried}));
}

TEST(Carry, TeamOfOneNotedInItsFork) {
  Log log;
  log.put(1, raw::omp_parallel_begin{.path = 1, .region = 3, .lone_task = 4});
  EXPECT_EQ(kinds_of(preamble_of(log)),
            (Kinds{RawKind::omp_parallel_begin, RawKind::omp_implicit_begin, RawKind::omp_barriers,
                   RawKind::carried}));
  EXPECT_EQ(preamble_of(log)[1].header.time, 5u);
  log.put(9, raw::omp_implicit_end{.region = 3}).put(9, raw::omp_parallel_end{.region = 3});
  EXPECT_EQ(kinds_of(preamble_of(log)), Kinds{RawKind::carried});
}

TEST(Carry, LocksHeldAndWanted) {
  Log log;
  log.put(1, raw::omp_mutex_acquire{.kind = 5, .mutex = 8});
  log.put(2, raw::omp_mutex_acquired{.kind = 5, .mutex = 8});
  log.put(3, raw::omp_mutex_acquire{.kind = 2, .mutex = 9});   // a test that fails
  log.put(4, raw::omp_mutex_acquire{.kind = 1, .mutex = 10});  // and a wait
  EXPECT_EQ(kinds_of(preamble_of(log)),
            (Kinds{RawKind::omp_mutex_acquire, RawKind::omp_mutex_acquired,
                   RawKind::omp_mutex_acquire, RawKind::carried}));
  log.put(5, raw::omp_mutex_acquired{.kind = 1, .mutex = 10});
  log.put(6, raw::omp_mutex_released{.kind = 1, .mutex = 10});
  log.put(6, raw::omp_mutex_released{.kind = 5, .mutex = 8});
  EXPECT_EQ(kinds_of(preamble_of(log)), Kinds{RawKind::carried});
}

TEST(Carry, TasksInsideEachOther) {
  Log log;
  log.put(1, raw::omp_implicit_begin{.region = 3, .team_size = 2});
  log.put(2, raw::omp_task_switch{.status = 7, .task = 11, .left = 0});
  log.put(3, raw::omp_sync_begin{.kind = 5});
  log.put(4, raw::omp_task_switch{.status = 7, .task = 12, .left = 11});
  EXPECT_EQ(kinds_of(preamble_of(log)),
            (Kinds{RawKind::omp_implicit_begin, RawKind::omp_barriers, RawKind::omp_task_switch,
                   RawKind::omp_sync_begin, RawKind::omp_task_switch, RawKind::carried}));
  log.put(5, raw::omp_task_switch{.status = 1, .task = 11, .left = 12});
  log.put(6, raw::omp_sync_end{.kind = 5});
  log.put(7, raw::omp_task_switch{.status = 1, .task = 0, .left = 11});
  EXPECT_EQ(kinds_of(preamble_of(log)),
            (Kinds{RawKind::omp_implicit_begin, RawKind::omp_barriers, RawKind::carried}));
}

TEST(Carry, CountsWhatFindsNoRoom) {
  Log log;
  for (uint64_t i = 1; i <= kMostHeld + 7; ++i) {
    log.put(i, raw::mpi_irecv_post{.comm = 0, .request = i, .source = 1, .tag = 1});
  }
  for (uint32_t i = 0; i < kMostOpen + 3; ++i)
    log.put(i, raw::func_enter{.frame = 9999 - i, .function = i});
  for (uint32_t i = 0; i < kMostCounts; ++i) log.put(i, raw::mpi_collective{.comm = i});
  const std::vector<Record> found = preamble_of(log);
  const auto end = found.back().as<raw::carried>();
  EXPECT_EQ(end.constructs, 3u);
  EXPECT_EQ(end.held, 7u);
  EXPECT_EQ(end.counts, kMostCounts / 4);
  EXPECT_EQ(found.front().as<raw::mpi_irecv_post>().request, 8u);
}

/// A log of any records, in which numbers are small, so that they often agree.
Log random_log(std::mt19937& random, size_t records) {
  std::vector<RawKind> kinds;
  for (unsigned kind = 0; kind < 256; ++kind) {
    const RawGroup group = trace::facts_of(static_cast<RawKind>(kind)).group;
    if (group == RawGroup::unknown || group == RawGroup::structure) continue;
    kinds.push_back(static_cast<RawKind>(kind));
  }
  Log log;
  for (size_t i = 0; i < records; ++i) {
    const RawKind kind = kinds[random() % kinds.size()];
    const unsigned count = trace::facts_of(kind).words + static_cast<unsigned>(random() % 3);
    std::vector<uint64_t> words;
    for (unsigned w = 0; w < count; ++w) words.push_back(random() % 4);
    log.put({i + 1, static_cast<uint32_t>(random() % 4), static_cast<uint16_t>(random() % 8),
             static_cast<uint8_t>(count), kind},
            words);
  }
  return log;
}

/// What a program may do: constructs inside each other, and requests that outlive their calls.
class Program {
 public:
  explicit Program(std::mt19937& random) : random_(random) {}

  Log run(size_t steps) {
    for (size_t i = 0; i < steps; ++i) step();
    return std::move(log_);
  }

 private:
  enum class Inside { region, function, team, barrier, taskwait, task, loop };

  void step() {
    ++time_;
    switch (random_() % 4) {
      case 0:
        return begin();
      case 1:
        if (!inside_.empty()) end();
        return;
      case 2:
        return call();
      default:
        return lock();
    }
  }

  void begin() {
    const auto what = static_cast<Inside>(random_() % 7);
    const uint64_t n = ++number_;
    switch (what) {
      case Inside::region:
        log_.put(time_, raw::user_enter{.path = 1, .name = 2, .iteration = n});
        break;
      case Inside::function:
        log_.put(time_, raw::func_enter{.frame = 1'000'000 - static_cast<uint32_t>(inside_.size()),
                                        .function = n});
        break;
      case Inside::team:
        log_.put(time_, raw::omp_parallel_begin{.path = 1, .region = n});
        log_.put(time_, raw::omp_implicit_begin{.region = n, .team_size = 2});
        break;
      case Inside::barrier:
        if (inside_.empty() || inside_.back().what == Inside::loop) return;
        log_.put(time_, raw::omp_sync_begin{.kind = 1});
        log_.put(time_, raw::omp_wait_begin{.kind = 1});
        break;
      case Inside::taskwait:
        log_.put(time_, raw::omp_sync_begin{.kind = 5});
        break;
      case Inside::task:
        log_.put(time_, raw::omp_task_switch{.status = 7, .task = n, .left = task()});
        break;
      case Inside::loop:
        if (!inside_.empty() && inside_.back().what == Inside::loop) return;
        log_.put(time_, raw::omp_work_begin{.kind = 10});
    }
    inside_.push_back({what, n});
  }

  uint64_t task() const {
    for (auto at = inside_.rbegin(); at != inside_.rend(); ++at) {
      if (at->what == Inside::task) return at->number;
      if (at->what == Inside::team) break;
    }
    return 0;
  }

  void end() {
    const auto [what, n] = inside_.back();
    inside_.pop_back();
    switch (what) {
      case Inside::region:
        log_.put(time_, raw::user_leave{.name = 2});
        return;
      case Inside::function:
        log_.put(time_, raw::func_leave{.function = n});
        return;
      case Inside::team:
        log_.put(time_, raw::omp_implicit_end{.region = n});
        log_.put(time_, raw::omp_parallel_end{.region = n});
        return;
      case Inside::barrier:
        log_.put(time_, raw::omp_wait_end{.kind = 1}).put(time_, raw::omp_sync_end{.kind = 1});
        return;
      case Inside::taskwait:
        log_.put(time_, raw::omp_sync_end{.kind = 5});
        return;
      case Inside::task:
        log_.put(time_, raw::omp_task_switch{.status = 1, .task = task(), .left = n});
        return;
      case Inside::loop:
        log_.put(time_, raw::omp_work_end{.kind = 10});
    }
  }

  void call() {
    const uint32_t comm = static_cast<uint32_t>(random_() % 3);
    const int32_t peer = static_cast<int32_t>(random_() % 3);
    log_.put(time_, raw::mpi_enter{.path = 1, .name = 1});
    switch (random_() % 6) {
      case 0:
        log_.put(time_, raw::mpi_send{.comm = comm, .peer = peer, .tag = 1, .bytes = 8});
        break;
      case 1:
        log_.put(time_, raw::mpi_recv{.comm = comm, .peer = peer, .tag = 1, .bytes = 8});
        break;
      case 2:
        pending_.push_back(++number_);
        log_.put(time_, raw::mpi_isend{
                            .comm = comm, .peer = peer, .tag = 1, .bytes = 8, .request = number_});
        break;
      case 3:
        pending_.push_back(++number_);
        log_.put(time_, raw::mpi_icoll_post{.comm = comm, .request = number_});
        break;
      case 4:
        log_.put(time_, raw::mpi_collective{.comm = comm});
        break;
      default:
        if (pending_.empty()) break;
        std::swap(pending_[random_() % pending_.size()], pending_.back());
        log_.put(time_, raw::mpi_isend_done{.request = pending_.back()});
        pending_.pop_back();
    }
    log_.put(++time_, raw::mpi_leave{.name = 1});
  }

  void lock() {
    const uint64_t mutex = random_() % 5;
    if (locked_[mutex]) {
      log_.put(time_, raw::omp_mutex_released{.kind = 1, .mutex = mutex});
    } else {
      log_.put(time_, raw::omp_mutex_acquire{.kind = 1, .mutex = mutex});
      log_.put(time_, raw::omp_mutex_acquired{.kind = 1, .mutex = mutex});
    }
    locked_[mutex] = !locked_[mutex];
  }

  struct At {
    Inside what;
    uint64_t number;
  };
  std::mt19937& random_;
  Log log_;
  uint64_t time_ = 0, number_ = 0;
  std::vector<At> inside_;
  std::vector<uint64_t> pending_;
  bool locked_[5] = {};
};

/// The order of counts depends on how they came about, and means nothing.
std::vector<std::string> told_by(const std::string& preamble) {
  std::vector<std::string> told, counts;
  for (const Record& record : records_in(preamble)) {
    std::string text = std::string(trace::facts_of(record.header.kind).name) + ' ' +
                       std::to_string(record.header.time) + ' ' +
                       std::to_string(record.header.arg) + ' ' +
                       std::to_string(record.header.flags);
    for (const uint64_t word : record.words) text += ' ' + std::to_string(word);
    (record.header.time == kMoment ? counts : told).push_back(std::move(text));
  }
  std::sort(counts.begin(), counts.end());
  told.insert(told.end(), counts.begin(), counts.end());
  return told;
}

/// Where two preambles do not say the same; empty: nowhere.
std::string difference(const std::string& a, const std::string& b) {
  const std::vector<std::string> in_a = told_by(a), in_b = told_by(b);
  for (size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i) {
    const std::string one = i < in_a.size() ? in_a[i] : "nothing";
    const std::string other = i < in_b.size() ? in_b[i] : "nothing";
    if (one != other) return one + " / " + other;
  }
  return "";
}

TEST(Carry, PreambleSaysTheState) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Log log = Program(random).run(1 + random() % 400);
    const size_t cut = random() % (log.size() + 1);
    const auto state = carried(log.bytes().substr(0, log.at(cut)));
    const std::string told = preamble_bytes(*state);
    const auto again = carried(told);
    ASSERT_EQ(difference(preamble_bytes(*again), told), "") << "round " << round;
    // And the rest of the log is understood alike.
    const std::string rest = log.bytes().substr(log.at(cut));
    carry(*state, rest.data(), rest.size());
    carry(*again, rest.data(), rest.size());
    ASSERT_EQ(difference(preamble_bytes(*again), preamble_bytes(*state)), "") << "round " << round;
  }
}

TEST(Carry, AnyRecordsInAnyRoom) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const auto state = carried(random_log(random, 2000).bytes());
    EXPECT_EQ(preamble_bytes(*state), preamble_bytes(*state, 1 << 20));
  }
}

TEST(Carry, SameStateWhereverWindowsEnd) {
  std::mt19937 random(2);
  const Log log = random_log(random, 5000);
  const auto whole = carried(log.bytes());
  for (int round = 0; round < 20; ++round) {
    const auto pieces = std::make_unique<Carry>();
    for (size_t from = 0, to = 0; from < log.size(); from = to) {
      to = std::min(log.size(), from + 1 + random() % 300);
      carry(*pieces, log.bytes().data() + log.at(from), log.at(to) - log.at(from));
    }
    EXPECT_EQ(std::memcmp(pieces.get(), whole.get(), sizeof(Carry)), 0);
  }
}

}  // namespace
}  // namespace culprit::fold
