// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Raw records to text (transcript.h). Abbreviations: c communicator, p peer, t tag, r request.

#include "transcript.h"

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

/// Empty if the record is no fact of an MPI call.
std::string fact(const RawRecord& record) {
  switch (record.kind()) {
    case RawKind::mpi_send:
      return "send " + message(record);
    case RawKind::mpi_recv:
      return "recv " + message(record);
    case RawKind::mpi_isend:
      return "isend " + message(record) + " r" + number(record.words.at(2));
    case RawKind::mpi_irecv:
      return "irecv " + message(record) + " r" + number(record.words.at(2));
    case RawKind::mpi_isend_done:
      return "sent r" + number(record.words.at(0));
    case RawKind::mpi_irecv_post:
      return "post r" + number(record.words.at(0));
    case RawKind::mpi_cancelled:
      return "cancelled r" + number(record.words.at(0));
    case RawKind::mpi_collective:
      return collective(record);
    case RawKind::mpi_icoll_post:
      return "begin r" + number(record.words.at(0));
    case RawKind::mpi_icoll:
      return collective(record) + " r" + number(record.words.at(3));
    case RawKind::mpi_comm_def:
      return definition(record);
    case RawKind::mpi_comm_free:
      return "free c" + number(record.header.arg);
    case RawKind::mpi_init_done:
      return "ready";
    case RawKind::mpi_finalized:
      return "finalized";
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> transcript(const RawThread& thread) {
  std::vector<std::string> lines;
  std::string open;
  for (const RawRecord& record : thread.records) {
    if (record.kind() == RawKind::mpi_enter) {
      if (!open.empty()) throw std::runtime_error("a call inside " + open);
      open = thread.string(record.header.flags);
      lines.push_back(open);
    } else if (record.kind() == RawKind::mpi_leave) {
      if (thread.string(record.header.flags) != open) throw std::runtime_error("not in " + open);
      open.clear();
    } else if (const std::string text = fact(record); !text.empty()) {
      if (open.empty()) throw std::runtime_error("outside any call: " + text);
      lines.back() += "; " + text;
    }
  }
  if (!open.empty()) throw std::runtime_error("never left: " + open);
  return lines;
}

}  // namespace culprit::tests
