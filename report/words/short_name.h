// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of functions that are too long for their place. C++'s names have their meaning at the end:
// of what is left out, arguments of templates go first, then namespaces, and words stay whole.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::report {

/// `name` in at most `width` columns: "cpu::normal_kernel<...>" of
/// "void at::native::cpu::normal_kernel<at::Generator*>(at::Tensor&)".
std::string short_name(std::string_view name, size_t width);

/// The same with the words from `at` on, where the name differs from others of the same beginning
/// and end: "sm80_gemm_...tn_n_tilesize..." where that fits.
std::string short_name_around(std::string_view name, size_t at, size_t width);

/// Of these names, which are all different, those whose short names would be the same, and what to
/// call them.
std::map<std::string, std::string, std::less<>> distinct_short_names(
    const std::vector<std::string>& names, size_t width);

}  // namespace culprit::report
