// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work of host threads for devices: calls of a device's runtime, with the operations that they
// submit and wait for.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "assemble/play/thread_state.h"

namespace culprit::assemble {

class DeviceRecords {
 public:
  explicit DeviceRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

  /// The thread's last record has been seen.
  void finish();

 private:
  void enter(const RawRecord& record);
  void leave(const RawRecord& record);
  void launch(const RawRecord& record);
  void wait(const RawRecord& record);
  void polls(const RawRecord& record);
  void start_up(const RawRecord& record);
  void start_up(Time begin, Time end);
  void tell_launch();
  /// Emits the time that the runtime took while it submitted the current operation.
  void tell_runtime_times();
  trace::OperationNumber made_room(const RuntimeTime& time) const;
  bool waits_for_device(const raw::device_wait& told, trace::DeviceWait& wait);
  bool waits_for_queue(const raw::device_wait& told, trace::DeviceWait& wait);
  bool waits_for_operation(const raw::device_wait& told, trace::DeviceWait& wait);
  void judged(bool is_known, bool confirmed);
  /// The runtime's own record of a call, if there is one.
  const DeviceCall* recorded(uint64_t number) const;
  uint32_t queue_of(uint32_t number) const;
  struct Call {
    RegionId region;
    bool begins_capture = false, ends_capture = false;
  };
  const Call& call(uint16_t name);
  bool is_captured(trace::OperationNumber operation) const;
  /// Whether the call at hand, which returned at `left`, did so when its own copy was done.
  bool waited_for_copy(Time left) const;
  bool is_in_call() const;
  trace::Paradigm paradigm_of_calls() const;

  ThreadState& state_;
  std::map<uint16_t, Call> calls_;
  bool captures_ = false;      ///< between calls that begin and end it
  std::optional<Time> since_;  ///< begin of the call whose enter comes next
  Time entered_;               ///< enter time of the current call
  /// A copy that the current call handed over, unless it is known to wait for it.
  trace::OperationNumber copied_ = trace::OperationNumber::none;
  /// The launch, emitted once its dependences, which follow it, are known.
  std::optional<trace::DeviceLaunch> launch_;
  Time launched_;
  std::vector<trace::OperationNumber> after_;
  trace::OperationNumber room_ = trace::OperationNumber::none;  ///< operation whose end made room
                                                                ///< for it
};

}  // namespace culprit::assemble
