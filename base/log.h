// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages of culprit itself: lines on stderr, so that stdout belongs to the measured program and
// to reports. A line is "culprit: ...", with "warning: " or "error: " before the words; when debug
// messages are shown, with the time and the component. Every line is printable, whatever names it
// holds. For culprit and its passes; the preload library and the libraries loaded with it in the
// measured program have no part in this. MT: messages may be written by any thread.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace culprit::log {

enum class Level { debug, info, warning, error };

/// "debug", "info", "warning" or "error".
std::optional<Level> level_named(std::string_view name);

/// Shows messages of this level and above from now on; at first, info.
void show_from(Level level);
bool shows(Level level);

/// The line that an info message would be, for those who must write it themselves.
std::string plain_line(std::string_view message);

/// A part of culprit that has something to say. Constants, one a file.
class Component {
 public:
  explicit constexpr Component(const char* name) : name_(name) {}

  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    if (shows(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    if (shows(Level::info)) write(Level::info, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    if (shows(Level::warning))
      write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void write(Level level, const std::string& message) const;

  const char* name_;
};

}  // namespace culprit::log
