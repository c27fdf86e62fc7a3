// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "raw_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "trace/raw/seal.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

/// Each function has this much room; a byte of it is a line.
constexpr uint64_t kFunctionSize = 0x1000;
constexpr uint64_t kModuleSize = 0x1000000;

struct FakeModule {
  uint64_t begin;
  const char* path;
};
constexpr FakeModule kProgram{0x10000000, "/fake/app"};
constexpr FakeModule kOpenmp{0x20000000, "/fake/libomp.so.5"};
constexpr FakeModule kLibc{0x30000000, "/fake/libc.so.6"};

const FakeModule& module_of(std::string_view function) {
  if (function.starts_with("__kmp")) return kOpenmp;
  if (function.starts_with("libc:")) return kLibc;
  return kProgram;
}

void write_file(const std::filesystem::path& file, const void* data, size_t size) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

uint64_t FakeCode::at(std::string_view function, uint32_t line) {
  auto known = std::find(functions_.begin(), functions_.end(), function);
  if (known == functions_.end()) known = functions_.insert(functions_.end(), std::string(function));
  const auto index = static_cast<uint64_t>(known - functions_.begin());
  // A return address lies behind the call.
  return module_of(function).begin + index * kFunctionSize + line + 1;
}

std::string FakeCode::maps() const {
  std::string maps;
  for (const FakeModule& module : {kProgram, kOpenmp, kLibc}) {
    maps += fmt::format("{:x}-{:x} r-xp 00000000 08:01 42                 {}\n", module.begin,
                        module.begin + kModuleSize, module.path);
  }
  return maps;
}

SymbolSource FakeCode::symbols() const {
  return [functions = functions_](const std::string& path, std::span<const OpenPlace> places) {
    for (const auto& [offset, place] : places) {
      Symbol& symbol = *place;
      const uint64_t index = offset / kFunctionSize;
      std::string name = index < functions.size() ? functions[index] : "?nothing";
      symbol.named = name.front() != '?';
      if (name.starts_with("libc:")) name = name.substr(5);
      symbol.module = path.substr(path.rfind('/') + 1);
      symbol.address = offset;
      symbol.into_function = offset % kFunctionSize;
      symbol.frames.push_back({symbol.named ? name : symbol.module + "+" + name.substr(1), "", 0});
      symbol.program = name == "MAIN__";
      if (symbol.named) {
        symbol.file = "app.c";
        symbol.line = static_cast<uint32_t>(symbol.into_function);
      }
    }
  };
}

namespace {

/// Lays records into windows as the collector does.
class Windows {
 public:
  Windows(uint64_t start_ticks, uint32_t log) : start_ticks_(start_ticks), log_(log) {}

  void add(std::string_view record) {
    const size_t end = used_.size() + record.size();
    if (end + sizeof(trace::RawHeader) > kLimit && end != kLimit) finish_window();
    used_ += record;
  }

  std::string take() {
    seal(trace::kRawEndOfLog);
    return std::move(whole_);
  }

 private:
  static constexpr size_t kLimit = trace::kRawWindow - trace::kRawSealBytes;

  void finish_window() {
    constexpr size_t kMostWords = 253;
    while (used_.size() < kLimit) {
      const size_t words =
          std::min((kLimit - used_.size() - sizeof(trace::RawHeader)) / 8, kMostWords);
      const trace::RawHeader pad{0, 0, 0, static_cast<uint8_t>(words), RawKind::pad};
      used_.append(reinterpret_cast<const char*>(&pad), sizeof pad);
      used_.resize(used_.size() + words * 8);
    }
    seal(0);
  }

  void seal(uint16_t flags) {
    const size_t words = used_.size() / 8;
    const uint64_t seal = trace::raw_seal(trace::raw_sum(used_.data(), words),
                                          trace::raw_seed(start_ticks_, log_, window_++), words);
    const trace::RawHeader header{0, static_cast<uint32_t>(used_.size()), flags, 1, RawKind::seal};
    whole_ += used_;
    whole_.append(reinterpret_cast<const char*>(&header), sizeof header);
    whole_.append(reinterpret_cast<const char*>(&seal), sizeof seal);
    used_.clear();
  }

  uint64_t start_ticks_;
  uint32_t log_;
  uint64_t window_ = 0;
  std::string used_;
  std::string whole_;
};

}  // namespace

