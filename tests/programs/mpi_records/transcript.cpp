// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Raw records to text (transcript.h). Abbreviations: c communicator, p peer, t tag, r request, w
// window, f file.

#include "transcript.h"

#include <map>
#include <stdexcept>

namespace culprit::tests {

using trace::RawKind;

namespace {

const char* const kOperations[] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan",    "create",     "destroy",        "neighbor",
    "other"};

std::string number(uint64_t value) {
  return std::to_string(value);
}

std::string message(const RawRecord& record) {
  const auto peer = static_cast<int32_t>(record.words.at(0));
  const auto tag = static_cast<int32_t>(record.words.at(0) >> 32);
  return "c" + number(record.header.arg) + " p" + std::to_string(peer) + " t" +
         std::to_string(tag) + " " + number(record.words.at(1));
}

/// What a message is matched by, if not by its order; its number stands at `word`.
std::string matching(const RawRecord& record, size_t word) {
  if (record.header.flags == 0) return "";
  const bool probed = record.header.flags == static_cast<uint16_t>(trace::RawMatching::probed);
  return (probed ? " found " : " part ") + number(record.words.at(word));
}

/// Sets of ranks by number; spelt out where they are used.
using Sets = std::map<uint32_t, std::string>;

void define(Sets& sets, const RawRecord& record) {
  std::string& set = sets[record.header.arg];
  for (size_t i = 1; i < record.words.size(); i += 2) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((record.words[i + 1] >> bit & 1) == 0) continue;
      set += (set.empty() ? "" : " ") + number(record.words[i] * 64 + bit);
    }
  }
}

std::string partners(const RawRecord& record, size_t word, const Sets& sets) {
  if (record.words.size() <= word) return "";
  const auto sends_to = static_cast<uint32_t>(record.words[word]);
  const auto receives_from = static_cast<uint32_t>(record.words[word] >> 32);
  return (sends_to ? " to {" + sets.at(sends_to) + "}" : "") +
         (receives_from ? " from {" + sets.at(receives_from) + "}" : "");
}

std::string collective(const RawRecord& record) {
  std::string text = kOperations[record.header.flags];
  text += " c" + number(record.header.arg);
  const uint64_t root = record.words.at(0);
  if (root != ~uint64_t{0}) {
    text += " root " + number(static_cast<uint32_t>(root)) + (root >> 32 ? " (here)" : "");
  }
  return text + " " + number(record.words.at(1)) + "/" + number(record.words.at(2));
}

std::string ranks(const RawRecord& record, size_t first_word, size_t from, size_t count) {
  std::string text = "{";
  for (size_t i = from; i < from + count; ++i) {
    const uint64_t word = record.words.at(first_word + i / 2);
    const auto rank = static_cast<uint32_t>(i % 2 ? word >> 32 : word);
    text += (i == from ? "" : " ") + std::to_string(static_cast<int32_t>(rank));
  }
  return text + "}";
}

std::string definition(const RawRecord& record) {
  const size_t members = record.words.at(0) >> 32, remote = record.words.at(1);
  std::string text = "def c" + number(record.header.arg) + " of c" +
                     number(static_cast<uint32_t>(record.words.at(0))) + " origin " +
                     number(record.header.flags) + " " + ranks(record, 2, 0, members);
  return remote > 0 ? text + " to " + ranks(record, 2, members, remote) : text;
}

std::string target(uint64_t rank) {
  return rank == trace::kRawAllTargets ? "all" : "p" + number(rank);
}

/// What the caller promised: c check, s store, p put, b before, a after.
std::string promises(uint16_t set) {
  std::string text;
  for (int bit = 0; bit < 5; ++bit) {
    if (set >> bit & 1) text += "cspba"[bit];
  }
  return text.empty() ? "" : " no " + text;
}

std::string promises_above(uint16_t flags) {
  return promises(flags >> trace::kRawRmaAssertionsShift & 0x1f);
}

std::string window_fact(const RawRecord& record) {
  static const char* const kFlavors[] = {"created", "allocated", "shared", "dynamic"};
  static const char* const kEpochs[] = {"start", "complete", "post", "wait"};
  static const char* const kLocks[] = {"release", "share", "lock"};
  static const char* const kSyncs[] = {"memory", "notify_in", "notify_out", "flush", "flush_local"};
  static const char* const kOps[] = {"put",     "get", "accumulate", "", "",
                                     "compare", "",    "",           "", "fetch"};
  const uint16_t flags = record.header.flags;
  const std::string window = " w" + number(record.header.arg);
  switch (record.kind()) {
    case RawKind::rma_win_def:
      return std::string(kFlavors[flags]) + window + " of c" + number(record.words.at(0));
    case RawKind::rma_win_free:
      return "free" + window;
    case RawKind::rma_op:
      return kOps[flags] + window + " p" + number(record.words.at(0)) + " " +
             number(record.words.at(1)) + "/" + number(record.words.at(2)) +
             (record.words.size() > 3 ? " r" + number(record.words.at(3)) : "");
    case RawKind::rma_op_done:
      return "done" + window + " r" + number(record.words.at(0));
    case RawKind::rma_fence:
      return "fence" + window + promises(flags);
    case RawKind::rma_epoch:
      return kEpochs[flags & 0xf] + window + " " + ranks(record, 1, 0, record.words.at(0)) +
             promises_above(flags);
    case RawKind::rma_lock:
      return kLocks[flags & 0xf] + window + " " + target(record.words.at(0)) +
             promises_above(flags);
    case RawKind::rma_sync:
      return kSyncs[flags] + window + " " + target(record.words.at(0));
    default:
      return "";
  }
}

