// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First each log is read. Then what all of the process's threads have posted is put in order:
// requests may be completed by another thread than the one that posted them, and a receive takes
// its place when it is posted, whenever it is over.
#include "assemble/bursts/message_edges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace culprit::assemble {
namespace {

using trace::RawKind;
using trace::RawMatching;

constexpr uint64_t kUnknown = ~uint64_t{0};

/// A count that preambles say, over all threads.
struct Before {
  uint64_t count = 0;
  uint64_t posted = 0;  ///< of receives that are over, the latest
  unsigned logs = 0;    ///< that have said it
  bool known = true;
};

struct Posted {
  uint64_t time;
  size_t log;
  bool repeated;                   ///< it stands in the preamble
  std::optional<uint64_t> number;  ///< that the preamble says
  CountedEnd end;
};

struct PostedReceive {
  uint64_t time = 0;
  size_t log = 0;
  bool repeated = false, is_posted = false, is_over = false, cancelled = false;
  LocalChannel asked;  ///< peer and tag may be any
  LocalChannel channel;
  std::vector<LogRecord> records;
};

template <class Message>
LocalChannel channel_of(const Message& message) {
  LocalChannel channel{message.comm, message.peer, message.tag, 0};
  if constexpr (requires { message.matching; }) {
    if (message.matching == RawMatching::partitioned) channel.pair = message.number;
  }
  return channel;
}

/// Adds one log's counts to those of all.
template <class Counts>
void add(const Counts& of_log, Counts& all) {
  for (const auto& [key, before] : of_log) {
    Before& sum = all[key];
    sum.known = sum.known && before.known;
    sum.count += before.count;
    sum.posted = std::max(sum.posted, before.posted);
    ++sum.logs;
  }
}

template <class Counts, class Key>
void say(Counts& counts, const Key& key, uint64_t count, uint64_t posted = 0) {
  Before& before = counts[key];
  before.known = count != kUnknown;
  before.count = count;
  before.posted = posted;
}

/// A receive that is over.
struct Done {
  LocalChannel channel;
  LogRecord record;
  uint64_t probe;  ///< number of the matched probe; 0: none
};

/// Collects what the logs of a process say.
class Reader {
 public:
  void read(const RawLog& log, size_t place, bool has_preamble) {
    log_ = place;
    in_preamble_ = has_preamble;
    next_sent_.clear();
    next_operation_.clear();
    call_ = 0;
    std::map<LocalChannel, Before> sent, received;
    std::map<uint32_t, Before> begun;
    auto cursor = log.cursor();
    for (RawRecord record; cursor.next(record);) {
      if (!record.noted) see(record, sent, received, begun);
    }
    add(sent, sent_before);
    add(received, received_before);
    add(begun, operations_before);
  }

  std::map<LocalChannel, Before> sent_before, received_before;
  std::map<uint32_t, Before> operations_before;
  std::map<LocalChannel, std::vector<Posted>> sends;
  std::map<uint32_t, std::vector<Posted>> operations;
  std::vector<PostedReceive> receives;
  bool lost_counts = false, lost_requests = false;

  /// Receives that were posted by one thread and are over in another.
  void settle() {
    for (const auto& [request, done] : done_) {
      const auto posted = by_request_.find(request);
      PostedReceive& receive =
          posted != by_request_.end() ? receives[posted->second] : receives.emplace_back();
      receive.is_over = true;
      receive.channel = done.channel;
      receive.records.push_back(done.record);
      const auto probe = probes_.find(done.probe);
      if (done.probe != 0 && probe != probes_.end()) receive.time = probe->second;
    }
    for (const uint64_t request : cancelled_) {
      const auto posted = by_request_.find(request);
      if (posted != by_request_.end()) receives[posted->second].cancelled = true;
    }
    for (auto& [comm, all] : operations) {
      for (Posted& posted : all) settle_operation(posted);
    }
  }

 private:
  LogRecord here(const RawRecord& record) const { return {log_, record}; }

