// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Words: enums whose values have one spelling in all files and output. An enum and the spellings of
// its values come from one table, a .def with WORDS, WORD and END (severities.def is one); this
// file has the functions that look them up.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace culprit {

/// Specialized beside each such enum: kSpelled, an array of texts in the order of its values.
template <class E>
struct Words;

template <class E>
concept Word = requires { Words<E>::kSpelled; };

template <Word E>
constexpr std::string_view to_string(E word) {
  return Words<E>::kSpelled[static_cast<size_t>(word)];
}

/// The value that is spelled so.
template <Word E>
constexpr std::optional<E> find_word(std::string_view spelled) {
  for (size_t i = 0; i < Words<E>::kSpelled.size(); ++i) {
    if (Words<E>::kSpelled[i] == spelled) return static_cast<E>(i);
  }
  return {};
}

}  // namespace culprit
