// A way out of long loops: the kernels call `stop.check()`, which throws `Stopped` when someone asked them to end.
#pragma once

#include <atomic>
#include <exception>

namespace dunno {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

// One flag for the whole process: a Ctrl-C ends all of its worker threads.
inline std::atomic<bool>& stop_requested() {
  static std::atomic<bool> flag{false};
  return flag;
}

class Stop {
 public:
  virtual ~Stop() = default;

  void check() {
    if (stop_requested().load(std::memory_order_relaxed)) throw Stopped();
    if (++calls_ % kCallsPerPoll == 0) poll();
  }

 protected:
  // The binding overrides this to look for signals, which needs Python's lock and is therefore rare.
  virtual void poll() {}

 private:
  static constexpr unsigned kCallsPerPoll = 4096;
  unsigned calls_ = 0;
};

}  // namespace dunno
