// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A page is filled in under another name and then linked to its own, so that no process ever sees
// one that is not whole, and none waits for another one that may have been killed meanwhile.
#include "collector/bursts/node_page.h"

#include <limits.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "base/fnv.h"
#include "collector/bursts/moments.h"
#include "collector/process/clock.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"

namespace culprit::collector::node {

using trace::kRawBurstGone;
using trace::kRawBursts;
using trace::RawBurst;
using trace::RawNodePage;

namespace {

/// Records may take this part of what is free on the file system.
constexpr uint64_t kShareOfDisk = 10;
/// A burst takes 3/16 of its slot, and the margin is a 1600th: 1.5 s and 5 ms of 8 s.
constexpr uint64_t kBurstSixteenths = 3, kSlotMargins = 1600;
constexpr uint64_t kMostBursts = 48, kFewestBursts = 2;
/// Bursts are shortened to no less than this part for want of room, and to none below the other one
/// because of what they cost.
constexpr uint64_t kShortest = 4, kShortestOfAll = 16;
constexpr uint64_t kHighestLevel = 40;
/// Below it there are no bursts: a window of records would not fit.
constexpr uint64_t kLeastRoom = uint64_t{64} << 10;
constexpr int kPatience = 64;

RawNodePage g_own{};  ///< where the node's page cannot be mapped, and before it is
RawNodePage* g_page = &g_own;
char g_folder[PATH_MAX];

void store(uint64_t& word, uint64_t value) {
  std::atomic_ref<uint64_t>(word).store(value, std::memory_order_release);
}
uint64_t add(uint64_t& word, uint64_t value) {
  return std::atomic_ref<uint64_t>(word).fetch_add(value, std::memory_order_acq_rel);
}
bool change(uint64_t& word, uint64_t from, uint64_t to) {
  return std::atomic_ref<uint64_t>(word).compare_exchange_strong(from, to);
}

/// The name of the experiment's folder: the same for all ranks, wherever it is mounted.
uint64_t seed_of(const char* experiment) {
  const char* name = strrchr(experiment, '/');
  return fnv1a(name != nullptr ? name + 1 : experiment);
}

uint64_t budget_on(const char* experiment) {
  struct statvfs disk;
  const uint64_t wanted = environment().budget;
  if (statvfs(experiment, &disk) != 0) return wanted;
  return std::min(wanted, uint64_t{disk.f_bavail} * disk.f_frsize / kShareOfDisk);
}

void fill_in(RawNodePage& page, const char* experiment) {
  const uint64_t slot_ns = uint64_t{environment().slot} * 1'000'000;
  page.version = trace::kRawVersion;
  page.schedule = {seed_of(experiment), slot_ns, slot_ns / 16 * kBurstSixteenths};
  page.margin_ns = slot_ns / kSlotMargins;
  page.budget = budget_on(experiment);
  page.most = kMostBursts;
  page.begin = clock::read_pair();
  page.magic = trace::kRawPageMagic;
}

bool make_folders(const char* experiment, const trace::RawProcess& process, uint64_t node) {
  const int length =
      snprintf(g_folder, sizeof g_folder, "%s/raw/%s", experiment, trace::kRawBurstsFolder);
  if (length < 0 || length + sizeof process.host + 64 > sizeof g_folder) return false;
  if (!make_folder(g_folder)) return false;
  snprintf(g_folder + length, sizeof g_folder - static_cast<size_t>(length), "/%s.%llx",
           process.host, static_cast<unsigned long long>(node));
  return make_folder(g_folder);
}

struct Path {
  char text[PATH_MAX + 64];
};

RawNodePage* mapped(const char* path) {
  return static_cast<RawNodePage*>(map_file(path, sizeof(RawNodePage)).memory);
}

bool is_page(const RawNodePage& page) {
  return page.magic == trace::kRawPageMagic && page.version == trace::kRawVersion;
}

/// nullptr if it cannot be mapped.
RawNodePage* find_or_make(const char* experiment) {
  Path path, draft;
  snprintf(path.text, sizeof path.text, "%s/%s", g_folder, trace::kRawPageFile);
  snprintf(draft.text, sizeof draft.text, "%s.%d", path.text, static_cast<int>(getpid()));
  if (!is_file(path.text)) {
    RawNodePage* const made = mapped(draft.text);
    if (made == nullptr) return unlink(draft.text), nullptr;
    fill_in(*made, experiment);
    const bool is_linked = link(draft.text, path.text) == 0;
    unlink(draft.text);
    if (is_linked) return made;
    unmap_memory(made, sizeof *made);
    if (!is_file(path.text)) return nullptr;
  }
  RawNodePage* const found = mapped(path.text);
  if (found == nullptr || is_page(*found)) return found;
  unmap_memory(found, sizeof *found);
  return nullptr;
}

/// A number of processes among which the node's budget is divided if they cannot share it.
uint64_t processes_of_node() {
  const int by_launcher = environment().launcher_local_size;
  if (by_launcher > 0) return static_cast<uint64_t>(by_launcher);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return environment().launcher_rank < 0 || cores < 1 ? 1 : static_cast<uint64_t>(cores);
}

}  // namespace

uint64_t budget() {
  const uint64_t each = environment().max_size;
  const uint64_t processes = std::max<uint64_t>(load(g_page->processes), 1);
  const bool is_smaller = each != 0 && each <= g_page->budget / processes;
  const uint64_t all = is_smaller ? each * processes : g_page->budget;
  return all - std::min(load(g_page->constant), all / 2);
}

void take_constant(size_t bytes) {
  add(g_page->constant, bytes);
}

void give_back_constant(size_t bytes) {
  add(g_page->constant, ~uint64_t{bytes} + 1);
}

void give_back(size_t bytes) {
  add(g_page->taken, ~uint64_t{bytes} + 1);
}

namespace {

bool take_up_to(uint64_t limit, size_t bytes) {
  if (add(g_page->taken, bytes) + bytes <= limit) return true;
  give_back(bytes);
  return false;
}

/// Bursts are as long, and as many, as the records that come at the rate of the whole part leave
/// room for.
void end_whole_part(uint64_t ticks) {
  RawNodePage& page = *g_page;
  const trace::RawClockPair here = clock::read_pair();
  const uint64_t taken = load(page.taken), whole = budget();
  const uint64_t room = whole > taken ? whole - taken : 0;
  const double lasted = static_cast<double>(here.monotonic_ns - page.begin.monotonic_ns) + 1;
  const double rate = static_cast<double>(taken) / lasted;
  uint64_t length = page.schedule.burst_ns;
  const auto fit = [&] {
    return static_cast<double>(room) / (rate * static_cast<double>(length) + 1);
  };
  while (fit() < kMostBursts && length > page.schedule.burst_ns / kShortest) length /= 2;
  const double most = std::min(fit(), static_cast<double>(kMostBursts));
  store(page.most, std::max(static_cast<uint64_t>(most), kFewestBursts));
  // No reader could find the bursts of a page that is not in a file.
  const bool has_bursts = most >= 1 && room >= kLeastRoom && &page != &g_own;
  store(page.length_ns, has_bursts ? length : 0);
  change(page.whole_end, 0, std::max<uint64_t>(ticks, 1));
}

}  // namespace

void begin(const char* experiment, trace::RawProcess& process) {
  const uint64_t node = clock_identity(process);
  RawNodePage* const shared =
      make_folders(experiment, process, node) ? find_or_make(experiment) : nullptr;
  if (shared != nullptr) {
    process.node = node;
    g_page = shared;
  } else {
    g_own = {};
    fill_in(g_own, experiment);
    g_own.budget /= processes_of_node();
    g_page = &g_own;
  }
  add(g_page->processes, 1);
  if (budget() == 0) end_whole_part(now());
}

RawNodePage& page() {
  return *g_page;
}

const char* folder() {
  return g_folder;
}

bool whole_part_is_over() {
  return load(g_page->whole_end) != 0;
}

bool take_for_whole_part(size_t bytes) {
  if (environment().count_only) return true;
  if (whole_part_is_over()) return false;
  if (take_up_to(budget() / 2, bytes)) return true;
  end_whole_part(now());
  return false;
}

void end_whole_part_for_want_of_disk(uint64_t ticks) {
  ticks = std::max<uint64_t>(ticks, 1);
  add(g_page->disk_full, 1);
  if (!whole_part_is_over()) end_whole_part(ticks);
  for (uint64_t end = load(g_page->whole_end); end > ticks;) {
    if (change(g_page->whole_end, end, ticks)) break;
    end = load(g_page->whole_end);
  }
}

bool disk_was_full() {
  return load(g_page->disk_full) != 0;
}

void take_first(size_t bytes) {
  add(g_page->taken, bytes);
}

namespace {

void remove_file(uint64_t slot) {
  Path path;
  snprintf(path.text, sizeof path.text, "%s/%llu", g_folder, static_cast<unsigned long long>(slot));
  unlink(path.text);
}

/// Removes the burst. A writer that has found it before finds no place in it, or no file.
void remove(RawBurst& burst, uint64_t slot) {
  const uint64_t bytes =
      std::atomic_ref<uint64_t>(burst.bytes).exchange(kRawBurstGone, std::memory_order_acq_rel);
  if (bytes >= kRawBurstGone) return;  // another thread removes it
  remove_file(slot);
  give_back(bytes);
  add(g_page->thinned, 1);
  for (uint64_t* word : {&burst.begin, &burst.end, &burst.extents, &burst.lost, &burst.bytes}) {
    store(*word, 0);
  }
  store(burst.slot, 0);
}

uint64_t bursts_there() {
  uint64_t count = 0;
  for (const RawBurst& burst : g_page->bursts) count += load(burst.slot) != 0 ? 1 : 0;
  return count;
}

/// False while another thread does: one at a time, since the next one should see what room there is
/// then. One that seems to have been killed over it is not waited for.
bool begin_thinning() {
  constexpr uint64_t kPatience_ns = 1'000'000'000;
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const uint64_t ns =
      static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  const uint64_t since = load(g_page->thinning);
  return (since == 0 || ns > since + kPatience_ns) && change(g_page->thinning, since, ns);
}

/// False if another thread has raised the level, or there is no higher one.
bool raise(uint64_t level) {
  if (level >= kHighestLevel || !begin_thinning()) return false;
  const bool is_raised = change(g_page->level, level, level + 1);
  for (RawBurst& burst : g_page->bursts) {
    const uint64_t slot = load(burst.slot);
    if (slot == 0 || !is_raised || trace::raw_has_burst(g_page->schedule, level + 1, slot - 1)) {
      continue;
    }
    remove(burst, slot - 1);
  }
  store(g_page->thinning, 0);
  return is_raised;
}

}  // namespace

bool take(size_t bytes) {
  for (int tries = 0; tries < kPatience; ++tries) {
    if (take_up_to(budget(), bytes)) return true;
    const uint64_t level = load(g_page->level);
    if (bursts_there() <= kFewestBursts) break;
    if (!raise(level)) sched_yield();
  }
  add(g_page->refused, bytes);
  return false;
}

bool shorten_bursts() {
  uint64_t length = load(g_page->length_ns);
  if (length == 0) return false;
  const bool is_long = length / 2 >= g_page->schedule.burst_ns / kShortestOfAll;
  change(g_page->length_ns, length, is_long ? length / 2 : 0);
  return true;
}

void reach(uint64_t slot, uint64_t first) {
  for (int tries = 0; tries < kPatience; ++tries) {
    const uint64_t level = load(g_page->level);
    if ((slot >> level) - (first >> level) < load(g_page->most)) return;
    if (!raise(level)) sched_yield();
  }
}

namespace {

/// Where the entry of a slot is looked for first.
size_t first_place(uint64_t slot) {
  return static_cast<size_t>(trace::raw_burst_hash(0, 0, slot) % kRawBursts);
}

/// nullptr if there is none.
RawBurst* find(uint64_t slot) {
  for (size_t i = 0; i < kRawBursts; ++i) {
    RawBurst& burst = g_page->bursts[(first_place(slot) + i) % kRawBursts];
    if (load(burst.slot) == slot + 1) return &burst;
  }
  return nullptr;
}

/// Two threads that enter a slot at once may both find a place: the first one in order counts.
RawBurst* enter(uint64_t slot) {
  for (size_t i = 0; i < kRawBursts; ++i) {
    RawBurst& burst = g_page->bursts[(first_place(slot) + i) % kRawBursts];
    const bool is_mine = change(burst.slot, 0, slot + 1);
    if (!is_mine && load(burst.slot) != slot + 1) continue;
    RawBurst* const counts = find(slot);
    if (is_mine && counts != &burst) store(burst.slot, 0);
    return counts;
  }
  return nullptr;
}

}  // namespace

RawBurst* burst_of(uint64_t slot, uint64_t begin, uint64_t end) {
  if (!trace::raw_has_burst(g_page->schedule, load(g_page->level), slot)) return nullptr;
  RawBurst* burst = find(slot);
  if (burst == nullptr) burst = enter(slot);
  if (burst == nullptr) return nullptr;
  change(burst->begin, 0, begin);
  change(burst->end, 0, end);
  return burst;
}

}  // namespace culprit::collector::node
