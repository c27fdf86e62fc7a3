// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explicit tasks. libgomp copies a task's data and runs a function on the copy. It is given a
// function of ours, and data that are longer by a label of ours, which it keeps for us as long as
// the task lives. The label lies behind the program's data, since the runtime itself reads and
// writes the first words of some; only the function knows the label's offset, so there is one
// function for each offset. The runtime calls us to copy the data: then the task is created. A task
// that suspends lets others run inside it on the same thread, so the tasks that a thread executes
// form a stack, kept on the thread's own.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "collector/openmp/gomp/detached.h"
#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"

namespace culprit::collector::openmp::gomp {

namespace {

using Body = void(void*);
using Copy = void(void* to, void* from);

/// libgomp's flags of tasks and taskloops.
constexpr unsigned kUntied = 1U << 0, kFinal = 1U << 1, kMergeable = 1U << 2, kDepend = 1U << 3,
                   kIf = 1U << 10, kNoGroup = 1U << 11, kReductions = 1U << 12, kDetach = 1U << 13;

/// The label behind the data of each task.
struct Label {
  Body* body;
  ompt_data_t task;
  const void* event;  ///< the event that a detached task waits for when its body is over; nullptr:
                      ///< none
};

// --- Where the label lies ---

constexpr size_t kGrain = 16;  ///< bytes between offsets
constexpr size_t kNear = 64;   ///< offsets one grain apart from each other; beyond them, each is
                               ///< twice as far
constexpr size_t kPlaces = kNear + 16;

constexpr size_t offset_of(size_t place) {
  return place < kNear ? place * kGrain : kNear * kGrain << (place - kNear);
}

/// The first offset behind `size` bytes; kPlaces: the data is too long.
size_t place_behind(size_t size) {
  const size_t near = (size + kGrain - 1) / kGrain;
  if (near < kNear) return near;
  return std::min(kPlaces, kNear + std::bit_width((near - 1) / kNear));
}

// --- Running ---

/// The data of implicit tasks, which have no number.
[[gnu::tls_model("initial-exec")]] constinit thread_local ompt_data_t t_implicit = {0};

ompt_data_t* current_task() {
  return t_thread.task != nullptr ? t_thread.task : &t_implicit;
}

template <size_t place>
void run(void* data) {
  Label label;
  memcpy(&label, static_cast<char*>(data) + offset_of(place), sizeof label);
  ompt_data_t* const outer = t_thread.task;
  g_events.task_schedule(current_task(), ompt_task_switch, &label.task);
  t_thread.task = &label.task;
  label.body(data);
  t_thread.task = outer;
  const bool goes_on = label.event != nullptr && outlives_body(label.event);
  g_events.task_schedule(&label.task, goes_on ? ompt_task_detach : ompt_task_complete,
                         current_task());
}

template <size_t... places>
constexpr std::array<Body*, kPlaces> all_runs(std::index_sequence<places...>) {
  return {run<places>...};
}
constexpr std::array<Body*, kPlaces> kRun = all_runs(std::make_index_sequence<kPlaces>());

// --- Creating ---

/// The argument of our function that copies, in place of the program's data. libgomp reads the
/// third word where there are reductions, and writes the first of detached tasks.
struct Source {
  void* head[3];
  void* data;
  Copy* copy;  ///< the program's function; nullptr: the data is copied as bytes
  size_t size;
  size_t offset;  ///< the label's offset
  Body* body;
  void** depend;   ///< libgomp's list of dependences; nullptr: none
  unsigned flags;  ///< libgomp's flags
  int told;        ///< flags in OMPT's form
  bool waits;      ///< the thread has waited for the task's dependences since the runtime was
                   ///< called
  ompt_data_t wait;
  const void* code;
};

int told_flags(unsigned flags, bool undeferred) {
  unsigned told = ompt_task_explicit;
  if ((flags & kUntied) != 0) told |= ompt_task_untied;
  if ((flags & kFinal) != 0) told |= ompt_task_final;
  if ((flags & kMergeable) != 0) told |= ompt_task_mergeable;
  if (undeferred) told |= ompt_task_undeferred;
  return static_cast<int>(told);
}

class Dependences {
 public:
  explicit Dependences(ompt_data_t* task) : task_(task) {}
  ~Dependences() { flush(); }
  Dependences(const Dependences&) = delete;
  Dependences& operator=(const Dependences&) = delete;
  void add(void* address, ompt_dependence_type_t type) {
    const bool all = address == nullptr && type != ompt_dependence_type_in;
    if (count_ == kMost) flush();
    list_[count_].variable.ptr = address;
    list_[count_].dependence_type = all ? ompt_dependence_type_out_all_memory : type;
    ++count_;
  }

