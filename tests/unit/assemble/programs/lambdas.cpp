// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// A library with lambdas of all kinds. Each says where it is: places() holds, for the lambda that
// begins on line n, an address in its function at [n]. Lines matter: they are compared with those
// that the names say.
#include <functional>

extern "C" {
[[gnu::visibility("default")]] const void* places[100];
}

namespace {

[[gnu::noinline]] const void* here() {
  return __builtin_return_address(0);
}

template <class Function>
[[gnu::noinline]] void repeat(const Function& function) {
  function(0);
}

[[gnu::noinline]] void call(const std::function<void(int)>& function) {
  function(0);
}

const auto outside = [](int) { places[28] = here(); };

}  // namespace

struct Grid {
  int cells = 1;
  void sweep() {
    repeat([this](int) { places[35] = here(), ++cells; });
    call([this](int) { places[36] = here(), ++cells; });
  }
};

extern "C" [[gnu::visibility("default")]] void fill_places() {
  int sum = 0;
  repeat([&](int) { places[42] = here(), ++sum; });
  repeat([&](int) {
    repeat([&](int) { places[44] = here(), ++sum; });
    places[43] = here(), ++sum;
  });
  repeat([&](auto) { places[47] = here(), ++sum; });
  repeat(outside);
  Grid().sweep();
}

namespace {

template <int kSize>
struct Mesh {
  int cells = kSize;
  [[gnu::noinline]] void advance() {
    call([this](int) { places[58] = here(), ++cells; });
  }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] void fill_hidden_places() {
  Mesh<3>().advance();
}
