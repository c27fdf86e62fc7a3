// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes a synthetic trace:
//
//     trace_generator PATTERN FOLDER [--ranks N] [--threads N] [--iterations N | --events N]
//                     [--seed N]
//
// and without arguments lists the patterns.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/bench/generate/generate.h"

using namespace culprit::bench;

namespace {

int usage() {
  std::puts(
      "usage: trace_generator PATTERN FOLDER [--ranks N] [--threads N] [--iterations N | "
      "--events N] [--seed N]");
  for (const PatternKind& kind : pattern_kinds()) {
    std::printf("  %-14.*s %.*s\n", static_cast<int>(kind.name.size()), kind.name.data(),
                static_cast<int>(kind.what.size()), kind.what.data());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const PatternKind* kind = argc > 2 && argc % 2 == 1 ? find_pattern(argv[1]) : nullptr;
  if (!kind) return usage();
  Shape shape;
  uint64_t events = 0;
  for (int i = 3; i < argc; i += 2) {
    const std::string_view option = argv[i];
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    const auto number = static_cast<uint32_t>(value);
    if (option == "--ranks") {
      shape.ranks = number;
    } else if (option == "--threads") {
      shape.threads = number;
    } else if (option == "--iterations") {
      shape.iterations = number;
    } else if (option == "--seed") {
      shape.seed = number;
    } else if (option == "--events") {
      events = value;
    } else {
      return usage();
    }
  }
  if (shape.ranks < 2 || shape.threads < 1 || (events == 0 && shape.iterations < 1)) return usage();
  if (events != 0) shape = with_events(*kind, shape, events);
  const uint64_t written = generate(argv[2], *kind, shape);
  std::printf("%llu events in %u iterations\n", static_cast<unsigned long long>(written),
              shape.iterations);
}
