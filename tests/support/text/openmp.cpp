// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Objects and tasks have the numbers that the picture gives them; parts of a task are its runs in
// the order of lines.
#include "tests/support/text/openmp.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "trace/objects.h"

namespace culprit::trace {

namespace {

constexpr std::pair<std::string_view, MutexKind> kMutexes[] = {
    {"lock", MutexKind::lock},       {"critical", MutexKind::critical},
    {"ordered", MutexKind::ordered}, {"atomic", MutexKind::atomic},
    {"other", MutexKind::other},     {"nest_lock", MutexKind::nest_lock},
};

// ompt_task_flag_t
constexpr uint64_t kExplicit = 0x4, kTaskwait = 0x10, kUndeferred = 0x08000000;

std::optional<uint32_t> number_in(std::string_view word) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  return number;
}

/// "7", of a process alone, or "pipe:7", of its node.
std::optional<uint64_t> object_in(std::string_view word) {
  const size_t colon = word.find(':');
  const std::string_view kind = colon == word.npos ? "" : word.substr(0, colon);
  const auto number = number_in(colon == word.npos ? word : word.substr(colon + 1));
  const auto named = std::find(std::begin(kObjectKinds), std::end(kObjectKinds), kind);
  if (!number || named == std::end(kObjectKinds)) return std::nullopt;
  return object_of(static_cast<ObjectKind>(named - std::begin(kObjectKinds)), *number);
}

std::optional<std::vector<uint32_t>> numbers_in(const std::string& list) {
  std::vector<uint32_t> numbers;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    const auto number = number_in(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

bool OpenmpLines::knows(std::string_view word) {
  return word == "await" || word == "begun" || word == "wake" || word == "gone" ||
         word == "mutex" || word == "release" || word == "task";
}

std::string OpenmpLines::usage(std::string_view word) {
  if (word == "await" || word == "begun" || word == "wake") {
    return std::string(word) + " [<kind>:]<number> <lane>@<time>";
  }
  if (word == "gone") return "gone <lane>@<time> [nested]";
  if (word == "mutex") return "mutex <kind> <number> <lane>@<acquired>-<released>";
  if (word == "release") return "release <number> <lane>@<time>";
  return "task <number> create <lane>@<time> [after <numbers>] [undeferred] [taskwait] "
         "[in <data>] [out <data>] [run <lane>@<begin>-<end>]... [done <lane>@<time>]";
}

bool OpenmpLines::take(const std::vector<std::string>& words, const FindPlace& find) {
  if (words[0] == "mutex") return take_mutex(words, find);
  if (words[0] == "release") return take_release(words, find);
  if (words[0] == "await") return take_object(words, Fact::awaited, find);
  if (words[0] == "begun") return take_object(words, Fact::begun, find);
  if (words[0] == "wake") return take_object(words, Fact::woke, find);
  if (words[0] == "gone") return take_end(words, find);
  return take_task(words, find);
}

bool OpenmpLines::take_mutex(const std::vector<std::string>& words, const FindPlace& find) {
  TextPlace place;
  if (words.size() != 4 || !find(words[3], place) || !place.at) return false;
  const auto lock = number_in(words[2]);
  if (!lock) return false;
  for (const auto& [name, kind] : kMutexes) {
    if (name != words[1]) continue;
    add(place, *place.at, TextStep::call_end,
        [kind = kind, lock](EventSink& sink, Time t) { sink.mutex_acquired(t, kind, *lock); });
    if (!place.until) return true;
    add(place, *place.until, TextStep::call_end,
        [kind = kind, lock](EventSink& sink, Time t) { sink.mutex_released(t, kind, *lock); });
    return true;
  }
  return false;
}

bool OpenmpLines::take_release(const std::vector<std::string>& words, const FindPlace& find) {
  TextPlace place;
  if (words.size() != 3 || !find(words[2], place) || !place.at) return false;
  const auto lock = number_in(words[1]);
  if (!lock) return false;
  add(place, *place.at, TextStep::call_end,
      [lock](EventSink& sink, Time t) { sink.mutex_released(t, MutexKind::lock, *lock); });
  return true;
}

bool OpenmpLines::take_object(const std::vector<std::string>& words, Fact what,
                              const FindPlace& find) {
  TextPlace place;
  if (words.size() != 3 || !find(words[2], place) || !place.at) return false;
  const auto object = object_in(words[1]);
  if (!object) return false;
  add(place, *place.at, TextStep::call_end,
      [what, object](EventSink& sink, Time t) { sink.fact(t, what, *object); });
  return true;
}

bool OpenmpLines::take_end(const std::vector<std::string>& words, const FindPlace& find) {
  TextPlace place;
  const bool nested = words.size() == 3 && words[2] == "nested";
  if ((words.size() != 2 && !nested) || !find(words[1], place) || !place.at) return false;
  add(place, *place.at, TextStep::call_end,
      [nested](EventSink& sink, Time t) { sink.fact(t, Fact::ended, nested ? 1 : 0); });
  return true;
}

bool OpenmpLines::take_task(const std::vector<std::string>& words, const FindPlace& find) {
  if (words.size() < 4 || words[2] != "create") return false;
  Task task;
  const auto number = number_in(words[1]);
  if (!number || *number == 0) return false;
  task.number = *number;
  if (!find(words[3], task.created) || !task.created.at) return false;
  task.flags = kExplicit;
  for (size_t i = 4; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "undeferred" || words[i] == "taskwait") {
      task.flags |= words[i] == "taskwait" ? kTaskwait : kUndeferred;
    } else if (words[i] == "after" && more) {
      const auto numbers = numbers_in(words[++i]);
      if (!numbers) return false;
      task.after = *numbers;
    } else if ((words[i] == "in" || words[i] == "out") && more) {
      const auto data = number_in(words[i + 1]);
      if (!data) return false;
      task.data.push_back({words[i++] == "in" ? Fact::depend_in : Fact::depend_out, *data});
    } else if (words[i] == "run" && more) {
      TextPlace run;
      if (!find(words[++i], run) || !run.until) return false;
      task.runs.push_back(run);
    } else if (words[i] == "done" && more) {
      task.done.emplace();
      if (!find(words[++i], *task.done) || !task.done->at) return false;
    } else {
      return false;
    }
  }
  tasks_.push_back(std::move(task));
  return true;
}

/// A number that no line tells of is a task of nobody.
TaskId OpenmpLines::id_of(uint32_t number) const {
  for (const Task& task : tasks_) {
    if (task.number != number) continue;
    return {definitions_.locations[task.created.lane].thread, number};
  }
  return {UINT32_MAX, number};
}

TaskId OpenmpLines::running_around(const TextPlace& run) const {
  TaskId around;
  int64_t shortest = INT64_MAX;
  for (const Task& task : tasks_) {
    for (const TextPlace& other : task.runs) {
      const int64_t length = *other.until - *other.at;
      const bool holds = other.lane == run.lane && *other.at <= *run.at &&
                         *other.until >= *run.until && length > *run.until - *run.at;
      if (!holds || length >= shortest) continue;
      shortest = length;
      around = id_of(task.number);
    }
  }
  return around;
}

void OpenmpLines::add_task(const Task& task) {
  const TaskId id = id_of(task.number);
  add(task.created, *task.created.at, TextStep::call_end,
      [id, flags = task.flags](EventSink& sink, Time t) {
        sink.task_create(t, id);
        sink.fact(t, Fact::task_flags, flags);
      });
  for (const auto& [what, data] : task.data) {
    add(task.created, *task.created.at, TextStep::call_end,
        [what = what, data = data](EventSink& sink, Time t) { sink.fact(t, what, data); });
  }
  for (uint32_t number : task.after) {
    add(task.created, *task.created.at, TextStep::call_end,
        [id, before = id_of(number)](EventSink& sink, Time t) {
          sink.fact(t, Fact::task_successor, id.number());
          sink.fact(t, Fact::task_predecessor, before.number());
        });
  }
  for (size_t i = 0; i < task.runs.size(); ++i) {
    add_run(task, task.runs[i], i + 1 == task.runs.size() && !task.done);
  }
  if (task.done) {
    add(*task.done, *task.done->at, TextStep::call_end,
        [id](EventSink& sink, Time t) { sink.task_complete(t, id); });
  }
}

void OpenmpLines::add_run(const Task& task, const TextPlace& run, bool last) {
  const TaskId id = id_of(task.number);
  add(run, *run.at, TextStep::task_begin,
      [id](EventSink& sink, Time t) { sink.task_switch(t, id); });
  add(run, *run.until, TextStep::task_end,
      [id, last, around = running_around(run)](EventSink& sink, Time t) {
        if (last) sink.task_complete(t, id);
        sink.task_switch(t, around);
      });
}

std::vector<TextEvent> OpenmpLines::finish() {
  for (const Task& task : tasks_) add_task(task);
  return std::move(events_);
}

}  // namespace culprit::trace
