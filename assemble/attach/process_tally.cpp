// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A look stands for the time since the one before it. A thread that waits for others of its process
// costs those that work at that moment, in equal parts; one that waits for a lock, who holds it.
#include "assemble/attach/process_tally.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/look/proc.h"
#include "assemble/names/generated/generated_code.h"
#include "assemble/names/kept_names.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/symbols.h"
#include "assemble/run/survey.h"

namespace culprit::assemble::attach {
namespace {

constexpr size_t kMostStacks = 20'000;
constexpr uint64_t kMapsAge_ns = 1'000'000'000;

double seconds(uint64_t ns) {
  return 1e-9 * static_cast<double>(ns);
}

const NamedLook::Thread* find_number(const NamedLook& look, uint32_t number) {
  const auto at = std::find_if(look.threads.begin(), look.threads.end(),
                               [number](const auto& one) { return one.number == number; });
  return at == look.threads.end() ? nullptr : &*at;
}

/// Places that the program's own functions have in reports: which thread is at which core does not
/// matter there.
Spot without_core(Spot spot) {
  spot.on_core = false;
  return spot;
}

}  // namespace

void Blame::add(const NamedLook& look) {
  std::vector<const NamedLook::Thread*> workers;
  for (const NamedLook::Thread& thread : look.threads) {
    if (is_work(thread.seen.spot)) workers.push_back(&thread);
  }
  for (const NamedLook::Thread& thread : look.threads) {
    const Doing doing = thread.seen.spot.doing;
    if (!is_idle(doing)) continue;
    waiting_s += look.seconds;
    if (thread.seen.awaited != 0) {
      const NamedLook::Thread* holder = find_number(look, thread.seen.awaited);
      if (holder == nullptr || holder == &thread) {
        somebody_s += look.seconds;
        continue;
      }
      Cost& cost = costs[{holder->tid, without_core(holder->seen.spot)}];
      cost.waiting_s += look.seconds;
      if (doing == Doing::lock) cost.locks_s += look.seconds;
    } else if (doing != Doing::openmp) {
      somebody_s += look.seconds;
    } else if (workers.empty()) {
      nobody_s += look.seconds;
    } else {
      const double share = look.seconds / static_cast<double>(workers.size());
      for (const NamedLook::Thread* worker : workers) {
        costs[{worker->tid, without_core(worker->seen.spot)}].waiting_s += share;
      }
    }
  }
}

ProcessTally::ProcessTally(Target target)
    : target_(std::move(target)), watch_(target_.pid, target_.root) {
  read_maps();
  first_maps_ = maps_;
}

void ProcessTally::read_maps() {
  std::string maps = look::read_proc(fmt::format("/proc/{}/maps", target_.pid));
  if (maps.empty() || maps == maps_) return;
  maps_ = look::mapped_below(maps, target_.root);
  watch_.forget_files();
}

bool ProcessTally::look(look::ShortStops& stops) {
  if (ended_ || !is_there(target_)) {
    ended_ = true;
    return false;
  }
  look::ProcessLook now = watch_.look(&last_, target_.refusal.empty() ? &stops : nullptr);
  if (now.threads.empty()) {
    ended_ = true;
    return false;
  }
  if (begin_ns_ == 0) begin_ns_ = folded_until_ns_ = now.at_ns;
  end_ns_ = now.at_ns;
  if (now.at_ns - maps_read_ns_ > kMapsAge_ns) {
    read_maps();
    maps_read_ns_ = now.at_ns;
  }
  account(now);
  stacks_ += now.threads.size();
  last_ = now;
  looks_.push_back(std::move(now));
  if (stacks_ >= kMostStacks) fold();
  return true;
}

void ProcessTally::account(const look::ProcessLook& look) {
  for (const look::ThreadLook& thread : look.threads) {
    const auto [at, fresh] = threads_.try_emplace(thread.tid);
    Thread& known = at->second;
    const uint64_t without_ns = look::without_core_ns(target_.pid, thread.tid);
    if (fresh) {
      const std::string name =
          look::read_proc(fmt::format("/proc/{}/task/{}/comm", target_.pid, thread.tid));
      known.name = name.substr(0, name.find('\n'));
      known.number = number_inside(target_, thread.tid);
      known.first_ns = look.at_ns;
      known.first_cpu_ns = thread.cpu_ns;
      known.first_without_ns = without_ns;
    }
    known.last_ns = look.at_ns;
    known.last_cpu_ns = std::max(known.first_cpu_ns, thread.cpu_ns);
    known.last_without_ns = std::max(known.first_without_ns, without_ns);
  }
}

void ProcessTally::fold() {
  Survey survey;
  for (const look::ProcessLook& look : looks_) {
    for (const look::ThreadLook& thread : look.threads) {
      survey.addresses.insert(thread.stack.begin(), thread.stack.end());
    }
  }
  ProcessCode code(AddressMap::of(
      {maps_, first_maps_}, find_generated_code(static_cast<uint32_t>(target_.pid), 0, {}, {})));
  Symbols symbols;
  Regions regions;
  code.announce(survey, symbols);
  symbols.resolve(0, read_symbols, NameCache::of_user(), KeptNames());
  const auto others = NotThePrograms::of_user();
  code.learn(survey, symbols, others ? others.value() : NotThePrograms(), regions);
  for (const uint64_t address : survey.addresses) {
    const Code& here = code.before(address);
    if (!here.own) continue;
    ++places_;
    if (!here.symbol->named) ++nameless_places_;
  }
  for (const look::ProcessLook& look : looks_) {
    NamedLook named;
    named.seconds = seconds(look.at_ns - folded_until_ns_);
    folded_until_ns_ = look.at_ns;
    for (const look::ThreadLook& thread : look.threads) {
      Thread& known = threads_[thread.tid];
      SeenDoing seen = doing_of(thread, code);
      ++known.looks;
      ++known.spots[seen.spot];
      named.threads.push_back({thread.tid, known.number, std::move(seen)});
    }
    blame_.add(named);
  }
  looks_.clear();
  stacks_ = 0;
}

/// The scheduler says how long it ran or could have, and how long it slept; the looks of each sort
/// say where.
SeenThread ProcessTally::seen_thread(uint32_t tid, const Thread& thread) const {
  SeenThread seen;
  seen.tid = tid;
  seen.name = thread.name;
  seen.ended = thread.last_ns < end_ns_;
  seen.watched_s = seconds(thread.last_ns - thread.first_ns);
  seen.looks = thread.looks;
  double running_s = -1;
  if (thread.last_cpu_ns != 0) {
    seen.on_core_s = seconds(thread.last_cpu_ns - thread.first_cpu_ns);
    seen.without_core_s = seconds(thread.last_without_ns - thread.first_without_ns);
    running_s = std::min(seen.watched_s, seen.on_core_s + seen.without_core_s);
    seen.asleep_s = seen.watched_s - running_s;
  }
  uint64_t running_looks = 0;
  for (const auto& [spot, looks] : thread.spots) {
    if (spot.on_core) running_looks += looks;
  }
  for (const auto& [spot, looks] : thread.spots) {
    const uint64_t all = spot.on_core ? running_looks : thread.looks - running_looks;
    const double time_s = spot.on_core ? running_s : seen.asleep_s;
    const double share = static_cast<double>(looks) / static_cast<double>(all);
    const double of_looks = static_cast<double>(looks) / static_cast<double>(thread.looks);
    seen.spots.push_back({spot, looks, running_s < 0 ? of_looks * seen.watched_s : share * time_s});
  }
  std::stable_sort(seen.spots.begin(), seen.spots.end(),
                   [](const SeenSpot& a, const SeenSpot& b) { return a.seconds > b.seconds; });
  return seen;
}

SeenProcess ProcessTally::finish() {
  fold();
  SeenProcess seen;
  seen.pid = target_.pid;
  seen.name = target_.name;
  seen.user = target_.user;
  seen.refusal = target_.refusal;
  seen.debugger = target_.debugger;
  seen.ended = ended_;
  seen.nameless = 2 * nameless_places_ > places_;
  seen.watched_s = seconds(end_ns_ - begin_ns_);
  for (const auto& [tid, thread] : threads_) seen.threads.push_back(seen_thread(tid, thread));
  std::stable_sort(
      seen.threads.begin(), seen.threads.end(),
      [](const SeenThread& a, const SeenThread& b) { return a.on_core_s > b.on_core_s; });
  return seen;
}

}  // namespace culprit::assemble::attach
