// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Target constructs as work of the host: libgomp's calls from begin to end. Without a device, the
// host executes the region in the call, with all that is in it.
#include <cstddef>

#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"

namespace culprit::collector::openmp::gomp {

namespace {

using Body = void(void*);

constexpr unsigned kNowait = 1U << 0, kExit = 1U << 1;  // libgomp's flags

/// A construct lasts as long as this object.
class Construct {
 public:
  Construct(ompt_target_t kind, int device, const void* code, unsigned flags = 0)
      : kind_(static_cast<ompt_target_t>(kind | ((flags & kNowait) != 0 ? 8 : 0))),
        device_(device),
        code_(code) {
    tell(ompt_scope_begin);
  }
  ~Construct() { tell(ompt_scope_end); }
  Construct(const Construct&) = delete;
  Construct& operator=(const Construct&) = delete;

 private:
  void tell(ompt_scope_endpoint_t endpoint) {
    g_events.target(kind_, endpoint, device_, nullptr, nullptr, nullptr, code_);
  }
  ompt_target_t kind_;
  int device_;
  const void* code_;
};

template <Name name>
void target(int device, Body* body, size_t count, void** hosts, size_t* sizes,
            unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  const Construct construct(ompt_target, device, __builtin_return_address(0), flags);
  real<name, void(int, Body*, size_t, void**, size_t*, unsigned short*, unsigned, void**,
                  void**)>()(device, body, count, hosts, sizes, kinds, flags, depend, arguments);
}

template <Name name>
void update(int device, size_t count, void** hosts, size_t* sizes, unsigned short* kinds,
            unsigned flags, void** depend) {
  const Construct construct(ompt_target_update, device, __builtin_return_address(0), flags);
  real<name, void(int, size_t, void**, size_t*, unsigned short*, unsigned, void**)>()(
      device, count, hosts, sizes, kinds, flags, depend);
}

template <Name name>
void enter_exit(int device, size_t count, void** hosts, size_t* sizes, unsigned short* kinds,
                unsigned flags, void** depend) {
  const auto kind = (flags & kExit) != 0 ? ompt_target_exit_data : ompt_target_enter_data;
  const Construct construct(kind, device, __builtin_return_address(0), flags);
  real<name, void(int, size_t, void**, size_t*, unsigned short*, unsigned, void**)>()(
      device, count, hosts, sizes, kinds, flags, depend);
}

/// The begin and the end of a region with data on the device; the code in it is the program's.
template <Name name>
void begin_data(int device, size_t count, void** hosts, size_t* sizes, unsigned short* kinds) {
  const Construct construct(ompt_target_enter_data, device, __builtin_return_address(0));
  real<name, void(int, size_t, void**, size_t*, unsigned short*)>()(device, count, hosts, sizes,
                                                                    kinds);
}

template <Name name>
void end_data() {
  constexpr int kUnknown = -1;
  const Construct construct(ompt_target_exit_data, kUnknown, __builtin_return_address(0));
  real<name, void()>()();
}

}  // namespace

void offer_targets(Match& match) {
  CULPRIT_OFFER("GOMP_target_ext", target);
  CULPRIT_OFFER("GOMP_target_update_ext", update);
  CULPRIT_OFFER("GOMP_target_enter_exit_data", enter_exit);
  CULPRIT_OFFER("GOMP_target_data_ext", begin_data);
  CULPRIT_OFFER("GOMP_target_end_data", end_data);
}

}  // namespace culprit::collector::openmp::gomp
