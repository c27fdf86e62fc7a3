// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A command line, parsed once: launchers (mpirun, srun, ...) and helpers (env, numactl, ...) with
// their options, then the program with its arguments. mpirun takes several programs side by side.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::cli {

class Command {
 public:
  /// One of the programs that are started side by side.
  struct Part {
    size_t options;  ///< index of the first word behind the launcher's name, or behind the ':'
    size_t program;  ///< index of the program's name; `options` - 1 if nothing better is found
    size_t end;      ///< index behind its last argument
  };

  Command() : Command(std::vector<std::string>()) {}
  explicit Command(std::vector<std::string> words);
  /// Of a line as line() makes it.
  static Command of_line(std::string_view line);

  bool empty() const { return words_.empty(); }
  const std::vector<std::string>& words() const { return words_; }
  /// At least one.
  std::span<const Part> parts() const { return parts_; }
  /// Index of the first program's name; 0 if nothing better is found.
  size_t program() const { return parts_.front().program; }
  /// Its base name, fit to be part of a folder's name.
  std::string program_name() const;
  /// The words behind the first one whose base name is `program`, up to those of the next program.
  std::span<const std::string> arguments_of(const std::string& program) const;
  /// True if it starts with a launcher that may be Open MPI's.
  bool starts_with_mpirun() const;
  /// The words joined with blanks, quoted so that a shell would read the same words.
  std::string line() const;

 private:
  std::vector<std::string> words_;
  std::vector<Part> parts_;
};

}  // namespace culprit::cli
