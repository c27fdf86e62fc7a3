// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See log.h. The one place that knows spdlog: one sink on stderr for all components, each of which
// is a logger of its name. Locks and flushes are the sink's.

#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

#include "base/printable.h"
#include "base/progress/progress.h"

namespace culprit::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      break;
  }
  return spdlog::level::err;
}

/// What stands before the words of a warning or an error.
class SeverityPrefix final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string_view word = message.level == spdlog::level::warn  ? "warning: "
                                  : message.level == spdlog::level::err ? "error: "
                                                                        : "";
    line.append(word.data(), word.data() + word.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<SeverityPrefix>();
  }
};

using Sink = std::shared_ptr<spdlog::sinks::stderr_sink_mt>;

void configure(spdlog::sinks::stderr_sink_mt& sink, Level level) {
  const bool dated = level == Level::debug;
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SeverityPrefix>('*').set_pattern(dated ? "culprit: %H:%M:%S.%e %n: %*%v"
                                                             : "culprit: %*%v");
  sink.set_formatter(std::move(formatter));
  sink.set_level(spdlog_level(level));
}

const Sink& output() {
  static const Sink sink = [] {
    auto made = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    configure(*made, Level::info);
    return made;
  }();
  return sink;
}

}  // namespace

std::optional<Level> level_named(std::string_view name) {
  constexpr std::pair<std::string_view, Level> kNames[] = {{"debug", Level::debug},
                                                           {"info", Level::info},
                                                           {"warning", Level::warning},
                                                           {"error", Level::error}};
  for (const auto& [known, level] : kNames) {
    if (known == name) return level;
  }
  return std::nullopt;
}

void show_from(Level level) {
  configure(*output(), level);
}

bool shows(Level level) {
  return output()->should_log(spdlog_level(level));
}

std::string plain_line(std::string_view message) {
  return "culprit: " + printable(message) + "\n";
}

void Component::write(Level level, const std::string& message) const {
  spdlog::logger logger(name_, output());
  logger.set_level(spdlog::level::trace);  // the sink decides
  const std::string line = printable(message);
  progress::clear();
  logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace culprit::log
