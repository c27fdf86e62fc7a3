// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Instances of templates have names that are too long for a page, and alike but for one argument.
// Of their arguments those stay in which instances of the same template differ.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace culprit::report {

/// Of these names, which are all different, those of instances that are longer than `width`, and
/// what to call them: "apply<..., Late>" and "apply<..., Early>". Different ones remain so.
std::map<std::string, std::string, std::less<>> short_instances(
    const std::vector<std::string>& names, size_t width);

}  // namespace culprit::report
