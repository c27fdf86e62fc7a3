// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Walks over messages and collectives, and keeps those that contradict the clocks or nearly do: a
// repair can put only these in the wrong order.
#include "replay/clock/evidence.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "base/flat_map.h"
#include "base/ranks/exchange.h"
#include "replay/match/collective_shapes.h"
#include "replay/match/messages.h"

namespace culprit::replay {

namespace {

/// The state that the visitors of messages and of collectives share.
class Witness {
 public:
  Witness(const Run& run, const std::vector<ClockId>& clock_of, Duration slack)
      : run_(run), clock_of_(clock_of), slack_(slack) {}

  const Run& run() const { return run_; }
  ClockId clock(LocationId id) const { return clock_of_[run_.location(id).process.index()]; }
  /// Returns whether wrong clocks may have changed the order of these two times.
  bool matters(Time begin, Time end) const { return end - begin < slack_ || end < begin; }

 private:
  const Run& run_;
  const std::vector<ClockId>& clock_of_;
  Duration slack_;
};

class MessageWitness final : public MessageVisitor {
 public:
  MessageWitness(const Witness& witness, Precedence& out) : witness_(witness), out_(out) {}

  void visit(const MatchedMessage& message) override {
    const CallRef receipt = receipt_of(message);
    const Time sent = message.sent.met.enter, received = witness_.run().call(receipt).leave;
    if (!witness_.matters(sent, received)) return;
    out_.message(witness_.clock(message.sent.met_at), sent, witness_.clock(receipt.location),
                 received);
  }

 private:
  /// A matched probe has seen the message already.
  CallRef receipt_of(const MatchedMessage& message) const {
    if (message.recv.rare) {
      const CallRef probe = witness_.run().at(message.receiver).rare_recvs.at(message.op).met;
      if (probe.valid()) return probe;
    }
    return witness_.run().ref(message.receiver, message.recv.completed);
  }

  const Witness& witness_;
  Precedence& out_;
};

class CollectiveWitness final : public OperationVisitor {
 public:
  CollectiveWitness(const Witness& witness, const CollectiveShapes& shapes, Precedence& out)
      : witness_(witness), shapes_(shapes), out_(out) {}

  void visit(std::span<const Part> parts) override {
    const CollectiveKind kind = shapes_.of(parts);
    if (kind.may_leave_early) return;
    switch (kind.shape) {
      case Shape::barrier:
      case Shape::all_to_all:
        if (parts[0].op->op != trace::CollectiveOp::create_handle &&
            CollectiveShapes::sparse(parts)) {
          return visit_sparse(parts);
        }
        return visit_all(parts);
      case Shape::neighbors:
        return visit_sparse(parts);
      case Shape::one_to_all:
      case Shape::all_to_one:
        return visit_rooted(parts);
      case Shape::prefix:
        return visit_prefix(parts);
      case Shape::fence:
      case Shape::none:
        return;
    }
  }

 private:
  using Parts = std::vector<const Part*>;

  bool matters(const Part& giver, const Part& taker) const {
    return witness_.matters(giver.posted.enter, taker.completed.leave);
  }
  void begins(ExchangeId exchange, const Part& part) {
    out_.begins(exchange, witness_.clock(part.posted_by), part.posted.enter);
  }
  void ends(ExchangeId exchange, const Part& part) {
    out_.ends(exchange, witness_.clock(part.location), part.completed.leave);
  }
  void pair(const Part& giver, const Part& taker) {
    if (&giver == &taker || !matters(giver, taker) || !shapes_.gives(giver, taker)) return;
    const ExchangeId exchange = out_.add_exchange();
    begins(exchange, giver);
    ends(exchange, taker);
  }

  /// Records that each of the takers waits for all givers.
  void meet(const Parts& givers, const Parts& takers) {
    if (givers.empty() || takers.empty()) return;
    const Part& last = **std::max_element(
        givers.begin(), givers.end(),
        [](const Part* a, const Part* b) { return a->posted.enter < b->posted.enter; });
    const Part& first = **std::min_element(
        takers.begin(), takers.end(),
        [](const Part* a, const Part* b) { return a->completed.leave < b->completed.leave; });
    if (!matters(last, first)) return;
    const ExchangeId exchange = out_.add_exchange();
    for (const Part* giver : givers) {
      if (matters(*giver, first)) begins(exchange, *giver);
    }
    for (const Part* taker : takers) {
      if (matters(last, *taker)) ends(exchange, *taker);
    }
  }

  void visit_all(std::span<const Part> parts) {
    givers_[0].clear();
    for (const Part& part : parts) givers_[0].push_back(&part);
    meet(givers_[0], givers_[0]);
  }

