// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/fuzz_target.h"

#include <cstdio>
#include <cstdlib>

#include "blame/analyze.h"

namespace culprit::fuzz {

void require_sentence(const Error& error) {
  const bool one_line = error.sentence.find('\n') == std::string::npos;
  if (!error.sentence.empty() && one_line) return;
  std::fprintf(stderr, "no sentence: '%s'\n", error.sentence.c_str());
  std::abort();
}

namespace {

void print(const blame::Findings& found) {
  const auto path = [&](CallPathId id) { return found.callpaths[id.index()].name.c_str(); };
  const auto place = [&](LocationId id) { return found.locations[id.index()].name.c_str(); };
  for (const auto& row : found.waits) {
    std::fprintf(stderr, "wait %s %s at %s: %.10g s, indirect %.10g, propagating %.10g\n",
                 row.pattern.c_str(), path(row.callpath), place(row.location), row.time_s,
                 row.indirect_s, row.propagating_s);
  }
  for (const auto& row : found.delays) {
    std::fprintf(stderr, "delay %s %s at %s: short %.10g s, long %.10g s\n", row.pattern.c_str(),
                 path(row.callpath), place(row.location), row.short_s, row.long_s);
  }
  for (const std::string& violation : found.identities.violations) {
    std::fprintf(stderr, "violated: %s\n", violation.c_str());
  }
}

}  // namespace

void analyse(const trace::Source& source, const Losses& losses) {
  const auto found = blame::analyze(source, {.threads = 1, .verify = true}, losses);
  if (!found) return require_sentence(found.error());
  if (found.value().identities.violations.empty()) return;
  print(found.value());
  std::abort();
}

}  // namespace culprit::fuzz
