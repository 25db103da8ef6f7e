// What the files of bindings have in common: how arrays come and go, and how a running call looks for Ctrl-C.
//
// Arrays are taken with noconvert(): nanobind would otherwise turn 0.5 into the index 0.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "problem/stop.hpp"

namespace nb = nanobind;
using namespace nb::literals;

using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Looks for Ctrl-C now and then. Only Python's main thread sees signals; the others end through the stop flag.
class PythonStop : public dunno::Stop {
  void poll() override {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Lets Python's other threads run while the core works. What a thread needs in order to throw is taken at its first look at
// exceptions: where no memory is left for it, the process would be aborted, so it looks before the work begins.
class Unlocked {
 public:
  Unlocked() : seen_(std::uncaught_exceptions()) {}

 private:
  volatile int seen_;  // a compiler leaves out a look that nobody uses
  nb::gil_scoped_release released_;
};

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <typename T>
std::vector<T> to_vector(const nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values) {
  return std::vector<T>(values.data(), values.data() + values.shape(0));
}
