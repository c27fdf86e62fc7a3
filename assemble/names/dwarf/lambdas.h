// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lambdas in debug information: the function of each is called operator(), and gcc gives it no line
// and clang no other name than a number. Its author knows it by the line on which it begins, and by
// the function around it: both are those of the unnamed class of which it is a member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "assemble/names/dwarf/dwarf_entry.h"

namespace culprit::assemble {

class Lambdas {
 public:
  struct Lambda {
    std::string file;  ///< base name
    uint32_t line = 0;
    std::optional<Dwarf_Die> around;  ///< the function that it stands in, maybe a lambda's
  };

  /// nullptr if `function` is not a lambda's. Looks through a unit when first called for one of its
  /// functions of that name. The reference stays valid.
  const Lambda* find(Dwarf_Die function);
  /// The function with a name that it stands in; none if it stands outside of all.
  std::optional<Dwarf_Die> function_around(const Lambda& lambda);
  /// In the name of a template's function, lambdas among its arguments get the names used here: two
  /// functions that differ only by the lambda become distinguishable.
  void name_arguments(Dwarf_Die function, std::string& name);

 private:
  /// By offset of the entry that declares their function.
  using OfUnit = std::unordered_map<uint64_t, Lambda>;

  static void index(Dwarf_Die& parent, const std::optional<Dwarf_Die>& around, OfUnit& lambdas,
                    unsigned depth);

  std::unordered_map<const void*, OfUnit> units_;  ///< by where their first entry lies
};

/// "lambda at flux.cpp:13", and " in main" where that is known.
std::string name_of_lambda(const Lambdas::Lambda& lambda, const std::string& around);

/// Whether a name was made from that of a lambda.
bool names_lambda(const std::string& function);

}  // namespace culprit::assemble
