// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/exports/tar.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/result.h"

namespace culprit::report {
namespace {

constexpr size_t kBlock = 512;

}  // namespace

void Tar::add(std::string_view name, std::string_view content) {
  CULPRIT_CHECK(name.size() <= 100 && content.size() < (uint64_t{8} << 30));
  std::string head(kBlock, '\0');
  const auto put = [&](size_t at, std::string_view text) { head.replace(at, text.size(), text); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");  // user
  put(116, "0000000");  // group
  put(124, fmt::format("{:011o}", content.size()));
  put(136, "00000000000");  // the same findings give the same file
  put(148, "        ");     // the sum counts itself as blanks
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  head[154] = '\0';
  archive_ += head;
  archive_ += content;
  archive_.resize((archive_.size() + kBlock - 1) / kBlock * kBlock);
}

std::string Tar::take() {
  archive_.resize(archive_.size() + 2 * kBlock);
  return std::move(archive_);
}

}  // namespace culprit::report
