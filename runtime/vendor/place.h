// modules/vendored/ of a project: whole packages or none, one writer at a time. Internal to runtime/vendor.
#pragma once

#include <memory>
#include <string>

#include "common/modules/content.h"
#include "common/modules/lock_file.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::vendored {

// Holds flock(2) on the project's folder while it lives; gone with this process.
class Place {
 public:
  // Waits for another `radlc vendor`; removes what one that was killed left behind.
  static Result<std::unique_ptr<Place>> open(const std::string& project, const Stop& stop);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // Whether the package's folder holds what the lock file says.
  bool holds(const Package& package) const;
  // A new empty folder on the same file system, removed by the next call and at the end.
  Result<std::string> temporary();
  // Puts the content there under the package's folder, in place of what has that name.
  Status install(const Package& package, const Content& content);
  Status write(const LockFile& lock);
  // Removes folders that an earlier lock file named: their name says what they hold. Others are left alone.
  void remove_others(const LockFile& lock);

 private:
  Place(std::string project, int descriptor);
  std::string path(const std::string& below) const;
  void remove_temporary();

  std::string project_, temporary_;
  int descriptor_;
};

}  // namespace radl::vendored
