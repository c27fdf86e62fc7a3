// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sequences that all terminals of today know (ECMA-48, xterm's second screen). Signals are noted
// and looked at between pages; poll() returns when one comes.
#include "cli/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace culprit::cli {
namespace {

std::atomic<bool> g_end{false}, g_stop{false};

void note_end(int) {
  g_end.store(true);
}
void note_stop(int) {
  g_stop.store(true);
}
void note_size(int) {}  // it only ends poll()

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

struct Sequence {
  std::string_view bytes;
  TopKey key;
};
/// Longer ones first where one begins another.
constexpr Sequence kSequences[] = {
    {"\033[A", TopKey::up},
    {"\033OA", TopKey::up},
    {"\033[B", TopKey::down},
    {"\033OB", TopKey::down},
    {"\033[C", TopKey::next_column},
    {"\033OC", TopKey::next_column},
    {"\033[D", TopKey::previous_column},
    {"\033OD", TopKey::previous_column},
    {"\033[5~", TopKey::page_up},
    {"\033[6~", TopKey::page_down},
    {"\033[H", TopKey::first},
    {"\033[1~", TopKey::first},
    {"\033[F", TopKey::last},
    {"\033[4~", TopKey::last},
    {"\033[Z", TopKey::previous_view},
    {"\t", TopKey::next_view},
    {"\r", TopKey::into},
    {"\n", TopKey::into},
    {"\177", TopKey::back},
    {"\b", TopKey::back},
    {"k", TopKey::up},
    {"j", TopKey::down},
    {"r", TopKey::reverse},
    {"p", TopKey::pause},
    {" ", TopKey::pause},
    {"?", TopKey::help},
    {"h", TopKey::help},
    {"q", TopKey::quit},
    {"Q", TopKey::quit},
};

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &before_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, note_end);
  handle(SIGTSTP, note_stop);
  handle(SIGWINCH, note_size);
  enter();
}

Screen::~Screen() {
  leave();
}

void Screen::enter() const {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  write_all("\033[?1049h\033[?25l");
}

void Screen::leave() const {
  write_all("\033[?25h\033[?1049l");
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

Screen::Size Screen::size() const {
  constexpr size_t kLeastRows = 4, kLeastColumns = 10, kMost = 1000;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  return {std::clamp<size_t>(size.ws_row, kLeastRows, kMost),
          std::clamp<size_t>(size.ws_col, kLeastColumns, kMost)};
}

bool Screen::show(std::string_view page) const {
  return write_all("\033[H" + std::string(page) + "\033[J");
}

void Screen::wait(int also, int milliseconds) {
  std::array<pollfd, 2> files = {pollfd{closed_ ? -1 : STDIN_FILENO, POLLIN, 0},
                                 pollfd{also, POLLIN, 0}};
  poll(files.data(), files.size(), milliseconds);
  if (files[0].revents == 0) return;
  std::array<char, 256> bytes;
  const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got > 0) typed_.append(bytes.data(), static_cast<size_t>(got));
  // Its other side has gone.
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) closed_ = true;
}

TopKey Screen::key() {
  while (!typed_.empty()) {
    for (const Sequence& known : kSequences) {
      if (!typed_.starts_with(known.bytes)) continue;
      typed_.erase(0, known.bytes.size());
      return known.key;
    }
    typed_.erase(0, 1);
  }
  return closed_ ? TopKey::quit : TopKey::none;
}

bool Screen::is_to_end() {
  return g_end.load();
}

void Screen::stop_if_asked() {
  if (!g_stop.exchange(false)) return;
  leave();
  raise(SIGSTOP);
  enter();
}

}  // namespace culprit::cli
