// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit top: a running program's findings, refreshed. They are read by a thread of their own, so
// that keys are answered meanwhile; it takes one core, at a low priority, and no more than a part
// of the time: the program comes first.

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "assemble/assemble.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "cli/top/metrics.h"
#include "cli/top/now.h"
#include "cli/top/screen.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Arguments {
  fs::path experiment;
  double every_s = 2;
  unsigned threads = 1;
  bool profile = false;
  fs::path metrics;
};

double own_cpu_s() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Looks take at most a fifth of a core.
Seconds pause_behind(const Arguments& arguments, double cpu_s) {
  constexpr double kRarerThanItsCost = 4;
  return Seconds(std::max(arguments.every_s, kRarerThanItsCost * cpu_s));
}

/// The end of a run that was seen is noticed at once.
void sleep_through(Seconds pause, const Arguments& arguments, bool seen,
                   const std::atomic<bool>& paused) {
  constexpr Seconds kNap(0.2);
  const auto due = Clock::now() + pause;
  const auto goes_on = [&] { return !seen || assemble::still_runs(arguments.experiment); };
  while (paused || (Clock::now() < due && goes_on())) std::this_thread::sleep_for(kNap);
}

/// Looks, and brings the file of metrics up to date.
Result<Now> look(const Arguments& arguments) {
  auto now = look_now(arguments.experiment, arguments.threads,
                      arguments.profile ? Basis::profile : Basis::whichever);
  if (!now || arguments.metrics.empty()) return now;
  if (auto written = write_metrics(now.value(), arguments.experiment, arguments.metrics);
      !written) {
    return written.error();
  }
  return now;
}

/// Looks again and again until the program has ended.
class Reader {
 public:
  explicit Reader(const Arguments& arguments)
      : arguments_(arguments), ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread_ = std::thread([this] { work(); });
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  /// A look may take long and cannot be cut short: it ends with the process.
  ~Reader() { thread_.detach(); }

  /// Becomes readable when there is something to take.
  int ready() const { return ready_; }
  std::optional<Result<Now>> take() {
    uint64_t count = 0;
    if (read(ready_, &count, sizeof count) < 0) return std::nullopt;
    const std::lock_guard guard(mutex_);
    return std::exchange(newest_, std::nullopt);
  }
  void pause(bool paused) { paused_.store(paused); }

 private:
  void work() {
    constexpr int kNice = 10;  // a tenth of a core on a full machine; with less, pages get old
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
    for (bool over = false; !over;) {
      const double before_s = own_cpu_s();
      auto now = look(arguments_);
      const Seconds pause = pause_behind(arguments_, own_cpu_s() - before_s);
      const bool seen = now.ok();
      over = seen && !now.value().runs;
      {
        const std::lock_guard guard(mutex_);
        newest_.emplace(std::move(now));
      }
      const uint64_t one = 1;
      static_cast<void>(!write(ready_, &one, sizeof one));
      if (!over) sleep_through(pause, arguments_, seen, paused_);
    }
  }

  const Arguments arguments_;
  int ready_;
  std::mutex mutex_;
  std::optional<Result<Now>> newest_;
  std::atomic<bool> paused_{false};
  std::thread thread_;
};

void take_news(Reader& reader, TopView& view) {
  auto news = reader.take();
  if (!news) return;
  if (news->ok()) {
    view.set(std::move(news->value()));
  } else {
    view.set_problem(news->error().sentence);
  }
}

int on_terminal(const Arguments& arguments) {
  constexpr int kAges_ms = 500;                // the page says how old its data is
  auto* const reader = new Reader(arguments);  // as long as the process: see its destructor
  TopView view(experiment_name(arguments.experiment));
  {
    Screen screen;
    for (bool goes_on = true; goes_on && !Screen::is_to_end();) {
      const Screen::Size size = screen.size();
      if (!screen.show(view.page(size.rows, size.columns, wall_clock_s()))) break;
      screen.wait(reader->ready(), kAges_ms);
      screen.stop_if_asked();
      take_news(*reader, view);
      for (TopKey key = screen.key(); key != TopKey::none && goes_on; key = screen.key()) {
        goes_on = view.press(key);
      }
      reader->pause(view.is_paused());
    }
  }
  std::_Exit(0);  // the reader may be in the middle of a look
}

/// False if nothing came of it.
bool is_awaited(const fs::path& experiment, Clock::time_point begin) {
  constexpr Seconds kLongestStart(60);
  return assemble::still_runs(experiment) ||
         (!assemble::has_records(experiment) && Clock::now() - begin < kLongestStart);
}

int as_text(const Arguments& arguments) {
  const auto begin = Clock::now();
  TopView view(experiment_name(arguments.experiment));
  const std::atomic<bool> never{false};
  while (true) {
    const double before_s = own_cpu_s();
    auto now = look(arguments);
    const bool seen = now.ok();
    if (seen) {
      view.set(std::move(now.value()));
      if (!print(printable(view.plain(wall_clock_s()), "\n"))) return fail(lost_output());
      if (view.is_over()) return 0;
    } else if (!is_awaited(arguments.experiment, begin)) {
      return fail(now.error());
    } else if (assemble::has_records(arguments.experiment)) {
      view.set_problem(now.error().sentence);
      if (!print(printable(view.plain(wall_clock_s()), "\n"))) return fail(lost_output());
    }
    sleep_through(pause_behind(arguments, own_cpu_s() - before_s), arguments, seen, never);
  }
}

int top(const Arguments& arguments) {
  if (const auto info = read_info(arguments.experiment); !info) return fail(info.error());
  return is_interactive() ? on_terminal(arguments) : as_text(arguments);
}

}  // namespace

Action add_top(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<Arguments>();
  command.add_option("experiment", arguments->experiment,
                     "the experiment of a run that goes on (default: the newest one here)");
  command
      .add_option("--every", arguments->every_s,
                  "seconds from one look to the next; more where looks take long")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 1e6));
  command.add_flag("--profile", arguments->profile,
                   "of the profile alone, which is read as fast late in a long run as early");
  command.add_option("--metrics", arguments->metrics,
                     "keep this file up to date, too: figures for Prometheus (node exporter's "
                     "textfile collector)");
  command.add_option("-j,--jobs", arguments->threads, "threads to use")->capture_default_str();
  return [arguments] { return top(*arguments); };
}

}  // namespace culprit::cli
