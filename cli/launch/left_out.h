// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts that this build of culprit lacks, because a dependency was missing when it was
// configured (culprit_left_out() in cmake/Product.cmake): the difference between "not built" and
// "not on this machine".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace culprit::cli {

struct LeftOut {
  std::string_view part;     ///< "OpenCL"
  std::string_view missing;  ///< "CL/cl_layer.h"
  std::string_view source;   ///< "Debian package opencl-headers"
};

/// Returns all parts that were left out.
std::span<const LeftOut> left_out();

/// Why a part's file is not where it should be, as a clause without a full stop: it was not built,
/// with what was missing then; or, if it was, it is missing from this installation.
std::string why_absent(std::string_view part, std::string_view file);

}  // namespace culprit::cli
