// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What folding costs, in nanoseconds of CPU time a record: `fold_bench FILE...`, each the
// `events.<n>` of a recorded log (trace/raw/raw.h). A log is folded in slices of 64 KiB, as the
// collector does, in two ways: with the caches as the slice before left them, and after other
// memory has been read, as a program that computes between its windows leaves them. The best of
// several rounds counts, as other programs can only make it slower.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "fold/record.h"
#include "fold/thread_fold.h"

namespace culprit::fold {
namespace {

constexpr size_t kSlice = size_t{64} << 10;
constexpr int kRounds = 9, kColdRounds = 3;  // the cold ones take long

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Reads memory as large as the caches.
void empty_caches() {
  static std::vector<uint64_t> other((size_t{48} << 20) / sizeof(uint64_t), 1);
  uint64_t sum = 0;
  for (size_t i = 0; i < other.size(); i += 8) sum += other[i];
  other[0] = sum;
}

/// The log's records, one behind the other, in slices that end between two records.
std::vector<std::vector<std::byte>> slices_of(const std::string& file, uint64_t& records) {
  std::ifstream stream(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  const auto* const begin = reinterpret_cast<const std::byte*>(content.data());
  std::vector<std::vector<std::byte>> slices(1);
  for (size_t at = 0; at + sizeof(trace::RawHeader) <= content.size();) {
    const auto& header = *reinterpret_cast<const trace::RawHeader*>(begin + at);
    const size_t bytes = bytes_of(header);
    if (header.kind == RawKind::none || at + bytes > content.size()) break;
    if (trace::facts_of(header.kind).group != trace::RawGroup::structure) {
      if (slices.back().size() + bytes > kSlice) slices.emplace_back();
      slices.back().insert(slices.back().end(), begin + at, begin + at + bytes);
      ++records;
    }
    at += bytes;
  }
  return slices;
}

struct Cost {
  double ns = 0;       ///< of all slices
  double longest = 0;  ///< of one slice
  uint32_t rows = 0;
};

Cost fold_once(const std::vector<std::vector<std::byte>>& slices, uint32_t log, bool cold) {
  struct alignas(trace::kProfilePage) Page {
    std::byte bytes[trace::kProfilePage];
  };
  std::vector<Page> memory(trace::profile_quota(log) / sizeof(Page));
  const uint64_t origin = record_at(slices.front().data()).time;
  ThreadFold fold =
      ThreadFold::begin({memory.data()->bytes, memory.size() * sizeof(Page)}, log, origin);
  std::vector<std::byte> window(kSlice);
  Cost cost;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (cold) empty_caches();
    // The records are warm in both cases: the thread has just written them.
    std::memcpy(window.data(), slices[i].data(), slices[i].size());
    const double begin = cpu_ns();
    fold.fold(i, std::span(window).first(slices[i].size()), slices[i].size());
    const double ns = cpu_ns() - begin;
    cost.ns += ns;
    cost.longest = std::max(cost.longest, ns);
  }
  cost.rows = fold.log().row_count;
  return cost;
}

void measure(const std::string& file) {
  uint64_t records = 0;
  const auto slices = slices_of(file, records);
  if (records == 0) {
    std::fprintf(stderr, "%s: no records\n", file.c_str());
    return;
  }
  const bool is_first = file.ends_with("events.0");
  Cost best[2];
  for (int round = 0; round < kRounds; ++round) {
    for (const bool cold : {false, true}) {
      if (cold && round >= kColdRounds) continue;
      const Cost cost = fold_once(slices, is_first ? 0 : 1, cold);
      if (round == 0 || cost.ns < best[cold].ns) best[cold] = cost;
    }
  }
  const auto each = [records](const Cost& cost) { return cost.ns / static_cast<double>(records); };
  std::printf(
      "%s: %llu records, %u rows; ns a record: %.1f warm, %.1f cold; longest slice %.0f us\n",
      file.c_str(), static_cast<unsigned long long>(records), best[0].rows, each(best[0]),
      each(best[1]), best[1].longest / 1000);
}

}  // namespace
}  // namespace culprit::fold

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) culprit::fold::measure(arguments[i]);
  if (count < 2) std::fprintf(stderr, "fold_bench events.0 ...\n");
  return count < 2 ? 2 : 0;
}