std::string sealed(const std::string& records, uint64_t start_ticks, uint32_t log) {
  Windows windows(start_ticks, log);
  for (size_t at = 0; at < records.size();) {
    trace::RawHeader header{};
    std::memcpy(&header, records.data() + at, std::min(sizeof header, records.size() - at));
    // What is no record any more is taken for one.
    const size_t bytes = std::min(sizeof header + header.words * 8, records.size() - at);
    std::string record = records.substr(at, bytes);
    record.resize((bytes + 7) / 8 * 8);
    windows.add(record);
    at += bytes;
  }
  return windows.take();
}

RawThread::~RawThread() {
  const std::string whole = sealed(bytes_, process_.process.start_ticks, number_);
  write_file(file_, whole.data(), whole.size());
}

void RawThread::append(const void* data, size_t size) {
  bytes_.append(static_cast<const char*>(data), size);
}

RawThread& RawThread::put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg,
                          const std::vector<uint64_t>& words) {
  const trace::RawHeader header{kTicksAtZero + time, arg, flags, static_cast<uint8_t>(words.size()),
                                kind};
  append(&header, sizeof header);
  append(words.data(), words.size() * sizeof(uint64_t));
  return *this;
}

uint32_t RawThread::path(const std::vector<std::string>& functions) {
  uint32_t at = 0;
  for (const std::string& function : functions) {
    const uint64_t address = process_.code.at(function);
    const auto [it, added] =
        paths_.try_emplace({at, address}, static_cast<uint32_t>(paths_.size() + 1));
    if (added) put(RawKind::path_def, 0, 0, it->second, {at, address});
    at = it->second;
  }
  return at;
}

uint16_t RawThread::name(std::string_view call) {
  const auto known = names_.find(call);
  if (known != names_.end()) return known->second;
  const auto id = static_cast<uint16_t>(names_.size() + 1);
  names_.emplace(call, id);
  std::vector<uint64_t> words((call.size() + 7) / 8);
  std::memcpy(words.data(), call.data(), call.size());
  put(RawKind::string_def, 0, static_cast<uint16_t>(call.size()), id, words);
  return id;
}

RawThread& RawThread::enter(uint64_t time, std::string_view call,
                            const std::vector<std::string>& functions) {
  const uint16_t id = name(call);
  return put(RawKind::mpi_enter, time, id, path(functions));
}

RawThread& RawThread::leave(uint64_t time, std::string_view call) {
  return put(RawKind::mpi_leave, time, name(call));
}

RawThread& RawThread::begin_user(uint64_t time, trace::RawUserRegion kind, std::string_view called,
                                 const std::vector<std::string>& functions, int64_t number) {
  const uint16_t id = name(called);
  return put(RawKind::user_enter, time, id, path(functions),
             {static_cast<uint64_t>(kind), static_cast<uint64_t>(number)});
}

RawThread& RawThread::end_user(uint64_t time, trace::RawUserRegion kind, std::string_view called) {
  return put(RawKind::user_leave, time, name(called), static_cast<uint32_t>(kind));
}

RawThread& RawThread::blocked(uint64_t time, uint64_t until, std::string_view call,
                              const std::vector<std::string>& functions, std::string_view file) {
  const uint16_t id = call.empty() ? 0 : name(call);
  uint64_t number = 0;
  if (!file.empty()) number = file == "?" ? trace::kRawNamelessFile : name(file);
  return put(RawKind::blocked, time, id, path(functions),
             {kTicksAtZero + until, 0, 0, number, number != 0 ? uint64_t{4096} : 0});
}

RawThread& RawThread::asleep(uint64_t tid, uint64_t from, uint64_t seen, uint64_t until,
                             std::string_view call, const std::vector<std::string>& functions,
                             std::string_view file) {
  const uint16_t id = call.empty() ? 0 : name(call);
  uint64_t number = 0;
  if (!file.empty()) number = file == "?" ? trace::kRawNamelessFile : name(file);
  return put(RawKind::seen_asleep, until, id, path(functions),
             {tid, kTicksAtZero + from, kTicksAtZero + seen, kTicksAtZero + until, number});
}

RawThread& RawThread::awaited(uint64_t time, uint64_t until, std::string_view call,
                              const std::vector<std::string>& functions, uint64_t object) {
  const uint16_t id = call.empty() ? 0 : name(call);
  return put(RawKind::blocked, time, id, path(functions), {kTicksAtZero + until, object, 0, 0, 0});
}

