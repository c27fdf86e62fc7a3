// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a rank knows travels as one value, whatever it is; the first rank comes first in what is
// joined, so that all have the same.
#include "assemble/ranks/join_facts.h"

#include <algorithm>
#include <utility>

#include "base/ranks/fields.h"

namespace culprit {

template <class Way>
void fields(Way& way, Loss& loss) {
  way(loss.count, loss.severity, loss.advice);
}

}  // namespace culprit

namespace culprit::assemble {

template <class Way>
void fields(Way& way, SourceLine& line) {
  way(line.function, line.file, line.line);
}

namespace {

template <class T>
Parcel packed(T value) {
  Packer packer;
  pack(packer, value);
  return packer.take();
}

template <class T>
T unpacked(const Parcel& parcel) {
  Unpacker unpacker(parcel);
  return unpack<T>(unpacker);
}

}  // namespace

void join_losses(Transport& ranks, Losses& losses) {
  if (ranks.alone()) return;
  using Rows = std::map<std::string, Loss>;
  const Rows own(losses.all().begin(), losses.all().end());
  losses = Losses();
  for (const Parcel& parcel : gather_everywhere(ranks, packed(own))) {
    Losses theirs;
    for (const auto& [name, loss] : unpacked<Rows>(parcel)) theirs.restore(name, loss);
    losses.merge(theirs);
  }
}

void join_notes(Transport& ranks, std::vector<std::string>& notes) {
  if (ranks.alone()) return;
  std::vector<std::string> all;
  for (const Parcel& parcel : gather_everywhere(ranks, packed(notes))) {
    for (std::string& note : unpacked<std::vector<std::string>>(parcel)) {
      if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(std::move(note));
    }
  }
  notes = std::move(all);
}

void join_lines(Transport& ranks, SampledLines& lines) {
  if (ranks.alone()) return;
  SampledLines all;
  for (const Parcel& parcel : gather(ranks, packed(std::exchange(lines, {})))) {
    if (parcel.empty()) continue;
    for (const auto& [line, samples] : unpacked<SampledLines>(parcel)) all[line] += samples;
  }
  lines = std::move(all);
}

void join_counts(Transport& ranks, std::vector<uint64_t>& counts) {
  add_up(ranks, counts);
}

void take_from_first(Transport& ranks, std::map<LocationId, LocationId>& awaited) {
  if (ranks.alone()) return;
  awaited = unpacked<std::map<LocationId, LocationId>>(share_of_first(ranks, packed(awaited)));
}

}  // namespace culprit::assemble
