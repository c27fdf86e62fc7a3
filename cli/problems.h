// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Exceptions come from the libraries that culprit uses, and mean that the environment refuses
// something. Here they become errors like any other. So do faults of mapped files.
#pragma once

#include <exception>
#include <type_traits>

#include "base/result.h"

namespace culprit::cli {

/// Returns the exception that is being handled, as one sentence.
Error current_problem();

/// Returns the Result of `step`; an error if it throws.
template <class Step>
std::invoke_result_t<Step> guarded(Step&& step) {
  try {
    return step();
  } catch (const std::exception&) {
    return current_problem();
  }
}

/// From now on culprit ends with one sentence, not by a signal, where a page of a mapped file is
/// gone when it is read: the file was shortened since, or the disk failed.
void end_where_pages_are_gone();

}  // namespace culprit::cli
