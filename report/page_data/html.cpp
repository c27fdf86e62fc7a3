// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Data stand in the page as base64 within a script of a type that no browser executes: the letters
// of base64 end no script, so nothing in a run's names can be markup.

#include "report/page_data/html.h"

#include <zlib.h>

// template.S has the built template between these.
extern "C" const char culprit_page_template[];
extern "C" const char culprit_page_template_end[];

namespace culprit::report {
namespace {

/// The place of the data in the template.
constexpr std::string_view kPlace = "@culprit-data@";

std::string base64(std::string_view data) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((data.size() + 2) / 3 * 4);
  for (size_t i = 0; i < data.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < data.size() ? static_cast<unsigned char>(data[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += i + k > data.size() ? '=' : kLetters[bits >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

}  // namespace

Result<std::string> gzip(std::string_view data) {
  z_stream stream{};
  constexpr int kLevel = 6, kGzip = 15 + 16, kMemory = 8;
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{"out of memory: the page cannot be compressed"};
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = data.size() <= UINT32_MAX && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (!whole) return Error{"the run is too large for a page"};
  return out;
}

Result<std::string> html_page(std::string_view packed) {
  const std::string_view page(culprit_page_template, static_cast<size_t>(culprit_page_template_end -
                                                                         culprit_page_template));
  const size_t place = page.find(kPlace);
  CULPRIT_CHECK(place != std::string_view::npos);
  const auto data = gzip(packed);
  if (!data) return data.error();
  std::string html(page.substr(0, place));
  html += base64(*data);
  html += page.substr(place + kPlace.size());
  return html;
}

}  // namespace culprit::report
