// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The functions that call paths end in, by number. A pseudo-region is a part of its caller, and so
// are time in calls that sleep, and functions of libraries, which many call.
#pragma once

#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

using FunctionNumber = size_t;  ///< within one Functions

class Functions {
 public:
  explicit Functions(const Findings& findings);

  FunctionNumber of(CallPathId path) const { return of_[path.index()]; }
  CallPathId parent(CallPathId path) const { return findings_.callpaths[path.index()].parent; }
  /// The call path of that function itself, for time in calls of it that sleep.
  CallPathId own_path(CallPathId path) const;
  /// The nearest function of the program above that; none at the root. Constructs and calls of the
  /// programming models are no functions of the program.
  CallPathId caller(CallPathId path) const;

 private:
  const Findings& findings_;
  std::vector<FunctionNumber> of_;  // by CallPathId
};

/// Whether it is a function of the program: no construct or call of a programming model, none of a
/// library that others call, and no pseudo-region.
bool is_function(const FoundCallPath& path);

/// Returns whether a path stands for its caller's time in a system call that slept, or in a
/// library: a part of that function.
bool is_in_call_of_system(const FoundCallPath& path);

}  // namespace culprit::blame
