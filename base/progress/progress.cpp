// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See progress.h. A step that is made when the line is old enough writes it anew: there is no
// thread for this, and a step costs two atomic operations where no progress is shown.

#include "base/progress/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace culprit::progress {
namespace {

constexpr int64_t kFirst = 500'000'000;  ///< nanoseconds of a stage before its line is shown
constexpr int64_t kNext = 100'000'000;

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

struct Terminal {
  std::atomic<int> file{-1};
  std::atomic<bool> busy{false};    ///< a stage goes on
  std::atomic<int64_t> next_ns{0};  ///< not before
  std::mutex writing;
  size_t columns = 80;
  bool visible = false;

  /// With `writing` held. A terminal that takes nothing is no reason to stop.
  void write(std::string_view text) {
    if (::write(file, text.data(), text.size()) < 0) file = -1;
  }
  void clear() {
    if (visible) write("\r\033[K");
    visible = false;
  }
};

Terminal& terminal() {
  static Terminal it;
  return it;
}

}  // namespace

void show(int file, size_t columns) {
  const std::lock_guard lock(terminal().writing);
  terminal().columns = columns;
  terminal().file = file;
}

void clear() {
  if (terminal().file < 0) return;
  const std::lock_guard lock(terminal().writing);
  terminal().clear();
}

std::string line(Stage stage, double share, double elapsed_s) {
  const std::string_view words = kStageWords[static_cast<size_t>(stage)];
  std::string text = fmt::format("culprit: {} {:.0f} %", words, 100 * share);
  if (share <= 0) return text;
  const double left_s = elapsed_s * (1 - share) / share;
  if (left_s < 0.95) return text;
  if (left_s < 90) return text + fmt::format(", about {:.0f} s left", left_s);
  return text + fmt::format(", about {:.0f} min left", left_s / 60);
}

Progress::Progress(Stage stage, size_t steps)
    : stage_(stage),
      steps_(std::max<size_t>(steps, 1)),
      begin_ns_(now()),
      told_(terminal().file >= 0 && !terminal().busy.exchange(true)) {
  if (told_) terminal().next_ns = begin_ns_ + kFirst;
}

Progress::~Progress() {
  if (!told_) return;
  clear();
  terminal().busy = false;
}

void Progress::step() {
  if (!told_) return;
  Terminal& here = terminal();
  const size_t done = ++done_;
  const int64_t time = now();
  int64_t due = here.next_ns;
  if (time < due || !here.next_ns.compare_exchange_strong(due, time + kNext)) return;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(steps_));
  std::string text = line(stage_, share, static_cast<double>(time - begin_ns_) * 1e-9);
  const std::lock_guard lock(here.writing);
  if (here.file < 0) return;
  text.resize(std::min(text.size(), here.columns - std::min<size_t>(here.columns, 1)));
  here.visible = true;
  here.write("\r\033[K" + text);
}

}  // namespace culprit::progress
