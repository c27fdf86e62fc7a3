// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See loopback.h. Boost.Beast parses what comes in, and one thread looks after all connections and
// waits for none of them. Whatever goes wrong on a connection ends that connection alone.

#include "cli/serve/loopback.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <csignal>
#include <list>
#include <memory>
#include <optional>

namespace culprit::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Failure = beast::error_code;

constexpr size_t kMostHead = 16 << 10;
constexpr size_t kMostConnections = 64;
constexpr int kBacklog = 16;
/// For a whole request to come in, and for each time that the client takes more of the answer.
constexpr std::chrono::seconds kPatience{10};

/// Takes the same time whatever the difference.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    const size_t equals = std::min(part.find('='), part.size());
    query[decoded(part.substr(0, equals))] =
        decoded(part.substr(std::min(equals + 1, part.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return query;
}

using Head = http::request<http::empty_body>;

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

/// Whether the only host named is the loopback interface: another name may be an attempt to get
/// here from a page elsewhere.
bool names_loopback(const Head& head, uint16_t port) {
  const auto [first, last] = head.equal_range(http::field::host);
  if (first == last || std::next(first) != last) return false;
  const std::string_view host = view_of(first->value());
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

using Answer = http::response<http::string_body>;

Answer refusal(http::status status) {
  Answer answer(status, 11);
  answer.set(http::field::content_type, "text/plain");
  answer.body() = "use the address that culprit view has printed\n";
  return answer;
}

/// What all connections have in common.
struct Service {
  uint16_t port;
  std::string_view token;
  const WebHandler& handler;

  Answer answer_to(const Head& head) const {
    const std::string_view target = view_of(head.target());
    if (head.method() != http::verb::get || !target.starts_with('/')) {
      return refusal(http::status::bad_request);
    }
    const size_t question = std::min(target.find('?'), target.size());
    const WebRequest request{decoded(target.substr(0, question)),
                             parse_query(target.substr(std::min(question + 1, target.size())))};
    const auto given = request.query.find("token");
    if (!names_loopback(head, port) || given == request.query.end() ||
        !same_secret(given->second, token)) {
      return refusal(http::status::forbidden);
    }
    WebAnswer found = handler(request);
    Answer answer(http::int_to_status(static_cast<unsigned>(found.status)), 11);
    answer.set(http::field::content_type, found.type);
    answer.body() = std::move(found.body);
    return answer;
  }
};

/// The head of a request comes in, then the answer goes out. Lives as long as either is awaited.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Service& service)
      : stream_(std::move(socket)), service_(service) {}

  void start() {
    parser_.header_limit(kMostHead);
    stream_.expires_after(kPatience);
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](const Failure& failure, size_t) { self->read(failure); });
  }

  void end() { stream_.close(); }

 private:
  void read(const Failure& failure) {
    if (failure) return;  // no HTTP, too much of it, or too slowly
    answer_ = service_.answer_to(parser_.get());
    answer_.set(http::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    answer_.set("Referrer-Policy", "no-referrer");
    answer_.keep_alive(false);
    answer_.prepare_payload();
    serializer_.emplace(answer_);
    write();
  }

  void write() {
    stream_.expires_after(kPatience);
    http::async_write_some(stream_, *serializer_,
                           [self = shared_from_this()](const Failure& failure, size_t) {
                             if (!failure && !self->serializer_->is_done()) self->write();
                           });
  }

  beast::tcp_stream stream_;
  const Service& service_;
  beast::flat_buffer buffer_{kMostHead};
  http::request_parser<http::empty_body> parser_;
  Answer answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
};

/// Takes in all who connect. Of too many, those who came first have to go.
class Listener {
 public:
  explicit Listener(asio::io_context& context) : acceptor_(context) {}

  Failure listen(uint16_t port) {
    Failure failure;
    acceptor_.open(tcp::v4(), failure);
    if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor_.bind({asio::ip::address_v4::loopback(), port}, failure);
    if (!failure) acceptor_.listen(kBacklog, failure);
    return failure;
  }

  uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void accept(const Service& service) {
    acceptor_.async_accept([this, &service](const Failure& failure, tcp::socket socket) {
      std::erase_if(connections_, [](const auto& each) { return each.expired(); });
      // It fails where the process may have no more files.
      if (failure || connections_.size() == kMostConnections) end_oldest();
      if (!failure) {
        const auto connection = std::make_shared<Connection>(std::move(socket), service);
        connections_.push_back(connection);
        connection->start();
      }
      accept(service);
    });
  }

 private:
  void end_oldest() {
    if (connections_.empty()) return;
    if (const auto oldest = connections_.front().lock()) oldest->end();
    connections_.pop_front();
  }

  tcp::acceptor acceptor_;
  std::list<std::weak_ptr<Connection>> connections_;  // the oldest first
};

}  // namespace

Result<std::string> random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    return Error{"the system has no random numbers for a token"};
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<void> serve_loopback(uint16_t port, std::string_view token,
                            const std::function<void(uint16_t)>& ready, const WebHandler& handler) {
  asio::io_context context(1);
  Listener listener(context);
  if (const Failure failure = listener.listen(port)) {
    return Error{fmt::format("cannot listen on port {}: {}", port, failure.message())};
  }
  asio::signal_set asked_to_end(context, SIGINT, SIGTERM);
  asked_to_end.async_wait([&](const Failure&, int) { context.stop(); });
  const Service service{listener.port(), token, handler};
  listener.accept(service);
  ready(service.port);
  context.run();
  return {};
}

}  // namespace culprit::cli
