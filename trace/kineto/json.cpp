// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// RapidJSON calls the handler for each token and does not call itself for nested ones, so depth
// costs no stack. Numbers come as text: times have more digits than a double. Where the reader is
// in the document is a short list of places; all that is not looked for is passed over.
#include "trace/kineto/json.h"

#include <rapidjson/reader.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace culprit::trace {
namespace {

/// Deeper than any trace.
constexpr size_t kDeepest = 64;
/// Longer than any name. Only what is read between two tokens counts.
constexpr uint64_t kLongestToken = uint64_t{16} << 20;
constexpr int64_t kMost = int64_t{1} << 61;

/// A piece of the text at a time, as RapidJSON wants it. Ends early where a token is too long.
class TextStream {
 public:
  using Ch = char;

  explicit TextStream(PackedFile& file) : file_(file) { refill(); }

  Ch Peek() const { return at_ != end_ ? *at_ : '\0'; }
  Ch Take() {
    if (at_ == end_) return '\0';
    const Ch taken = *at_++;
    if (at_ == end_) refill();
    return taken;
  }
  size_t Tell() const { return static_cast<size_t>(read_ - static_cast<uint64_t>(end_ - at_)); }

  // For reading alone these are never called.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  size_t PutEnd(Ch*) { return 0; }

  void saw_token() { token_at_ = read_; }
  bool absurd() const { return absurd_; }
  bool at_end() const { return at_ == end_; }

 private:
  void refill() {
    absurd_ = absurd_ || read_ - token_at_ > kLongestToken;
    const size_t got = absurd_ ? 0 : file_.read(buffer_.data(), buffer_.size());
    read_ += got;
    at_ = buffer_.data();
    end_ = at_ + got;
  }

  PackedFile& file_;
  std::vector<char> buffer_ = std::vector<char>(size_t{1} << 18);
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  uint64_t read_ = 0, token_at_ = 0;
  bool absurd_ = false;
};

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// What a key of an event leads to.
enum class Field : uint8_t {
  none,
#define TEXT(key, member) member,
#define TIME(key, member) member,
#define NUMBER(key, member) member,
#define ARGUMENT_TEXT(key, member) member,
#define ARGUMENT_NUMBER(key, member) member,
#include "trace/kineto/fields.def"
};

using Fields = std::unordered_map<std::string_view, Field>;

const Fields& event_fields() {
  static const Fields kFields = {
#define TEXT(key, member) {key, Field::member},
#define TIME(key, member) {key, Field::member},
#define NUMBER(key, member) {key, Field::member},
#define ARGUMENT_TEXT(key, member)
#define ARGUMENT_NUMBER(key, member)
#include "trace/kineto/fields.def"
  };
  return kFields;
}

const Fields& argument_fields() {
  static const Fields kFields = {
#define TEXT(key, member)
#define TIME(key, member)
#define NUMBER(key, member)
#define ARGUMENT_TEXT(key, member) {key, Field::member},
#define ARGUMENT_NUMBER(key, member) {key, Field::member},
#include "trace/kineto/fields.def"
  };
  return kFields;
}

void set_text(KinetoEvent& event, Field field, std::string_view text) {
  switch (field) {
#define TEXT(key, member)      \
  case Field::member:          \
    event.member.assign(text); \
    return;
#define ARGUMENT_TEXT TEXT
#define TIME(key, member)
// Numbers may be written in quotes.
#define NUMBER(key, member)            \
  case Field::member:                  \
    event.member = whole_number(text); \
    return;
#define ARGUMENT_NUMBER NUMBER
#include "trace/kineto/fields.def"
    default:
      return;
  }
}

void set_number(KinetoEvent& event, Field field, std::string_view text) {
  switch (field) {
#define TEXT(key, member)
#define ARGUMENT_TEXT(key, member)
#define TIME(key, member)                 \
  case Field::member:                     \
    event.member = nanos_of_micros(text); \
    return;
#define NUMBER(key, member)            \
  case Field::member:                  \
    event.member = whole_number(text); \
    return;
#define ARGUMENT_NUMBER NUMBER
#include "trace/kineto/fields.def"
    default:
      return;
  }
}

/// The places of interest in the document.
enum class Place : uint8_t {
  document,
  root,
  events,
  event,
  arguments,
  distributed,
  devices,
  device,
  elsewhere
};

class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(TextStream& text, KinetoFacts& facts, const SeeKinetoEvent& see)
      : text_(text), facts_(facts), see_(see) {}