  /// A part that names its sources waits for these; the others wait for all parts (on an
  /// inter-communicator, for all of the other group).
  void visit_sparse(std::span<const Part> parts) {
    place_of_.clear();
    for (auto* lists : {&givers_, &takers_}) {
      for (Parts& list : *lists) list.clear();
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const ProcessId process = witness_.run().location(parts[i].location).process;
      place_of_.set(process.index(), static_cast<uint32_t>(i));
      givers_[static_cast<size_t>(parts[i].side)].push_back(&parts[i]);
    }
    for (const Part& taker : parts) {
      if (const std::vector<ProcessId>* few = shapes_.givers(taker)) {
        for (ProcessId process : *few) {
          const uint32_t place = place_of_.find(process.index());
          if (place != FlatMap::kNone) pair(parts[place], taker);
        }
      } else if (taker.op->op != trace::CollectiveOp::neighbor) {
        takers_[static_cast<size_t>(taker.side)].push_back(&taker);
      }
    }
    const auto of = [](Side side) { return static_cast<size_t>(side); };
    meet(givers_[of(Side::whole)], takers_[of(Side::whole)]);
    meet(givers_[of(Side::first)], takers_[of(Side::second)]);
    meet(givers_[of(Side::second)], takers_[of(Side::first)]);
  }

  void visit_rooted(std::span<const Part> parts) {
    const Part* root = CollectiveShapes::root_of(parts);
    if (root == nullptr) return;
    const bool from_root = shapes_.of(parts).shape == Shape::one_to_all;
    for (const Part& part : parts) from_root ? pair(*root, part) : pair(part, *root);
  }

  void visit_prefix(std::span<const Part> parts) {
    const Part* last = &parts[0];
    bool any = false;
    for (const Part& part : parts) {
      if (part.posted.enter > last->posted.enter) last = &part;
      any = any || matters(*last, part);
    }
    if (!any) return;
    ExchangeId before;
    for (const Part& part : parts) {
      if (before.valid()) ends(before, part);
      const ExchangeId next = out_.add_exchange();
      begins(next, part);
      if (before.valid()) out_.follows(before, next);
      before = next;
    }
  }

  const Witness& witness_;
  const CollectiveShapes& shapes_;
  Precedence& out_;
  std::array<Parts, 3> givers_, takers_;  // by Side
  FlatMap place_of_;                      // by process, its index among the parts
};

/// A part as one rank sends it to all others.
struct ToldPart {
  size_t number;
  std::vector<Precedence::Exchange> exchanges;
  std::vector<Precedence::Point> points;
};

std::vector<ToldPart> share(Transport& ranks, std::vector<Precedence> parts) {
  Packer own;
  for (size_t number = 0; number < parts.size(); ++number) {
    const Precedence part = std::exchange(parts[number], {});
    if (part.points().empty()) continue;
    own.put(number);
    own.put_list<Precedence::Exchange>(part.exchanges());
    own.put_list<Precedence::Point>(part.points());
  }
  std::vector<ToldPart> all;
  for (const Parcel& parcel : gather_everywhere(ranks, own.take())) {
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      ToldPart& told = all.emplace_back();
      told.number = unpacker.get<size_t>();
      told.exchanges = unpacker.get_list<Precedence::Exchange>();
      told.points = unpacker.get_list<Precedence::Point>();
    }
  }
  std::sort(all.begin(), all.end(),
            [](const ToldPart& a, const ToldPart& b) { return a.number < b.number; });
  return all;
}

/// Joins the parts of all ranks, in the parts' order; each part was filled by one rank and is empty
/// on the others.
Precedence join(Transport& ranks, std::vector<Precedence> parts) {
  Precedence all;
  if (ranks.alone()) {
    for (Precedence& one : parts) {
      const Precedence part = std::exchange(one, {});
      all.append(part.exchanges(), part.points());
    }
  } else {
    for (ToldPart& told : share(ranks, std::move(parts))) {
      all.append(told.exchanges, told.points);
      told = {};
    }
  }
  return all;
}

}  // namespace

Precedence gather_precedence(const Run& run, const std::vector<ClockId>& clock_of, Duration slack,
                             unsigned threads) {
  const Witness witness(run, clock_of, slack);
  const CollectiveShapes shapes(run);
  Losses told_elsewhere;  // discarded: the detectors match again and count the same losses
  std::vector<Precedence> by_receiver(run.definitions->processes.size()), by_share;
  match_messages(
      run, threads,
      [&](ProcessId process) {
        return std::make_unique<MessageWitness>(witness, by_receiver[process.index()]);
      },
      told_elsewhere);
  match_collectives(run, threads,
                    {[&](size_t shares) { by_share.resize(shares); },
                     [&](size_t share) {
                       return std::make_unique<CollectiveWitness>(witness, shapes, by_share[share]);
                     }},
                    told_elsewhere);
  std::vector<Precedence> parts = std::move(by_receiver);
  std::move(by_share.begin(), by_share.end(), std::back_inserter(parts));
  return join(*run.ranks, std::move(parts));
}

}  // namespace culprit::replay
