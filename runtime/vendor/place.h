// modules/vendored/ of a project: atomic installs, one writer at a time. Internal to runtime/vendor.
#pragma once

#include <memory>
#include <string>

#include "common/modules/content.h"
#include "common/modules/lock_file.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::vendored {

// Holds flock(2) on the project's folder while it exists; released when the process ends.
class Place {
 public:
  // Waits for another `radlc vendor`; removes leftovers of a killed one.
  static Result<std::unique_ptr<Place>> open(const std::string& project, const Stop& stop);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // True if the package's folder matches the lock file.
  bool holds(const Package& package) const;
  // A new empty folder on the same file system, removed by the next call and at the end.
  Result<std::string> temporary();
  // Installs the content as the package's folder, replacing an existing one.
  Status install(const Package& package, const Content& content);
  Status write(const LockFile& lock);
  // Removes folders named by an earlier lock file, recognized by their names. Keeps others.
  void remove_others(const LockFile& lock);

 private:
  Place(std::string project, int descriptor);
  std::string path(const std::string& below) const;
  void remove_temporary();

  std::string project_, temporary_;
  int descriptor_;
};

}  // namespace radl::vendored