std::string transfer(const RawRecord& record) {
  namespace flag = trace::raw_file_op;
  const uint16_t flags = record.header.flags;
  std::string text = flags & flag::kFlush ? "flush" : flags & flag::kWrite ? "write" : "read";
  if (flags & flag::kCollective) text += " all";
  if (flags & flag::kSplit) text += " split";
  return text + " f" + number(record.header.arg);
}

std::string request(const RawRecord& record, size_t word) {
  return record.words.size() > word ? " r" + number(record.words[word]) : "";
}

std::string file_fact(const RawRecord& record) {
  switch (record.kind()) {
    case RawKind::file_def: {
      const std::string name(reinterpret_cast<const char*>(record.words.data() + 1),
                             record.words.at(0) >> 32);
      return "open f" + number(record.header.arg) + " of c" +
             number(static_cast<uint32_t>(record.words.at(0))) + " access " +
             number(record.header.flags) + " " + name.substr(name.rfind('/') + 1);
    }
    case RawKind::file_close:
      return "close f" + number(record.header.arg);
    case RawKind::file_op:
      return transfer(record) + " " + number(record.words.at(0)) + request(record, 1);
    case RawKind::file_op_issued:
      return "issued" + request(record, 0);
    case RawKind::file_op_done:
      return "moved " + number(record.words.at(0)) + request(record, 1);
    default:
      return "";
  }
}

/// Empty if the record is no fact of an MPI call.
std::string fact(const RawRecord& record, const Sets& sets) {
  switch (record.kind()) {
    case RawKind::mpi_send:
      return "send " + message(record);
    case RawKind::mpi_recv:
      return "recv " + message(record) + matching(record, 2);
    case RawKind::mpi_isend:
      return "isend " + message(record) + " r" + number(record.words.at(2)) + matching(record, 4);
    case RawKind::mpi_irecv:
      return "irecv " + message(record) + " r" + number(record.words.at(2)) + matching(record, 3);
    case RawKind::mpi_probe:
      return "probe " + message(record) +
             (record.words.at(2) ? " found " + number(record.words.at(2)) : "");
    case RawKind::mpi_part_init:
      return (record.header.flags ? "part " : "part from ") + number(record.words.at(2)) + " " +
             message(record);
    case RawKind::mpi_part_ready:
      return "ready r" + number(record.words.at(0));
    case RawKind::mpi_isend_done:
      return "sent r" + number(record.words.at(0));
    case RawKind::mpi_irecv_post:
      return "post r" + number(record.words.at(0));
    case RawKind::mpi_cancelled:
      return "cancelled r" + number(record.words.at(0));
    case RawKind::mpi_collective:
      return collective(record) + partners(record, 3, sets);
    case RawKind::mpi_icoll_post:
      return "begin r" + number(record.words.at(0));
    case RawKind::mpi_icoll:
      return collective(record) + " r" + number(record.words.at(3)) + partners(record, 4, sets);
    case RawKind::mpi_comm_def:
      return definition(record);
    case RawKind::mpi_comm_free:
      return "free c" + number(record.header.arg);
    case RawKind::mpi_init_done:
      return "ready";
    case RawKind::mpi_finalized:
      return "finalized";
    default:
      return record.kind() >= RawKind::file_def      ? file_fact(record)
             : record.kind() >= RawKind::rma_win_def ? window_fact(record)
                                                     : "";
  }
}

}  // namespace

std::vector<std::string> transcript(const RawThread& thread) {
  std::vector<std::string> lines;
  std::string open;
  Sets sets;
  for (const RawRecord& record : thread.records) {
    if (record.kind() == RawKind::mpi_rank_set || record.kind() == RawKind::mpi_rank_set_more) {
      define(sets, record);
    } else if (record.kind() == RawKind::mpi_enter) {
      if (!open.empty()) throw std::runtime_error("a call inside " + open);
      open = thread.string(record.header.flags);
      lines.push_back(open);
    } else if (record.kind() == RawKind::mpi_leave) {
      if (thread.string(record.header.flags) != open) throw std::runtime_error("not in " + open);
      open.clear();
    } else if (const std::string text = fact(record, sets); !text.empty()) {
      if (open.empty()) throw std::runtime_error("outside any call: " + text);
      lines.back() += "; " + text;
    }
  }
  if (!open.empty()) throw std::runtime_error("never left: " + open);
  return lines;
}

}  // namespace culprit::tests