RawThread& RawThread::woke(uint64_t time, uint64_t object) {
  return put(RawKind::woke, time, 0, 0, {object});
}

RawThread& RawThread::send(uint64_t time, uint32_t peer, uint64_t bytes, uint32_t comm) {
  return put(RawKind::mpi_send, time, 0, comm, {peer | uint64_t{7} << 32, bytes});
}

RawThread& RawThread::recv(uint64_t time, uint32_t peer, uint64_t bytes, uint32_t comm) {
  return put(RawKind::mpi_recv, time, 0, comm, {peer | uint64_t{7} << 32, bytes});
}

RawThread& RawThread::sample(uint64_t time, const std::vector<std::string>& functions) {
  return put(RawKind::sample, time, 1, path(functions));
}

RawThread& RawThread::fork(uint64_t time, uint64_t region,
                           const std::vector<std::string>& functions, uint64_t code) {
  return put(RawKind::omp_parallel_begin, time, 0, path(functions), {region, code});
}

RawThread& RawThread::join(uint64_t time, uint64_t region) {
  return put(RawKind::omp_parallel_end, time, 0, 0, {region});
}

RawThread& RawThread::begin(uint64_t time, uint64_t region, uint32_t size, uint32_t index) {
  return put(RawKind::omp_implicit_begin, time, 0, 0, {region, size | uint64_t{index} << 32});
}

RawThread& RawThread::end(uint64_t time, uint64_t region) {
  return put(RawKind::omp_implicit_end, time, 0, 0, {region});
}

RawThread& RawThread::sync(uint64_t time, uint16_t kind, uint64_t region, uint64_t code) {
  return put(RawKind::omp_sync_begin, time, kind, 0, {code, region});
}

RawThread& RawThread::sync_end(uint64_t time, uint16_t kind, uint64_t region) {
  return put(RawKind::omp_sync_end, time, kind, 0, {0, region});
}

RawProcessBuilder::RawProcessBuilder(std::filesystem::path folder, FakeCode& fake_code)
    : code(fake_code), folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  process.magic = trace::kRawMagic;
  process.version = trace::kRawVersion;
  process.clock = trace::RawClock::monotonic_ns;
  process.world_rank = -1;
  process.world_size = -1;
  process.start_ticks = kTicksAtZero;
  process.first = {kTicksAtZero, kRealtimeAtZero, kTicksAtZero};
  process.last = {kTicksAtZero + 1000, kRealtimeAtZero + 1000, kTicksAtZero + 1000};
  std::strcpy(process.host, "node1");
  std::strcpy(process.boot_id, "b007");
  std::strcpy(process.executable, "/opt/app");
  std::strcpy(process.command, "./app input");
}

RawProcessBuilder::~RawProcessBuilder() {
  process.last_sum = trace::raw_sum_of_all(process.last);
  const auto file = std::make_unique<trace::RawProcessFile>();
  file->now = process;
  file->snapshots[1].process = process;
  file->snapshots[1].number = 1;
  file->snapshots[1].sum = trace::sum_of_snapshot(file->snapshots[1]);
  write_file(folder_ / "process", file.get(), sizeof *file);
  const std::string maps = code.maps();
  write_file(folder_ / "maps.0", maps.data(), maps.size());
}

RawThread& RawProcessBuilder::thread(uint32_t number) {
  auto [it, added] = by_number_.try_emplace(number, nullptr);
  if (added) {
    it->second = &threads_.emplace_back(*this, folder_ / fmt::format("events.{}", number), number);
    ++process.logs;
  }
  return *it->second;
}

RawProcessBuilder& RawProcessBuilder::rank(int32_t rank, int32_t size) {
  process.world_rank = rank;
  process.world_size = size;
  process.finalized = 1;
  return *this;
}

RawProcessBuilder& RawProcessBuilder::ended(uint64_t time) {
  process.ended = 1;
  process.end_ticks = kTicksAtZero + time;
  return *this;
}

RawProcessBuilder& RawProcessBuilder::started(uint64_t time) {
  process.start_ticks = kTicksAtZero + time;
  process.first = {kTicksAtZero + time, kRealtimeAtZero + time, kTicksAtZero + time};
  return *this;
}

}  // namespace culprit::assemble::test
