// The seam to the world: everything that the runtime may notice or change outside its own memory, apart from
// the database (runtime/state) and the network (runtime/net). Each user of a process has a World of their
// own.
//
// real_world() is this machine. Tests put fakes in place (tests/support/fake_world.h).
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
  virtual double wall_seconds() = 0;  // since 1970-01-01 UTC; for people, never for measuring
  virtual std::chrono::steady_clock::time_point now() = 0;
  virtual void sleep(std::chrono::milliseconds time) = 0;
  // False: time passes only when somebody sleeps.
  virtual bool passes_by_itself() const { return true; }
};

class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::string> read(const std::string& path) = 0;
  // See write_file_atomic: a crash leaves the old content or the new one.
  virtual Status write(const std::string& path, std::string_view content, unsigned mode) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual Status make_directories(const std::string& path, unsigned mode) = 0;
  virtual Status remove_tree(const std::string& path) = 0;  // ok when it is not there
};

class Random {
 public:
  virtual ~Random() = default;
  virtual std::string bytes(size_t count) = 0;
};

// On that clock; at once false when it is to stop before the end. A stop's deadline counts on the real clock
// alone.
bool sleep_unless(Clock& clock, std::chrono::milliseconds time, const Stop& stop);

struct World {
  Clock& clock;
  Files& files;
  Random& random;
  Environment environment = {};  // of the user whom a run is done for
};

// This machine, with the environment of this process as it was at the first call.
World& real_world();

// 128 random bits in lower-case hex: tokens, lineages, lock ids.
std::string random_token(Random& random);

// "2026-11-21T02:54:11Z".
std::string utc_time(double wall_seconds);

}  // namespace radl
