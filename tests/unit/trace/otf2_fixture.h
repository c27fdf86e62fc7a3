// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of OTF2 share: a folder that goes with the test, a small archive with every kind
// of event and definition, and otf2-print as a second opinion.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "base/losses.h"
#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::trace {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Two processes on two nodes, the first with two threads; regions of every role and paradigm,
/// communicators of every kind. Ids are such that reading gives the same back.
Definitions rich_definitions();

/// Plays every kind of event into `sink`, as the location (process, thread) of rich_definitions().
void play_everything(EventSink& sink, uint32_t process, uint32_t thread);

/// Writes rich_definitions() and play_everything() to `folder`/traces.otf2 and returns that path.
std::filesystem::path write_rich_archive(const std::filesystem::path& folder);

/// True if everything was read. That the calls of play_everything() come without the records that
/// their names promise is no damage.
bool lost_nothing(const Losses& losses);

/// The bytes of a file.
std::string content(const std::filesystem::path& file);
void set_content(const std::filesystem::path& file, const std::string& bytes);

/// Exit status and output (both streams) of a shell command.
struct CommandResult {
  int status = -1;
  std::string output;
};
CommandResult run_command(const std::string& command);

/// otf2-print's complaints about an archive; empty if it likes it.
std::string otf2_print_complaints(const std::filesystem::path& anchor);

}  // namespace culprit::trace
