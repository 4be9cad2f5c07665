// This machine.
#include "runtime/base/world.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include "common/digest.h"
#include "common/files.h"
#include "common/utc.h"

namespace radl {

namespace {

class RealClock : public Clock {
 public:
  double wall_seconds() override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
  void sleep(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
};

class RealFiles : public Files {
 public:
  Result<std::string> read(const std::string& path) override { return read_file(path); }
  Status write(const std::string& path, std::string_view content, unsigned mode) override {
    return write_file_atomic(path, content, mode);
  }
  bool exists(const std::string& path) override {
    struct stat info;
    return ::lstat(path.c_str(), &info) == 0;
  }
  Status make_directories(const std::string& path, unsigned mode) override {
    return radl::make_directories(path, mode);
  }
  Status remove_tree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return error ? errno_status(error.value(), "removing " + path) : Status();
  }
};

class RealRandom : public Random {
 public:
  std::string bytes(size_t count) override { return random_bytes(count); }
};

}  // namespace

World& real_world() {
  static RealClock clock;
  static RealFiles files;
  static RealRandom random;
  static World world{clock, files, random, environment_of_process()};
  return world;
}

bool sleep_unless(Clock& clock, std::chrono::milliseconds time, const Stop& stop) {
  if (&clock == &real_world().clock) return stop.sleep(time);
  while (time.count() > 0) {
    if (stop.asked()) return false;
    const std::chrono::milliseconds piece = std::min(time, std::chrono::milliseconds(100));
    clock.sleep(piece);
    time -= piece;
  }
  return !stop.asked();
}

std::string random_token(Random& random) { return to_hex(random.bytes(16)); }

std::string utc_time(double wall_seconds) { return utc_text(static_cast<std::time_t>(wall_seconds)); }

}  // namespace radl