  bool Default() { return go_on(); }
  bool String(const char* value, rapidjson::SizeType length, bool) {
    take({value, length}, true);
    return go_on();
  }
  bool RawNumber(const char* value, rapidjson::SizeType length, bool) {
    take({value, length}, false);
    return go_on();
  }
  bool Key(const char* value, rapidjson::SizeType length, bool) {
    const std::string_view key(value, length);
    if (place() == Place::event || place() == Place::arguments) {
      const Fields& fields = place() == Place::event ? event_fields() : argument_fields();
      const auto found = fields.find(key);
      field_ = found != fields.end() ? found->second : Field::none;
      is_args_ = place() == Place::event && key == "args";
    } else if (place() != Place::elsewhere) {
      key_.assign(key);
    }
    return go_on();
  }
  bool StartObject() {
    switch (place()) {
      case Place::document:
        return enter(Place::root);
      case Place::events:
        event_.clear();
        return enter(Place::event);
      case Place::event:
        return enter(is_args_ ? Place::arguments : Place::elsewhere);
      case Place::root:
        return enter(key_ == "distributedInfo" ? Place::distributed : Place::elsewhere);
      case Place::devices:
        device_ = {};
        return enter(Place::device);
      default:
        return enter(Place::elsewhere);
    }
  }
  bool EndObject(rapidjson::SizeType) {
    stopped_ = place() == Place::event && !see_(event_);
    if (place() == Place::device && device_.id) facts_.devices[*device_.id] = device_.name;
    places_.pop_back();
    return go_on() && !stopped_;
  }
  bool StartArray() {
    const bool of_events =
        place() == Place::document || (place() == Place::root && key_ == "traceEvents");
    if (of_events) {
      facts_.has_events = true;
      return enter(Place::events);
    }
    const bool of_devices = place() == Place::root && key_ == "deviceProperties";
    return enter(of_devices ? Place::devices : Place::elsewhere);
  }
  bool EndArray(rapidjson::SizeType) {
    places_.pop_back();
    return go_on();
  }

  bool too_deep() const { return places_.size() > kDeepest; }
  bool stopped() const { return stopped_; }

 private:
  Place place() const { return places_.empty() ? Place::document : places_.back(); }
  bool enter(Place place) {
    places_.push_back(place);
    return go_on() && !too_deep();
  }
  bool go_on() {
    text_.saw_token();
    return true;
  }

  void take(std::string_view value, bool quoted) {
    switch (place()) {
      case Place::event:
      case Place::arguments:
        if (quoted) {
          set_text(event_, field_, value);
        } else {
          set_number(event_, field_, value);
        }
        return;
      case Place::root:
        return take_of_root(value);
      case Place::distributed:
        if (key_ == "rank") facts_.rank = whole_number(value);
        if (key_ == "world_size") facts_.world_size = whole_number(value);
        return;
      case Place::device:
        if (key_ == "id") device_.id = whole_number(value);
        if (key_ == "name") device_.name.assign(value);
        return;
      default:
        return;
    }
  }

  void take_of_root(std::string_view value) {
    if (key_ == "baseTimeNanoseconds") facts_.base_ns = whole_number(value);
    if (key_ == "host_name") facts_.host.assign(value);
    if (key_ == "traceName") facts_.trace_name.assign(value);
  }

  TextStream& text_;
  KinetoFacts& facts_;
  const SeeKinetoEvent& see_;
  std::vector<Place> places_;
  std::string key_;  ///< outside of events
  Field field_ = Field::none;
  bool is_args_ = false;
  bool stopped_ = false;
  KinetoEvent event_;
  struct {
    std::optional<int64_t> id;
    std::string name;
  } device_;
};

}  // namespace

void KinetoEvent::clear() {
  phase.clear();
  category.clear();
  name.clear();
  label.clear();
  collective.clear();
  group.clear();
  group_meaning.clear();
  group_ranks.clear();
  process = thread = begin = duration = {};
  correlation = device = context = stream = bytes = awaited_stream = recorded_by = {};
}

std::optional<int64_t> nanos_of_micros(std::string_view text) {
  constexpr int64_t kNanosOfMicro = 1000;
  int64_t micros = 0;
  const char* const end = text.data() + text.size();
  const bool negative = text.starts_with('-');
  auto [at, code] = std::from_chars(text.data(), end, micros);
  if (code == std::errc() && std::abs(micros) < kMost / kNanosOfMicro) {
    int64_t nanos = micros * kNanosOfMicro;
    if (at == end) return nanos;
    if (*at == '.') {
      int64_t unit = kNanosOfMicro / 10;
      int64_t fraction = 0;
      for (++at; at != end && *at >= '0' && *at <= '9'; ++at, unit /= 10) {
        fraction += (*at - '0') * unit;
      }
      if (at == end) return negative ? nanos - fraction : nanos + fraction;
    }
  }
  double value = 0;
  const auto whole = std::from_chars(text.data(), end, value);
  const bool good = whole.ec == std::errc() && whole.ptr == end && std::isfinite(value) &&
                    std::abs(value) < static_cast<double>(kMost) / kNanosOfMicro;
  if (!good) return {};
  return std::llround(value * kNanosOfMicro);
}

KinetoEnd read_kineto_json(PackedFile& file, KinetoFacts& facts, const SeeKinetoEvent& see) {
  TextStream text(file);
  Handler handler(text, facts, see);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseStopWhenDoneFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(text, handler);
  if (handler.stopped()) return KinetoEnd::stopped;
  if (text.absurd() || handler.too_deep()) return KinetoEnd::absurd;
  if (result.IsError() || file.damaged()) return KinetoEnd::damaged;
  return facts.has_events ? KinetoEnd::complete : KinetoEnd::no_trace;
}

}  // namespace culprit::trace