  void see(const RawRecord& record, std::map<LocalChannel, Before>& sent,
           std::map<LocalChannel, Before>& received, std::map<uint32_t, Before>& begun) {
    switch (record.kind) {
      case RawKind::mpi_sent: {
        const auto told = record.as<raw::mpi_sent>();
        const LocalChannel channel{told.comm, told.peer, told.tag, told.number};
        next_sent_[channel] = told.count;
        return say(sent, channel, told.count);
      }
      case RawKind::mpi_received: {
        const auto told = record.as<raw::mpi_received>();
        return say(received, LocalChannel{told.comm, told.peer, told.tag, told.number}, told.count,
                   told.posted);
      }
      case RawKind::mpi_operations: {
        const auto told = record.as<raw::mpi_operations>();
        next_operation_[told.comm] = told.count;
        return say(begun, told.comm, told.count);
      }
      case RawKind::carried: {
        const auto told = record.as<raw::carried>();
        lost_counts = lost_counts || told.counts > 0;
        lost_requests = lost_requests || told.held > 0;
        in_preamble_ = false;
        return;
      }
      default:
        return see_act(record);
    }
  }

  void see_act(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::mpi_enter:
        call_ = record.ticks;
        return;
      case RawKind::mpi_send:
        return add_send(record, channel_of(record.as<raw::mpi_send>()));
      case RawKind::mpi_isend:
        return add_send(record, channel_of(record.as<raw::mpi_isend>()));
      case RawKind::mpi_recv: {
        const auto message = record.as<raw::mpi_recv>();
        PostedReceive receive = new_receive(call_, channel_of(message));
        receive.is_over = true;
        receive.channel = receive.asked;
        receive.records = {here(record)};
        if (message.matching == RawMatching::probed) {
          const auto probe = probes_.find(message.number);
          if (probe != probes_.end()) receive.time = probe->second;
        }
        receives.push_back(std::move(receive));
        return;
      }
      case RawKind::mpi_irecv_post: {
        const auto post = record.as<raw::mpi_irecv_post>();
        by_request_[post.request] = receives.size();
        PostedReceive receive = new_receive(record.ticks, {post.comm, post.source, post.tag, 0});
        receive.records = {here(record)};
        receives.push_back(std::move(receive));
        return;
      }
      case RawKind::mpi_irecv: {
        const auto message = record.as<raw::mpi_irecv>();
        const bool probed = message.matching == RawMatching::probed;
        done_[message.request] = {channel_of(message), here(record), probed ? message.number : 0};
        return;
      }
      case RawKind::mpi_cancelled:
        cancelled_.push_back(record.w[0]);
        return;
      case RawKind::mpi_probe:
        if (const auto probe = record.as<raw::mpi_probe>(); probe.number != 0) {
          probes_[probe.number] = record.ticks;
        }
        return;
      default:
        return see_operation(record);
    }
  }

  PostedReceive new_receive(uint64_t time, const LocalChannel& asked) const {
    PostedReceive receive;
    receive.time = time;
    receive.log = log_;
    receive.repeated = in_preamble_;
    receive.is_posted = true;
    receive.asked = asked;
    return receive;
  }

  void see_operation(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::mpi_collective:
        return add_operation(record.arg, call_, record);
      case RawKind::mpi_icoll_post:
        return add_operation(record.arg, record.ticks, record);
      case RawKind::mpi_icoll:
        operations_done_.insert_or_assign(record.as<raw::mpi_icoll>().request, here(record));
        return;
      default:
        return;
    }
  }

  template <class Key>
  std::optional<uint64_t> number_in_preamble(std::map<Key, uint64_t>& next, const Key& key) const {
    const auto told = next.find(key);
    if (!in_preamble_ || told == next.end() || told->second == kUnknown) return std::nullopt;
    return told->second++;
  }

  void add_send(const RawRecord& record, const LocalChannel& channel) {
    sends[channel].push_back({record.ticks,
                              log_,
                              in_preamble_,
                              number_in_preamble(next_sent_, channel),
                              {{}, {here(record)}}});
  }

  void add_operation(uint32_t comm, uint64_t time, const RawRecord& record) {
    operations[comm].push_back({time,
                                log_,
                                in_preamble_,
                                number_in_preamble(next_operation_, comm),
                                {{}, {here(record)}}});
  }

  /// A non-blocking operation is there only if it came to its end.
  void settle_operation(Posted& posted) {
    const RawRecord& record = posted.end.records.front().record;
    if (record.kind != RawKind::mpi_icoll_post) return;
    const auto done = operations_done_.find(record.as<raw::mpi_icoll_post>().request);
    if (done != operations_done_.end()) posted.end.records.push_back(done->second);
  }

  size_t log_ = 0;
  bool in_preamble_ = true;
  uint64_t call_ = 0;  ///< when the call at hand began
  std::map<LocalChannel, uint64_t> next_sent_;
  std::map<uint32_t, uint64_t> next_operation_;
  std::unordered_map<uint64_t, size_t> by_request_;  ///< in `receives`
  std::map<uint64_t, Done> done_;                    ///< by request
  std::map<uint64_t, LogRecord> operations_done_;    ///< likewise
  std::vector<uint64_t> cancelled_;
  std::unordered_map<uint64_t, uint64_t> probes_;  ///< when, by number
};

