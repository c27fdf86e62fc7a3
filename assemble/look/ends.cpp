// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A descriptor of each process becomes readable when it has ended, so the order is known to a
// moment. The status can be read in that moment, while its parent has not taken it, and since Linux
// 6.15 also afterwards.
#include "assemble/look/ends.h"

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <exception>
#include <sstream>
#include <system_error>
#include <vector>

#include "assemble/look/proc.h"
#include "base/fnv.h"

namespace culprit::assemble::look {
namespace {

constexpr const char* kName = "end";
constexpr const char* kHead = "culprit-end-1";
constexpr size_t kMostProcesses = 4096;
constexpr uint64_t kMostBytes = 4096;

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// /proc/<number>/stat behind the name, which may contain anything: the state is the first word.
std::vector<std::string> words_of_stat(pid_t number) {
  const std::string stat = read_proc(fmt::format("/proc/{}/stat", number));
  const size_t name = stat.rfind(')');
  std::vector<std::string> words;
  if (name == std::string::npos) return words;
  std::istringstream in(stat.substr(name + 1));
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

int number_in(const std::string& word) {
  int number = -1;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

bool is_below(pid_t number, pid_t ancestor) {
  constexpr int kDeepest = 64;
  for (int depth = 0; number > 1 && depth < kDeepest; ++depth) {
    if (number == ancestor) return true;
    const auto words = words_of_stat(number);
    if (words.size() < 2) return false;
    number = number_in(words[1]);
  }
  return false;
}

/// Of a process whose parent has not taken its status yet; else < 0.
int status_of_zombie(pid_t number) {
  constexpr size_t kExitCode = 49;  // the 52nd word of the line, of which 3 are in front
  const auto words = words_of_stat(number);
  return words.size() > kExitCode && words[0] == "Z" ? number_in(words[kExitCode]) : -1;
}

/// Of one whose status was taken; < 0 where the system does not keep it.
int status_of_gone(const Descriptor& process) {
  struct Info {  // pidfd_info of Linux 6.13, whose exit_code came with 6.15
    uint64_t mask;
    uint64_t cgroup;
    std::array<uint32_t, 11> numbers;
    int32_t exit_code;
  };
  static_assert(sizeof(Info) == 64);
  constexpr uint64_t kExit = 1u << 3;
  Info info = {};
  info.mask = kExit;
  const bool known = ioctl(process.number(), _IOWR(0xff, 11, Info), &info) == 0;
  return known && (info.mask & kExit) != 0 ? info.exit_code : -1;
}

/// The last line has a checksum of those before.
std::string text_of(const End& end) {
  const std::string text = fmt::format("{}\n{} {}\n", kHead, end.at_ns, end.status);
  return text + fmt::format("# {:x}\n", fnv1a(text));
}

/// "node7.4242.1f00": the number is the last but one. 0: another host's, or no such name.
pid_t number_of(const std::string& folder) {
  std::array<char, HOST_NAME_MAX + 1> host = {};
  gethostname(host.data(), HOST_NAME_MAX);
  const std::string prefix = std::string(host.data()) + '.';
  if (!folder.starts_with(prefix)) return 0;
  const std::string rest = folder.substr(prefix.size());
  const int number = number_in(rest.substr(0, rest.find('.')));
  return number > 1 ? number : 0;
}

}  // namespace

KeptEnd read_end(const GuardedPath& process_folder) {
  const GuardedPath file = process_folder / kName;
  const auto text = file.read(kMostBytes);
  if (!text) return {{}, file.exists()};
  std::istringstream in(*text);
  std::string head;
  End end;
  in >> head >> end.at_ns >> end.status;
  if (!in || *text != text_of(end)) return {{}, true};
  return {end, false};
}

bool write_end(const GuardedPath& process_folder, const End& end) {
  return (process_folder / kName).replace(text_of(end)).ok();
}

EndWatch::EndWatch(const std::filesystem::path& experiment)
    : raw_(GuardedPath(experiment) / "raw"),
      changes_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!changes_ || !stop_) return;
  inotify_add_watch(changes_.number(), experiment.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  try {
    look_into_raw();
    thread_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {  // no memory, or no thread: nothing will be known
    watched_.clear();
  }
}

void EndWatch::finish() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  static_cast<void>(!write(stop_.number(), &one, sizeof one));
  thread_.join();
  keep();
}

void EndWatch::watch() try {
  for (bool goes_on = true; goes_on;) {
    std::vector<pollfd> waits{{stop_.number(), POLLIN, 0}, {changes_.number(), POLLIN, 0}};
    std::vector<Watched*> alive;
    for (auto& [folder, one] : watched_) {
      if (one.end) continue;
      alive.push_back(&one);
      waits.push_back({one.process.number(), POLLIN, 0});
    }
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    for (size_t i = 0; i < alive.size(); ++i) {
      if (waits[i + 2].revents == 0) continue;
      alive[i]->end = End{now_ns(), status_of_zombie(alive[i]->number)};
    }
    if (waits[1].revents != 0) read_changes();
    goes_on = waits[0].revents == 0;
  }
} catch (const std::exception&) {  // no memory: the program goes on
}

void EndWatch::look_into_raw() {
  if (raw_watch_ >= 0 || !raw_.is_folder()) return;
  raw_watch_ = inotify_add_watch(changes_.number(), raw_.path().c_str(),
                                 IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  for (const std::string& folder : raw_.list()) take_notice(folder);
}

void EndWatch::take_notice(const std::string& folder) {
  const pid_t number = number_of(folder);
  if (number == 0 || watched_.size() >= kMostProcesses || watched_.contains(folder)) return;
  if (!is_below(number, getpid())) return;
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, number, 0)));
  if (process) watched_.emplace(folder, Watched{std::move(process), number, {}});
}

void EndWatch::read_changes() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (ssize_t got; (got = read(changes_.number(), buffer.data(), buffer.size())) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if (event->len == 0) continue;
      if (event->wd == raw_watch_) {
        take_notice(event->name);
      } else {
        look_into_raw();
      }
    }
  }
}

/// Processes that ended well are left out.
void EndWatch::keep() const {
  for (const auto& [folder, one] : watched_) {
    if (!one.end) continue;
    End end = *one.end;
    if (const int status = status_of_gone(one.process); status >= 0) end.status = status;
    if (end.status != 0) write_end(raw_ / folder, end);
  }
}

}  // namespace culprit::assemble::look
