// Folders in which files arrive before they take their place: <work>/arriving-XXXXXXXX. Each is locked
// (flock) as long as its process lives, so that what a killed run has left is known from what is in use,
// also by a process of another container.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/status.h"

namespace radl {

class ArrivingFolder {
 public:
  // Made with open(); gone with this.
  explicit ArrivingFolder(std::string work) : work_(std::move(work)) {}
  ~ArrivingFolder();
  ArrivingFolder(const ArrivingFolder&) = delete;
  ArrivingFolder& operator=(const ArrivingFolder&) = delete;

  Status open();  // once is enough
  const std::string& path() const { return path_; }

 private:
  const std::string work_;
  std::string path_;
  Fd lock_;
};

// Removes those whose process is gone; the number of them.
int sweep_arriving_folders(const std::string& work);

}  // namespace radl
