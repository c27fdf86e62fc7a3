// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// gzip files may consist of several parts, one after the other (concatenated files, parallel
// packers): they are read as one.
#include "trace/imported/packed_file.h"

#include <zlib.h>

#include <array>
#include <utility>

namespace culprit::trace {
namespace {

constexpr unsigned char kMagic[] = {0x1f, 0x8b};
constexpr int kGzipOnly = 16;  // added to the window's bits: zlib's way to say so

}  // namespace

struct PackedFile::Unpacker {
  Unpacker() { ready = inflateInit2(&stream, MAX_WBITS + kGzipOnly) == Z_OK; }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() {
    if (ready) inflateEnd(&stream);
  }

  z_stream stream = {};
  bool ready = false;
  bool between_parts = true;
  std::array<unsigned char, size_t{1} << 16> packed;
};

PackedFile::PackedFile(RegularFile file) : file_(std::move(file)) {
  unsigned char head[sizeof kMagic] = {};
  const bool packed = file_.read_at(0, head, sizeof head) == sizeof head && head[0] == kMagic[0] &&
                      head[1] == kMagic[1];
  if (packed) unpacker_ = std::make_unique<Unpacker>();
}

PackedFile::PackedFile(PackedFile&&) noexcept = default;
PackedFile::~PackedFile() = default;

Result<PackedFile> PackedFile::open(const std::filesystem::path& file) {
  auto opened = open_regular_file(file, Owner::anybody);
  if (!opened) return Error{"'" + file.string() + "' cannot be opened for reading"};
  return PackedFile(std::move(*opened));
}

size_t PackedFile::read(char* to, size_t bytes) {
  if (unpacker_) return unpack(to, bytes);
  const size_t got = file_.read_at(at_, to, bytes);
  at_ += got;
  return got;
}

size_t PackedFile::unpack(char* to, size_t bytes) {
  Unpacker& unpacker = *unpacker_;
  damaged_ |= !unpacker.ready;
  if (damaged_) return 0;
  z_stream& stream = unpacker.stream;
  stream.next_out = reinterpret_cast<unsigned char*>(to);
  stream.avail_out = static_cast<uInt>(bytes);
  while (stream.avail_out == bytes) {
    if (stream.avail_in == 0) {
      stream.next_in = unpacker.packed.data();
      stream.avail_in =
          static_cast<uInt>(file_.read_at(at_, unpacker.packed.data(), unpacker.packed.size()));
      at_ += stream.avail_in;
      if (stream.avail_in == 0) {
        damaged_ |= !unpacker.between_parts;
        return 0;
      }
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    unpacker.between_parts = status == Z_STREAM_END;
    if (status == Z_STREAM_END) inflateReset(&stream);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      damaged_ = true;
      break;
    }
  }
  return bytes - stream.avail_out;
}

}  // namespace culprit::trace
