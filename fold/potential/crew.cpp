// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the time between two changes is worth. The division by the number of workers is done once
// for both potentials: F rises by as much as that of one idle thread, times the number of these.
#include "fold/potential/crew.h"

namespace culprit::fold {

void CrewSums::add(const CrewSums& other) {
  idle_ticks += other.idle_ticks;
  for (size_t i = 0; i < kNobodies; ++i) nobody_ticks[i] += other.nobody_ticks[i];
  earned += other.earned;
  handed += other.handed;
  early += other.early;
  rounded += other.rounded;
}

Wide CrewSums::gap() const {
  uint64_t somebody = idle_ticks;
  for (uint64_t ticks : nobody_ticks) somebody -= ticks;
  return (Wide{somebody} << kPotentialShift) - earned - handed - early - rounded;
}

Nobody Crew::reason() const {
  if (threads(Doing::mpi) > 0) return Nobody::mpi;
  if (threads(Doing::mutex) > 0) return Nobody::mutex;
  if (threads(Doing::device) > 0) return Nobody::device;
  return called_ > 0 ? Nobody::waking : Nobody::other;
}

uint64_t Crew::slope() const {
  constexpr unsigned kShift = 10;
  const uint64_t workers = threads(Doing::work) + handed_;
  return workers == 0 ? 0 : (idle_threads() << kShift) / workers;
}

void Crew::pass_by(uint64_t ticks) {
  const uint64_t idle = idle_threads(), workers = threads(Doing::work) + handed_;
  sums_.idle_ticks += ticks * idle;
  if (workers == 0) {
    idle_alone_ += ticks;
    sums_.nobody_ticks[static_cast<size_t>(reason())] += ticks * idle;
    return;
  }
  // What is left of a division goes into the next one. That of 128 bits is slow, and needed only
  // when for hours nothing has happened.
  const bool fits = ticks >> (63 - kPotentialShift) == 0;
  const Wide whole = (Wide{ticks} << kPotentialShift) + rest_;
  const Wide each = fits ? Wide{static_cast<uint64_t>(whole) / workers} : whole / workers;
  rest_ = static_cast<uint64_t>(whole - each * workers);
  of_one_ += each;
  if (idle == 0) return;
  potential_ += each * idle;
  sums_.handed += each * idle * handed_;
  sums_.rounded += ((Wide{ticks} << kPotentialShift) - each * workers) * idle;
}

void Crew::add_early(uint64_t ticks, uint64_t alone, Wide worked) {
  sums_.idle_ticks += ticks;
  sums_.nobody_ticks[static_cast<size_t>(Nobody::early)] += alone;
  sums_.early += worked;
  sums_.rounded += (Wide{ticks - alone} << kPotentialShift) - worked;
}

}  // namespace culprit::fold
