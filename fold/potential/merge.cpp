// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts are merged two by two where they are, then the runs from one buffer to the other until
// one is left.
#include "fold/potential/merge.h"

#include <cstring>
#include <utility>

namespace culprit::fold {

namespace {

Change* copy(const Change* begin, const Change* end, Change* out) {
  const auto count = static_cast<size_t>(end - begin);
  if (count > 0) std::memcpy(out, begin, count * sizeof(Change));
  return out + count;
}

Change* merge_two(std::span<const Change> first, std::span<const Change> second, Change* out) {
  const Change* a = first.data();
  const Change* b = second.data();
  const Change *const a_end = a + first.size(), *const b_end = b + second.size();
  while (a < a_end && b < b_end) {
    const bool later = b->time < a->time;
    const Change* const next = later ? b : a;
    *out++ = *next;
    a += !later;
    b += later;
  }
  out = copy(a, a_end, out);
  return copy(b, b_end, out);
}

/// The first pass reads from where the lists are. Returns how many runs there are afterwards.
size_t merge_parts(MergeRoom room) {
  size_t runs = 0;
  Change* out = room.from.data();
  for (size_t i = 0; i < room.parts.size(); i += 2) {
    const MergePart first = room.parts[i];
    const MergePart second = i + 1 < room.parts.size() ? room.parts[i + 1] : MergePart{};
    out = merge_two({first.begin, first.count}, {second.begin, second.count}, out);
    room.parts[runs++].end = static_cast<uint32_t>(out - room.from.data());
  }
  return runs;
}

}  // namespace

std::span<const Change> merge(MergeRoom room) {
  size_t runs = merge_parts(room);
  while (runs > 1) {
    const std::span<const Change> from = room.from;
    Change* out = room.to.data();
    size_t merged = 0;
    uint32_t begin = 0;
    for (size_t run = 0; run < runs; run += 2) {
      const uint32_t middle = room.parts[run].end;
      const uint32_t end = run + 1 < runs ? room.parts[run + 1].end : middle;
      out = merge_two(from.subspan(begin, middle - begin), from.subspan(middle, end - middle), out);
      room.parts[merged++].end = begin = end;
    }
    runs = merged;
    std::swap(room.from, room.to);
  }
  return room.from.first(runs == 0 ? 0 : room.parts[0].end);
}

}  // namespace culprit::fold
