// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "windows.h"

#include <memory>

namespace culprit::tests {

std::string record(trace::RawKind kind, uint64_t time, const std::vector<uint64_t>& words,
                   uint32_t arg, uint16_t flags) {
  const trace::RawHeader header{time, arg, flags, static_cast<uint8_t>(words.size()), kind};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t));
}

std::vector<std::string> blocks_of(const std::string& records, uint64_t window, uint64_t start,
                                   uint32_t log, uint32_t window_bytes) {
  const auto packer = std::make_unique<trace::RawPacker>();
  const trace::RawPacker::Window all = {records.data(), records.size(), window_bytes, window,
                                        trace::raw_block_seed(start, log)};
  std::vector<std::string> blocks;
  for (size_t begin = 0; begin < records.size();) {
    begin = packer->pack(all, begin);
    blocks.emplace_back(packer->block().data(), packer->block().size());
  }
  return blocks;
}

}  // namespace culprit::tests
