// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A line is a record: its kind, whom it is about (cpu:application:task:thread), then what that did.
//   1: a state         begin:end:state
//   2: events          time, then type:value as often as there are some
//   3: a message       begin:end of sending, the same of the receiver, then size:tag
//   c: communicator    application:number:size, then tasks
#include "trace/paraver/records.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "trace/paraver/lines.h"

namespace culprit::trace {
namespace {

/// More is no time of any clock, and sums and differences stay within 64 bits.
constexpr int64_t kFarthest = int64_t{1} << 61;
constexpr size_t kMostTypes = 10'000;  ///< that are skipped and counted one by one

/// Numbers with ':' between them.
class Fields {
 public:
  explicit Fields(std::string_view line) : left_(line) {}

  std::optional<int64_t> next() {
    if (!first_ && !take_colon()) return {};
    first_ = false;
    return take_number(left_);
  }
  /// `count` numbers; false: there are fewer.
  template <size_t count>
  bool take(std::array<int64_t, count>& to) {
    for (int64_t& each : to) {
      const auto number = next();
      if (!number) return false;
      each = *number;
    }
    return true;
  }
  bool done() const { return left_.empty() || left_ == "\r"; }

 private:
  bool take_colon() {
    if (!left_.starts_with(':')) return false;
    left_.remove_prefix(1);
    return true;
  }
  std::string_view left_;
  bool first_ = true;
};

class RecordReader {
 public:
  RecordReader(ParaverRecords& found, uint64_t most)
      : found_(found), most_(most), scale_(found.header.nanoseconds ? 1 : 1000) {}

  /// False: there are too many records.
  bool see(std::string_view line) {
    if (line.size() < 2 || line[0] == '#') return true;
    const std::string_view rest = line.substr(2);
    bool good = line[1] == ':';
    switch (good ? line[0] : '#') {
      case '1':
        good = see_state(Fields(rest));
        break;
      case '2':
        good = see_events(Fields(rest));
        break;
      case '3':
        good = see_message(Fields(rest));
        break;
      case 'c':
        good = see_communicator(Fields(rest));
        break;
      default:
        break;  // records of other versions
    }
    found_.bad_lines += !good;
    return kept_ <= most_;
  }

 private:
  /// None: there is no such thread.
  std::optional<uint32_t> thread_of(int64_t application, int64_t task, int64_t thread) {
    const auto& all = found_.header.applications;
    if (application < 1 || static_cast<uint64_t>(application) > all.size()) return {};
    const auto& tasks = all[static_cast<size_t>(application) - 1];
    if (task < 1 || static_cast<uint64_t>(task) > tasks.size()) return {};
    if (thread < 1 || thread > kMostThreads ||
        static_cast<uint64_t>(thread) > tasks[static_cast<size_t>(task) - 1].threads) {
      return {};
    }
    const uint64_t key = static_cast<uint64_t>(thread) | static_cast<uint64_t>(task) << 20 |
                         static_cast<uint64_t>(application) << 44;
    const auto [place, fresh] =
        places_.try_emplace(key, static_cast<uint32_t>(found_.threads.size()));
    if (fresh) {
      kept_ += 8;
      ParaverThread& made = found_.threads.emplace_back();
      made.application = static_cast<uint32_t>(application);
      made.task = static_cast<uint32_t>(task);
      made.thread = static_cast<uint32_t>(thread);
    }
    return place->second;
  }

  std::optional<int64_t> time_of(int64_t number) const {
    if (number < 0 || number > kFarthest / scale_) return {};
    return number * scale_;
  }

  bool see_state(Fields fields) {
    std::array<int64_t, 7> field{};
    if (!fields.take(field)) return false;
    const auto thread = thread_of(field[1], field[2], field[3]);
    const auto begin = time_of(field[4]), end = time_of(field[5]);
    if (!thread || !begin || !end || *end < *begin) return false;
    constexpr int64_t kNotCreated = 2;
    if (field[6] == kNotCreated) return true;
    ParaverThread& of = found_.threads[*thread];
    of.first = std::min(of.first, *begin);
    of.last = std::max(of.last, *end);
    return true;
  }

