// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stack has levels of constructs with functions between them. A change is emitted as leaves
// down to the common part and enters up from there; between two exact observations, at the times
// that the folding gives.
#include "assemble/play/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/result.h"

namespace culprit::assemble {
namespace {

Time middle(Time a, Time b) {
  return Time::from_nanos(a.nanos() + (b.nanos() - a.nanos()) / 2);
}

/// Where the thread is not in the user's own code, whatever a sample may show.
bool hides_samples(Level level) {
  return level == Level::call || level == Level::sync || level == Level::tool ||
         level == Level::off;
}

bool is_function(Level level) {
  return level == Level::frame || level == Level::root || level == Level::function;
}

/// How stretches begin and end, in their kinds.
enum StretchEnd : StretchKind {
  kEntered = 1,
  kLeft,
  kObserved,
  kPath,
  kBare,
  kNothing,
  kInnermost
};

/// 0: unknown, so perhaps the same.
bool are_different(uint64_t site, uint64_t other) {
  return site != 0 && other != 0 && site != other;
}

/// The functions that are the same calls in both: the innermost of them may call from elsewhere.
template <class Functions>
void set_common(const Functions& a, const Functions& b, Functions& common) {
  common.clear();
  if (are_different(a.base, b.base)) return;
  common.base = a.base == b.base ? a.base : 0;
  const size_t most = std::min(a.regions.size(), b.regions.size());
  for (size_t i = 0; i < most && a.regions[i] == b.regions[i]; ++i) {
    common.regions.push_back(a.regions[i]);
    common.sites.push_back(a.site(i) == b.site(i) ? a.site(i) : 0);
    if (are_different(a.site(i), b.site(i))) break;
  }
}

/// The functions that were active all the time between two moments, as far as these show: the
/// innermost ones may have been left and called again, as loops do with functions that call MPI for
/// them.
template <class Functions>
Functions lasting(const Functions& a, const Functions& b) {
  Functions common;
  set_common(a, b, common);
  const size_t shorter = std::min(a.regions.size(), b.regions.size());
  const size_t most = shorter == 0 ? 0 : shorter - 1;
  if (common.regions.size() <= most) return common;
  common.regions.resize(most);
  common.sites.resize(most);
  return common;
}

}  // namespace

Time Timeline::advance(Time time) {
  last_ = std::max(last_, time);
  return last_;
}

/// Counts at each border, so that all of it goes to the function that lacked the core. Where the
/// thread's activity is unknown it may have slept, and lacked no core.
void Timeline::count_lack_of_core(Time until) {
  if (folder_.cores.empty()) return;
  const Time begin = std::exchange(counted_, std::max(counted_, until));
  const bool computes = !stack_.empty() && !hides_samples(stack_.back().level) &&
                        stack_.back().region != folder_.not_sampled;
  const Duration without = folder_.cores.without(begin, until);
  if (computes) without_core_ns_ += static_cast<double>(without.nanos());
  sink().metrics(until, folder_.no_core, {&without_core_ns_, 1});
}

// Enters and leaves constructed for moments before the reading come before it, those for its own
// moment after it.
void Timeline::read_counters(Time time, MetricSetId set, std::vector<double> values) {
  if (reading_) write_reading();
  reading_ = {time, set, std::move(values)};
}

void Timeline::write_reading() {
  sink().metrics(advance(reading_->time), reading_->set, reading_->values);
  reading_.reset();
}

void Timeline::push(Time time, Entry entry) {
  if (reading_ && time >= reading_->time) write_reading();
  count_lack_of_core(advance(time));
  sink().enter(last_, entry.region);
  const StretchKind around = stack_.empty() ? 0 : stack_.back().inside;
  entry.inside = entry.level == Level::frame ? around : with(around, mark(entry.region));
  if (entry.level == Level::task) ++tasks_[task_slot(entry.id)];
  stack_.push_back(entry);
}

void Timeline::pop(Time time) {
  if (reading_ && time >= reading_->time) write_reading();
  count_lack_of_core(advance(time));
  const Entry& entry = stack_.back();
  sink().leave(last_, entry.region);
  if (entry.level == Level::task) --tasks_[task_slot(entry.id)];
  stack_.pop_back();
}

size_t Timeline::innermost() const {
  for (size_t i = stack_.size(); i-- > 0;) {
    if (stack_[i].level != Level::frame) return i;
  }
  return npos;
}

bool Timeline::may_sleep() const {
  const size_t construct = innermost();
  return construct != npos && base() != npos && !hides_samples(stack_[construct].level);
}

size_t Timeline::base() const {
  for (size_t i = stack_.size(); i-- > 0;) {
    const Level level = stack_[i].level;
    if (level == Level::parallel || level == Level::task || level == Level::root) return i;
  }
  return npos;
}

std::span<const Timeline::Entry> Timeline::frames() const {
  const size_t construct = innermost();
  return std::span(stack_).subspan(construct == npos ? 0 : construct + 1);
}

void Timeline::enter(Time time, Level level, RegionId region, uint64_t id) {
  const StretchKind entry = with(last_end_, mark(region));
  push(time, {region, level, id, 0, entry});
  known_ = last_;
  edge_ = with(entry, kEntered);
}

void Timeline::leave(Time time, size_t depth) {
  CULPRIT_CHECK(depth < stack_.size());
  observe_bare(time);
  edge_ = with(stack_[depth].entry, kLeft);
  while (stack_.size() > depth) pop(time);
  known_ = last_;
}

Timeline::Functions Timeline::relative(const UserPath& path) const {
  Functions functions;
  set_relative(path, functions);
  return functions;
}

void Timeline::set_relative(const UserPath& path, Functions& to) const {
  const size_t construct = innermost();
  const auto& all = path.frames;
  size_t taken = 0;
  size_t begin = 0;
  if (path.in_construct) {
    const size_t from = base();
    begin = from == npos ? 0 : from + (stack_[from].level == Level::root ? 0 : 1);
  }
  for (size_t i = begin; construct != npos && i <= construct; ++i) {
    // A call that has called the program back is on the path, too.
    if (!is_function(stack_[i].level) && stack_[i].level != Level::call) continue;
    const auto found =
        std::find(all.begin() + static_cast<ptrdiff_t>(taken), all.end(), stack_[i].region);
    if (found != all.end()) taken = static_cast<size_t>(found - all.begin()) + 1;
  }
  to.clear();
  to.regions.assign(all.begin() + static_cast<ptrdiff_t>(taken), all.end());
  if (taken == 0) {
    to.base = path.base_site;
  } else if (taken <= path.sites.size()) {
    to.base = path.sites[taken - 1];
  }
  if (taken < path.sites.size()) {
    to.sites.assign(path.sites.begin() + static_cast<ptrdiff_t>(taken), path.sites.end());
  }
}

Timeline::Functions Timeline::known_functions() const {
  Functions functions;
  set_known(functions);
  return functions;
}

void Timeline::set_known(Functions& to) const {
  to.clear();
  const size_t construct = innermost();
  if (construct != npos) to.base = stack_[construct].site;
  for (const Entry& entry : frames()) {
    to.regions.push_back(entry.region);
    to.sites.push_back(entry.site);
  }
}

// A function that now calls from elsewhere stays the same, but the functions that it calls change.
void Timeline::set_frames(Time leave_time, Time enter_time, const Functions& wanted) {
  const size_t first = stack_.size() - frames().size();
  size_t common = 0;
  bool same_call = first == 0 || !are_different(stack_[first - 1].site, wanted.base);
  if (first > 0 && wanted.base != 0) stack_[first - 1].site = wanted.base;
  while (same_call && first + common < stack_.size() && common < wanted.regions.size()) {
    Entry& entry = stack_[first + common];
    if (entry.region != wanted.regions[common]) break;
    same_call = !are_different(entry.site, wanted.site(common));
    if (wanted.site(common) != 0) entry.site = wanted.site(common);
    ++common;
  }
  while (stack_.size() > first + common) pop(leave_time);
  for (; common < wanted.regions.size(); ++common) {
    push(enter_time, {wanted.regions[common], Level::frame, 0, wanted.site(common), 0});
  }
}

void Timeline::play_samples(Time until, bool to_the_end) {
  Time before = known_;
  for (Sample& sample : samples_) {
    const Time change = middle(before, sample.time);
    set_frames(change, change, relative(*sample.path));
    before = sample.time;
    tell_sample(sample);
  }
  known_ = to_the_end ? until : middle(before, until);
}

/// The functions of the program that the call at hand has called: what the path has after the call
/// itself. None if there are no such functions.
std::optional<Timeline::Functions> Timeline::called_back(const UserPath& path) const {
  const size_t construct = innermost();
  if (construct == npos || stack_[construct].level != Level::call) return std::nullopt;
  const auto call =
      std::find(path.frames.rbegin(), path.frames.rend(), stack_[construct].region).base();
  if (call == path.frames.begin() || call == path.frames.end()) return std::nullopt;
  Functions functions;
  functions.regions.assign(call, path.frames.end());
  const auto begin = static_cast<size_t>(call - path.frames.begin());
  if (begin < path.sites.size()) {
    functions.sites.assign(path.sites.begin() + static_cast<ptrdiff_t>(begin), path.sites.end());
  }
  return functions;
}

/// In a call, each sample of a function that it has called back stands for half a period before and
/// behind it: there are no samples of the call's own time.
void Timeline::play_called_back(Time until) {
  const double each_ns = folder_.period_ns / folder_.core_share;
  Time last = known_;
  for (Sample& sample : samples_) {
    const std::optional<Functions> functions = called_back(*sample.path);
    const Duration half =
        Duration::from_nanos(std::llround(each_ns * static_cast<double>(sample.weight) / 2));
    const Time begin = std::max(last, sample.time - half);
    const bool goes_on = begin - last <= half && last > known_;
    if (!goes_on) set_frames(last, last, {});
    if (functions) set_frames(goes_on ? last : begin, goes_on ? last : begin, *functions);
    tell_sample(sample);
    last = std::min(until, sample.time + half);
  }
  set_frames(last, last, {});
}

void Timeline::tell_samples(uint64_t count) {
  if (count > 0) sink().fact(last_, trace::Fact::samples, count);
}

void Timeline::tell(KernelUse& use) {
  if (use.system_ns > 0) sink().fact(last_, trace::Fact::system_time, use.system_ns);
  if (use.fault_ns > 0) sink().fact(last_, trace::Fact::fault_time, use.fault_ns);
  if (use.faults > 0) sink().fact(last_, trace::Fact::page_faults, use.faults);
  use = {};
}

void Timeline::tell_sample(Sample& sample) {
  tell_samples(1);
  tell(sample.kernel);
}

// --- Folding ---

/// Outside of everything, and where samples are ignored, there is no time to be divided.
bool Timeline::may_be_folded(Time time) const {
  if (folder_.folding == nullptr && folder_.tally == nullptr) return false;
  const size_t construct = innermost();
  return time > known_ && construct != npos && base() != npos &&
         !hides_samples(stack_[construct].level);
}

StretchKind Timeline::kind_until(StretchKind end) const {
  return with(with(edge_, end), stack_.empty() ? 0 : stack_.back().inside);
}

double Timeline::expected_samples(Duration length) const {
  if (folder_.period_ns <= 0) return 0;
  return static_cast<double>(length.nanos()) / folder_.period_ns * folder_.core_share;
}

std::vector<StretchSample> Timeline::own_samples(Time until) const {
  std::vector<StretchSample> own;
  const double length = static_cast<double>((until - known_).nanos());
  for (const Sample& sample : samples_) {
    const double position = static_cast<double>((sample.time - known_).nanos()) / length;
    own.push_back({relative(*sample.path).regions, std::min(position, 1.0), sample.weight});
  }
  return own;
}

/// Instrumented functions have been left if any other code ran: it is their own time. And in a
/// region that the program named, the unknown part is time that no function in it is known to have.
void Timeline::set_unknown(Time time, const Functions& around, RegionId what) {
  const size_t construct = innermost();
  const Level level = construct != npos ? stack_[construct].level : Level::root;
  const bool of_region =
      level == Level::region && around.regions.empty() && what == folder_.not_sampled;
  if (level == Level::function || of_region) return set_frames(time, time, around);
  Functions functions = around;
  functions.sites.resize(functions.regions.size());
  functions.regions.push_back(what);
  functions.sites.push_back(0);
  set_frames(time, time, functions);
}

/// Plays the time between two moments at which the functions are known. Each stands for the time
/// halfway to the other, but no further than the distance of samples: time beyond would have had
/// samples of its own.
void Timeline::play_gap(Time begin, Time end, StretchKind kind, const Functions& before,
                        const Functions& after) {
  constexpr double kTickNs = 4e6;  // the kernel's own period
  const double period = folder_.period_ns / folder_.core_share;
  const bool is_long = folder_.folding->asleep_part() > 0.5 &&
                       static_cast<double>((end - begin).nanos()) > 3 * period + 2 * kTickNs;
  if (is_long) {
    const Duration reach = Duration::from_nanos(static_cast<int64_t>(period));
    set_unknown(begin + reach, lasting(before, after), sleep_of(kind));
    set_frames(end - reach, end - reach, after);
  } else {
    const Time change = middle(begin, end);
    set_frames(change, change, after);
  }
}

/// At the edges the nearest samples count: the calls that lead there are short.
void Timeline::play_own(Time until, StretchKind kind, const Functions& before,
                        const Functions& after) {
  constexpr double kTickNs = 4e6;
  const double reach = 3 * folder_.period_ns / folder_.core_share + 2 * kTickNs;
  const bool sleeps = folder_.folding->asleep_part() > 0.5;
  const auto is_far = [&](Time a, Time b) {
    return sleeps && static_cast<double>((b - a).nanos()) > reach;
  };
  Functions last = relative(*samples_.front().path);
  if (is_far(known_, samples_.front().time)) {
    set_unknown(known_, lasting(before, last), sleep_of(kind));
    const Time begin =
        samples_.front().time - Duration::from_nanos(static_cast<int64_t>(folder_.period_ns));
    set_frames(begin, begin, last);
  } else {
    set_frames(known_, known_, last);
  }
  tell_sample(samples_.front());
  for (size_t i = 1; i < samples_.size(); ++i) {
    const Functions next = relative(*samples_[i].path);
    play_gap(samples_[i - 1].time, samples_[i].time, kind, last, next);
    tell_sample(samples_[i]);
    last = next;
  }
  if (is_far(samples_.back().time, until)) {
    const Duration reach = Duration::from_nanos(static_cast<int64_t>(folder_.period_ns));
    set_unknown(samples_.back().time + reach, lasting(last, after), sleep_of(kind));
  }
}

/// In the unsampled part, only the functions around all samples are certain: equal callers at both
/// ends are two calls as often as one.
void Timeline::play_portions(Time until, StretchKind kind, const std::vector<Portion>& portions,
                             const Functions* exact, std::span<const StretchSample> own) {
  Time at = known_;
  Functions around;
  const bool any_sampled =
      std::any_of(portions.begin(), portions.end(), [](const Portion& p) { return p.sampled; });
  if (any_sampled) around = exact != nullptr ? lasting(before_, *exact) : before_;
  for (const Portion& portion : portions) {
    if (portion.sampled) around = lasting(around, Functions{portion.frames, {}, 0});
  }
  for (const Portion& portion : portions) {
    if (portion.length <= Duration::zero() || at >= until) continue;
    if (portion.sampled) {
      set_frames(at, at, {portion.frames, {}, 0});
    } else {
      set_unknown(at, around, portion.asleep ? sleep_of(kind) : folder_.not_sampled);
    }
    for (size_t i = 0; portion.sampled && i < own.size(); ++i) {
      if (own[i].frames == portion.frames) tell_sample(samples_[i]);
    }
    at = at + portion.length;
  }
}

/// The name of a sleep without any other record.
RegionId Timeline::sleep_of(StretchKind kind) const {
  const RegionId name = folder_.folding->name_of_sleep(kind);
  return name.valid() ? name : folder_.blocked;
}

StretchEnds Timeline::ends_at(const Functions* exact) const {
  const std::span<const Entry> known = frames();
  StretchEnds ends;
  if (!known.empty()) ends.from = known.back().region;
  if (exact == nullptr || exact->regions.empty()) return ends;
  ends.to = exact->regions.back();
  const uint64_t site = exact->site(exact->regions.size() - 1);
  ends.same_place = ends.from == ends.to && site != 0 && site == known.back().site;
  return ends;
}

/// Fills the stretch until `time`; where nothing is known, the functions stay as they were.
void Timeline::divide(Time time, StretchKind kind, const Functions* exact,
                      std::span<const StretchSample> own) {
  constexpr size_t kManySamples = 20;
  const Duration length = time - known_;
  set_known(before_);
  if (!own.empty() && (own.size() >= kManySamples || folder_.folding->is_alone(kind, own))) {
    play_own(time, kind, before_, exact != nullptr ? *exact : before_);
  } else {
    const auto portions = folder_.folding->divide(kind, length, expected_samples(length), own);
    if (portions.empty() && exact == nullptr) return;
    if (portions.empty()) {
      set_common(before_, *exact, common_);
      set_frames(known_, known_, common_);
    }
    play_portions(time, kind, portions, exact, own);
  }
  if (exact == nullptr) set_frames(time, time, before_);
}

void Timeline::settle(Time time, StretchKind end, const Functions* exact) {
  last_end_ = end;
  const size_t construct = innermost();
  if (!samples_.empty() && construct != npos && stack_[construct].level == Level::call) {
    play_called_back(time);
    if (exact != nullptr) set_frames(time, time, *exact);
  } else if (!may_be_folded(time)) {
    const bool sampled = !samples_.empty();
    if (sampled) play_samples(time, exact == nullptr);
    // With a sample the change lies halfway between it and now; without, the certain functions are
    // kept.
    if (exact != nullptr) set_frames(known_, sampled ? known_ : time, *exact);
  } else {
    const StretchKind kind = kind_until(end);
    const std::vector<StretchSample> own = own_samples(time);
    const Duration length = time - known_;
    if (folder_.tally != nullptr) {
      folder_.tally->add(kind, ends_at(exact), length, expected_samples(length), own);
    }
    // The walk that tallies needs only stretches, not their content.
    if (folder_.folding != nullptr) divide(time, kind, exact, own);
    if (exact != nullptr) set_frames(time, time, *exact);
  }
  // What belongs to samples that no part of the stretch stands for.
  for (Sample& sample : samples_) tell(sample.kernel);
  tell(kernel_);
  samples_.clear();
  keeps_sample_ = false;
  // Further records on a construct just entered add nothing to how the stretch begins.
  if (exact != nullptr || time > known_) edge_ = with(end, kObserved);
  known_ = time;
}

void Timeline::observe(Time time, const UserPath& path) {
  set_relative(path, exact_);
  StretchKind end = with(kPath, exact_.base);
  for (size_t i = 0; i < exact_.regions.size(); ++i) {
    end = with(with(end, mark(exact_.regions[i])), exact_.site(i));
  }
  settle(time, end, &exact_);
}

void Timeline::stay(Time end) {
  const Duration length = end - known_;
  if (length <= Duration::zero()) return;
  advance(end);
  known_ = last_;
  sink().fact(last_, trace::Fact::observed, static_cast<uint64_t>(length.nanos()));
}

void Timeline::observe_bare(Time time) {
  exact_.clear();
  settle(time, kBare, &exact_);
}

void Timeline::observe_nothing(Time time) {
  settle(time, kNothing, nullptr);
}

void Timeline::observe_innermost(Time time, std::span<const RegionId> known, uint64_t site,
                                 bool certain) {
  if (known.empty()) return observe_bare(time);
  Functions path = samples_.empty() ? known_functions() : relative(*samples_.back().path);
  const auto found = std::find(path.regions.rbegin(), path.regions.rend(), known.front());
  if (found != path.regions.rend()) {
    path.regions.erase(found.base() - 1, path.regions.end());
    path.regions.insert(path.regions.end(), known.begin(), known.end());
  } else {
    path = {};
    if (certain) path = relative({{known.begin(), known.end()}, true});
  }
  path.sites.clear();
  settle(time, with(kInnermost, site), &path);
}

void Timeline::sample(Time time, const UserPath& path, uint64_t weight) {
  const size_t construct = innermost();
  const bool hidden = construct != npos && hides_samples(stack_[construct].level);
  const bool shows = hidden ? called_back(path).has_value() : path.says_something();
  keeps_sample_ = shows && time >= known_;
  if (keeps_sample_) samples_.push_back({time, &path, weight});
}

void Timeline::use_kernel(Time time, const KernelUse& use, bool sampled) {
  if (stack_.empty()) return;  // between teams, a pool's thread runs no code of the program
  if (sampled && keeps_sample_) {
    samples_.back().kernel = use;
  } else if (hides_samples(stack_.back().level)) {
    advance(time);
    KernelUse here = use;
    tell(here);
  } else {
    kernel_.system_ns += use.system_ns;  // which functions these are turns out later
    kernel_.fault_ns += use.fault_ns;
    kernel_.faults += use.faults;
  }
}

void Timeline::drop_samples(Time time) {
  for (Sample& sample : samples_) {
    if (sample.time >= time) tell(sample.kernel);
  }
  std::erase_if(samples_, [time](const Sample& sample) { return sample.time >= time; });
  keeps_sample_ = keeps_sample_ && !samples_.empty();
}

}  // namespace culprit::assemble
