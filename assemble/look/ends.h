// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the processes of a run came to their ends. A launcher kills all ranks when one has died, and
// returns one status for all of them; who went first, and of what, only the system knows, and only
// for as long as somebody looks. It is kept among the process's records (`raw/<process>/end`).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/files/guarded_path.h"
#include "base/files/regular_file.h"

namespace culprit::assemble::look {

struct End {
  uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  int status = -1;     ///< as waitpid has it; < 0: unknown
};

struct KeptEnd {
  std::optional<End> end;  ///< nothing if it was not seen, or is not known any more
  bool is_damaged = false;
};
KeptEnd read_end(const GuardedPath& process_folder);
/// False if it could not be written.
bool write_end(const GuardedPath& process_folder, const End& end);

/// Sees the ends of processes that record into an experiment, if this process started them or what
/// started them. It has a thread, which sleeps until there is something to see. MT: for a process
/// that forks no more until finish() has returned.
class EndWatch {
 public:
  explicit EndWatch(const std::filesystem::path& experiment);
  ~EndWatch() { finish(); }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  /// Ends the watch and keeps what was seen.
  void finish();

 private:
  struct Watched {
    Descriptor process;
    pid_t number = 0;
    std::optional<End> end;
  };

  void watch();
  void look_into_raw();
  void take_notice(const std::string& folder);
  void read_changes();
  void keep() const;

  const GuardedPath raw_;
  Descriptor changes_;  ///< of folders
  Descriptor stop_;
  int raw_watch_ = -1;                      ///< in `changes_`
  std::map<std::string, Watched> watched_;  ///< by folder
  std::thread thread_;
};

}  // namespace culprit::assemble::look