  bool see_events(Fields fields) {
    std::array<int64_t, 5> field{};
    if (!fields.take(field)) return false;
    const auto thread = thread_of(field[1], field[2], field[3]);
    const auto time = time_of(field[4]);
    if (!thread || !time) return false;
    ParaverThread& of = found_.threads[*thread];
    while (!fields.done()) {
      const auto type = fields.next();
      const auto value = type ? fields.next() : std::nullopt;
      if (!value || *type < 0) return false;
      add_event(of, *time, static_cast<uint64_t>(*type), static_cast<uint64_t>(*value));
    }
    return true;
  }

  void add_event(ParaverThread& of, int64_t time, uint64_t type, uint64_t value) {
    const EventMeaning meaning = meaning_of_event(type);
    if (meaning == EventMeaning::unknown) {
      const auto known = found_.skipped_types.find(type);
      if (known != found_.skipped_types.end()) ++known->second;
      if (known == found_.skipped_types.end() && found_.skipped_types.size() < kMostTypes) {
        found_.skipped_types.emplace(type, 1);
      }
    } else if (meaning != EventMeaning::ignored) {
      ++kept_;
      of.first = std::min(of.first, time);
      of.last = std::max(of.last, time);
      of.events.push_back({time, value, static_cast<uint32_t>(type), meaning});
    }
  }

  bool see_message(Fields fields) {
    std::array<int64_t, 14> field{};
    if (!fields.take(field)) return false;
    const auto sender = thread_of(field[1], field[2], field[3]);
    const auto receiver = thread_of(field[7], field[8], field[9]);
    const auto sent = time_of(field[4]), posted = time_of(field[10]), received = time_of(field[11]);
    if (!sender || !receiver || !sent || !posted || !received || field[12] < 0) return false;
    if (field[1] != field[7]) return true;  // programs that are coupled by other means than MPI
    ++kept_;
    found_.messages.push_back({*sender, *receiver, static_cast<int32_t>(field[13]), *sent, *posted,
                               *received, static_cast<uint64_t>(field[12])});
    return true;
  }

  bool see_communicator(Fields fields) {
    std::array<int64_t, 3> field{};
    if (!fields.take(field) || field[0] < 1 || field[1] < 0) return false;
    ParaverCommunicator made{static_cast<uint32_t>(field[0]), static_cast<uint64_t>(field[1]), {}};
    while (!fields.done()) {
      const auto task = fields.next();
      if (!task || *task > UINT32_MAX) return false;
      if (*task < 1) return true;  // of a process alone
      made.tasks.push_back(static_cast<uint32_t>(*task));
    }
    kept_ += made.tasks.size();
    found_.communicators.push_back(std::move(made));
    return true;
  }

  static constexpr int64_t kMostThreads = (1 << 20) - 1;  ///< of a task

  ParaverRecords& found_;
  const uint64_t most_;
  const int64_t scale_;
  uint64_t kept_ = 0;
  std::unordered_map<uint64_t, uint32_t> places_;
};

}  // namespace

EventMeaning meaning_of_event(uint64_t type) {
  struct Row {
    uint64_t first, last;
    EventMeaning meaning;
  };
  constexpr Row kRows[] = {
#define EVENT_TYPES(first, last, meaning) {first, last, EventMeaning::meaning},
#include "trace/paraver/event_types.def"
  };
  const Row* const row = std::partition_point(std::begin(kRows), std::end(kRows),
                                              [&](const Row& each) { return each.last < type; });
  return row != std::end(kRows) && row->first <= type ? row->meaning : EventMeaning::unknown;
}

Result<ParaverRecords> read_paraver_records(PackedFile& file, uint64_t most) {
  LineReader lines(file);
  std::string_view line;
  if (!lines.next(line)) return Error{"it is empty"};
  auto header = parse_paraver_header(line);
  if (!header) return Error{"its first line is not that of a Paraver trace"};
  ParaverRecords found;
  found.header = std::move(*header);
  RecordReader reader(found, most);
  while (lines.next(line)) {
    if (!reader.see(line)) return Error{"it holds more events than fit into the free memory"};
  }
  found.cut = lines.is_cut();
  for (ParaverThread& thread : found.threads) {
    std::stable_sort(thread.events.begin(), thread.events.end(),
                     [](const ParaverEvent& a, const ParaverEvent& b) { return a.time < b.time; });
  }
  return found;
}

}  // namespace culprit::trace
