// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The names of all places of one run, as its experiment keeps them: they hold good when the program
// has been built anew, and where it never was. With each object file goes its build id, so that
// debug information that was installed later is used for the very file that ran, and for no other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "assemble/names/symbol.h"
#include "base/files/guarded_path.h"
#include "base/result.h"

namespace culprit::assemble {

struct KeptModule {
  std::string build_id;  ///< empty: the file says nothing, or was not there
  std::map<uint64_t, Symbol> symbols;
};

class KeptNames {
 public:
  KeptNames() = default;
  explicit KeptNames(std::map<std::string, KeptModule, std::less<>> modules)
      : modules_(std::move(modules)) {}

  /// None if there is no such file, or it is of another version or damaged.
  static KeptNames read(const GuardedPath& file);
  Result<void> write(const GuardedPath& file) const;

  /// The same without a file.
  std::string pack() const;
  static KeptNames unpack(std::string_view packed);

  /// Adds the names of more places. Of an object file of which another build is known, those stay
  /// that are there. Whether anything was new.
  bool add(const KeptNames& more);

  /// Null: the object file at `path` is unknown.
  const KeptModule* find(std::string_view path) const;
  /// By path.
  const std::map<std::string, KeptModule, std::less<>>& modules() const { return modules_; }

 private:
  std::map<std::string, KeptModule, std::less<>> modules_;
};

}  // namespace culprit::assemble
