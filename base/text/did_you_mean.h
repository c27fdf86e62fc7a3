// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What was probably meant by a word that culprit does not know: a command, an option, a setting.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace culprit {

/// The one of `known` that `word` is most likely a misspelling of, if one is near enough.
std::optional<std::string> meant_by(std::string_view word, std::span<const std::string> known);

/// ": did you mean '--output'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace culprit