bool is_complete(const Posted& posted) {
  const std::vector<LogRecord>& records = posted.end.records;
  return records.size() > 1 || records.front().record.kind != RawKind::mpi_icoll_post;
}

/// Gives numbers to what was posted on one channel, or in one communicator.
std::vector<CountedEnd> number(std::vector<Posted>& all, const Before& before, bool known) {
  std::stable_sort(all.begin(), all.end(), [](const Posted& a, const Posted& b) {
    return std::tie(a.time, a.log) < std::tie(b.time, b.log);
  });
  uint64_t next = before.count;
  std::vector<CountedEnd> ends;
  for (Posted& posted : all) {
    // Where several threads have counted, a thread's own number is not the process's.
    std::optional<uint64_t> mine = before.logs < 2 ? posted.number : std::nullopt;
    if (!posted.repeated) mine = next++;
    if (known && before.known && is_complete(posted)) posted.end.number = mine;
    ends.push_back(std::move(posted.end));
  }
  return ends;
}

/// Whether a receive may get messages of this channel.
bool may_get(const LocalChannel& asked, const LocalChannel& channel) {
  const auto agree = [](int32_t wanted, int32_t found) {
    return wanted == trace::kRawAny || wanted == found;
  };
  return asked.comm == channel.comm && agree(asked.peer, channel.peer) &&
         agree(asked.tag, channel.tag);
}

/// Receives in the order in which they were posted. One that is not over keeps its place, but it is
/// not known which that is: those posted after it on its channel have no number either.
void number_receives(Reader& read, bool known, ProcessEnds& found) {
  std::vector<PostedReceive>& all = read.receives;
  std::stable_sort(all.begin(), all.end(), [](const PostedReceive& a, const PostedReceive& b) {
    return std::tie(a.time, a.log) < std::tie(b.time, b.log);
  });
  std::map<LocalChannel, uint64_t> next;
  std::map<LocalChannel, bool> unsure;
  for (const PostedReceive& receive : all) {
    if (receive.is_over && !receive.is_posted) unsure[receive.channel] = true;
  }
  std::vector<LocalChannel> unfinished;
  for (PostedReceive& receive : all) {
    if (receive.cancelled) continue;
    if (!receive.is_over) {
      unfinished.push_back(receive.asked);
      continue;
    }
    const Before& before = read.received_before[receive.channel];
    const uint64_t place = next.try_emplace(receive.channel, before.count).first->second++;
    CountedEnd end{std::nullopt, std::move(receive.records)};
    const bool overtaken = receive.repeated && receive.time <= before.posted;
    const bool after_unfinished =
        std::any_of(unfinished.begin(), unfinished.end(),
                    [&](const LocalChannel& asked) { return may_get(asked, receive.channel); });
    const bool is_sure = known && before.known && !unsure.contains(receive.channel);
    if (is_sure && !overtaken && !after_unfinished) end.number = place;
    found.receives[receive.channel].push_back(std::move(end));
  }
}

}  // namespace

ProcessEnds find_ends(const std::vector<RawLog>& logs, bool begins_inside, bool known) {
  Reader read;
  for (size_t i = 0; i < logs.size(); ++i) read.read(logs[i], i, begins_inside);
  read.settle();
  ProcessEnds found;
  const auto count_of = [&](auto& counts, const auto& key) {
    Before& before = counts[key];
    before.known = before.known && (before.logs > 0 || !read.lost_counts);
    return before;
  };
  for (auto& [channel, posted] : read.sends) {
    found.sends[channel] = number(posted, count_of(read.sent_before, channel), known);
  }
  for (auto& [comm, posted] : read.operations) {
    found.operations[comm] = number(posted, count_of(read.operations_before, comm), known);
  }
  for (const PostedReceive& receive : read.receives) {
    if (receive.is_over) count_of(read.received_before, receive.channel);
  }
  number_receives(read, known && !read.lost_requests, found);
  return found;
}

}  // namespace culprit::assemble
