// The interface to the outside world: everything that the runtime reads or changes outside its memory,
// except the database (runtime/state) and the network (runtime/net). Each user of a process has a separate
// World.
//
// real_world() is this machine. Tests use fakes (tests/support/fake_world.h).
#pragma once

#include <chrono>
#include <string>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall_seconds() = 0;  // since 1970-01-01 UTC; for display, never for measuring
  virtual std::chrono::steady_clock::time_point now() = 0;
  virtual void sleep(std::chrono::milliseconds time) = 0;
  // False: time advances only during sleeps.
  virtual bool passes_by_itself() const { return true; }
};

class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::string> read(const std::string& path) = 0;
  // Like write_file_atomic: after a crash, the file has the old or the new content.
  virtual Status write(const std::string& path, std::string_view content, unsigned mode) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual Status make_directories(const std::string& path, unsigned mode) = 0;
  virtual Status remove_tree(const std::string& path) = 0;  // succeeds if it does not exist
};

class Random {
 public:
  virtual ~Random() = default;
  virtual std::string bytes(size_t count) = 0;
};

// Sleeps on that clock. Returns false immediately when it is time to stop. Deadlines of `stop` only count on
// the real clock.
bool sleep_unless(Clock& clock, std::chrono::milliseconds time, const Stop& stop);

struct World {
  Clock& clock;
  Files& files;
  Random& random;
  Environment environment = {};  // of the user for whom the run is made
};

// This machine, with this process's environment at the first call.
World& real_world();

// 128 random bits in lower-case hex, for tokens, lineages and lock IDs.
std::string random_token(Random& random);

// "2026-11-21T02:54:11Z".
std::string utc_time(double wall_seconds);

}  // namespace radl