 private:
  static constexpr int kMost = 32;
  void flush() {
    if (count_ > 0) g_events.dependences(task_, list_, count_);
    count_ = 0;
  }
  ompt_data_t* task_;
  ompt_dependence_t list_[kMost];
  int count_ = 0;
};

/// Adds an object of type `depend`: an address, and how it is used.
void add_object(Dependences& told, void** object) {
  constexpr uintptr_t kIn = 1, kMutex = 4, kInoutset = 5;
  const auto use = reinterpret_cast<uintptr_t>(object[1]);
  const auto type = use == kIn         ? ompt_dependence_type_in
                    : use == kMutex    ? ompt_dependence_type_mutexinoutset
                    : use == kInoutset ? ompt_dependence_type_inoutset
                                       : ompt_dependence_type_inout;
  told.add(object[0], type);
}

/// Reports libgomp's list. Its format: the number of objects, and of these the number that are
/// written, which come first; or 0 and then the numbers of all, of written, of mutually exclusive,
/// of read objects; and last the objects.
void tell_dependences(ompt_data_t* task, void** depend) {
  const auto number = [&](size_t at) { return reinterpret_cast<uintptr_t>(depend[at]); };
  Dependences told(task);
  if (number(0) != 0) {
    for (size_t i = 0; i < number(0); ++i) {
      told.add(depend[2 + i], i < number(1) ? ompt_dependence_type_inout : ompt_dependence_type_in);
    }
    return;
  }
  const size_t out = number(2), mutex = out + number(3), in = mutex + number(4);
  for (size_t i = 0; i < number(1); ++i) {
    void* const address = depend[5 + i];
    if (i >= in) {
      add_object(told, static_cast<void**>(address));
    } else {
      told.add(address, i < out     ? ompt_dependence_type_inout
                        : i < mutex ? ompt_dependence_type_mutexinoutset
                                    : ompt_dependence_type_in);
    }
  }
}

/// The thread begins to wait for a task's dependences, as an empty task of its own.
void begin_dependence_wait(ompt_data_t* wait, void** depend, const void* code) {
  constexpr unsigned kFlags = ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable;
  g_events.task_create(current_task(), nullptr, wait, static_cast<int>(kFlags), 1, code);
  tell_dependences(wait, depend);
}

void end_dependence_wait(ompt_data_t* wait) {
  g_events.task_schedule(wait, ompt_taskwait_complete, nullptr);
}

/// Called by libgomp to copy the data: this creates a task.
void create(void* to, void* from) {
  Source& source = *static_cast<Source*>(from);
  const void* event = nullptr;
  if ((source.flags & kDetach) != 0) {
    event = source.head[0];
    memcpy(source.data, &source.head[0], sizeof source.head[0]);
  }
  if (source.copy != nullptr) {
    source.copy(to, source.data);
  } else {
    memcpy(to, source.data, source.size);
  }
  if (source.waits) end_dependence_wait(&source.wait);
  source.waits = false;
  Label label = {source.body, {0}, event};
  g_events.task_create(current_task(), nullptr, &label.task, source.told, source.depend != nullptr,
                       source.code);
  if (source.depend != nullptr) tell_dependences(&label.task, source.depend);
  if (event != nullptr) expect_event(event, label.task.value);
  memcpy(static_cast<char*>(to) + source.offset, &label, sizeof label);
}

/// The body, data and size that the runtime is given for a task that is to be recorded.
struct Labelled {
  Labelled(Body* body, void* data, Copy* copy, long bytes, unsigned flags)
      : place(place_behind(static_cast<size_t>(bytes))) {
    source.data = data;
    source.copy = copy;
    source.size = static_cast<size_t>(bytes);
    source.offset = offset_of(place);
    source.body = body;
    source.flags = flags;
    if ((flags & kReductions) != 0) memcpy(source.head, data, sizeof source.head);
  }
  Body* run() const { return kRun[place]; }
  long size() const { return static_cast<long>(source.offset + sizeof(Label)); }
  Source source = {};
  size_t place;
};

/// Labels are found only if the data begin aligned to grains.
long aligned(long align) {
  return std::max<long>(align, kGrain);
}

bool is_labelled(long size) {
  return g_events.wants_tasks && is_recorded() && place_behind(static_cast<size_t>(size)) < kPlaces;
}

/// Compilers before gcc 6 pass no priority, before gcc 11 no event: the runtime reads neither
/// unless the flags say so.
template <Name name>
void task(Body* body, void* data, Copy* copy, long size, long align, bool deferred, unsigned flags,
          void** depend, int priority, void* detach) {
  const auto function =
      real<name, void(Body*, void*, Copy*, long, long, bool, unsigned, void**, int, void*)>();
  if (!is_labelled(size)) {
    return function(body, data, copy, size, align, deferred, flags, depend, priority, detach);
  }
  Labelled task(body, data, copy, size, flags);
  task.source.code = __builtin_return_address(0);
  task.source.told = told_flags(flags, !deferred);
  task.source.depend = (flags & kDepend) != 0 ? depend : nullptr;
  task.source.waits = !deferred && task.source.depend != nullptr;
  if (task.source.waits) begin_dependence_wait(&task.source.wait, depend, task.source.code);
  function(task.run(), &task.source, create, task.size(), aligned(align), deferred, flags, depend,
           priority, detach);
  if (task.source.waits) end_dependence_wait(&task.source.wait);  // it was cancelled
}

/// A taskloop that is not distributed runs its tasks one by one in libgomp's call itself. With a
/// function that copies, libgomp would need memory for all of them at once: it is given none then.
bool runs_in_the_call(unsigned flags) {
  const bool alone = real<"omp_get_level", int()>()() == 0;
  return (flags & kIf) == 0 || alone || real<"omp_in_final", int()>()() != 0;
}

/// A taskloop lasts as long as this object, and so does the taskgroup around its tasks.
class Taskloop {
 public:
  Taskloop(bool group, const void* code) : group_(group), code_(code) {
    g_events.work(ompt_work_taskloop, ompt_scope_begin, nullptr, nullptr, 0, code_);
    if (!group_) return;
    g_events.sync(ompt_sync_region_taskgroup, ompt_scope_begin, &here_, nullptr, code_);
    g_events.wait(ompt_sync_region_taskgroup, ompt_scope_begin, &here_, nullptr, code_);
  }
  ~Taskloop() {
    if (group_) {
      g_events.wait(ompt_sync_region_taskgroup, ompt_scope_end, &here_, nullptr, code_);
      g_events.sync(ompt_sync_region_taskgroup, ompt_scope_end, &here_, nullptr, code_);
    }
    g_events.work(ompt_work_taskloop, ompt_scope_end, nullptr, nullptr, 0, code_);
  }
  Taskloop(const Taskloop&) = delete;
  Taskloop& operator=(const Taskloop&) = delete;

 private:
  bool group_;
  const void* code_;
  ompt_data_t here_ = {1};
};

template <Name name, class Number>
void taskloop(Body* body, void* data, Copy* copy, long size, long align, unsigned flags,
              unsigned long tasks, int priority, Number begin, Number end, Number step) {
  const auto function = real<name, void(Body*, void*, Copy*, long, long, unsigned, unsigned long,
                                        int, Number, Number, Number)>();
  const void* const code = __builtin_return_address(0);
  const Taskloop loop((flags & kNoGroup) == 0, code);
  if (!is_labelled(size) || (copy == nullptr && runs_in_the_call(flags))) {
    return function(body, data, copy, size, align, flags, tasks, priority, begin, end, step);
  }
  Labelled task(body, data, copy, size, flags);
  task.source.code = code;
  task.source.told = told_flags(flags, (flags & kIf) == 0);
  function(task.run(), &task.source, create, task.size(), aligned(align), flags, tasks, priority,
           begin, end, step);
}

// --- Waiting ---

template <Name name>
void taskwait() {
  const WaitHere wait(ompt_sync_region_taskwait, __builtin_return_address(0));
  real<name, void()>()();
}

template <Name name>
void taskwait_depend(void** depend) {
  ompt_data_t wait = {0};
  begin_dependence_wait(&wait, depend, __builtin_return_address(0));
  real<name, void(void**)>()(depend);
  end_dependence_wait(&wait);
}

template <Name name>
void begin_taskgroup() {
  const void* const code = __builtin_return_address(0);
  g_events.sync(ompt_sync_region_taskgroup, ompt_scope_begin, nullptr, nullptr, code);
  real<name, void()>()();
}

template <Name name>
void end_taskgroup() {
  const void* const code = __builtin_return_address(0);
  g_events.wait(ompt_sync_region_taskgroup, ompt_scope_begin, nullptr, nullptr, code);
  real<name, void()>()();
  ompt_data_t here = {1};
  g_events.wait(ompt_sync_region_taskgroup, ompt_scope_end, &here, nullptr, code);
  g_events.sync(ompt_sync_region_taskgroup, ompt_scope_end, &here, nullptr, code);
}

/// Fulfils a detached task's event; called by any thread, of the team or not.
template <Name name>
void fulfill(const void* event) {
  const Fulfilled told = fulfil(event);
  ompt_data_t task = {told.task};
  const auto when = told.body_is_over ? ompt_task_late_fulfill : ompt_task_early_fulfill;
  if (told.task != 0) g_events.task_schedule(&task, when, nullptr);
  real<name, void(const void*)>()(event);
}

}  // namespace

void offer_tasks(Match& match) {
  CULPRIT_OFFER("GOMP_task", task);
  CULPRIT_OFFER("GOMP_taskloop", taskloop, long);
  CULPRIT_OFFER("GOMP_taskloop_ull", taskloop, unsigned long long);
  CULPRIT_OFFER("GOMP_taskwait", taskwait);
  CULPRIT_OFFER("GOMP_taskwait_depend", taskwait_depend);
  CULPRIT_OFFER("GOMP_taskgroup_start", begin_taskgroup);
  CULPRIT_OFFER("GOMP_taskgroup_end", end_taskgroup);
  CULPRIT_OFFER("omp_fulfill_event", fulfill);
  CULPRIT_OFFER("omp_fulfill_event_", fulfill);
  match.note<"omp_get_level">();
  match.note<"omp_in_final">();
}

}  // namespace culprit::collector::openmp::gomp
