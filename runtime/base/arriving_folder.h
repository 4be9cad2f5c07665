// Temporary folders for files in transfer: <work>/arriving-XXXXXXXX. Each is locked (flock) while its process
// lives, so that leftovers of killed runs can be told from folders in use, even by a process in another
// container.
#pragma once

#include <string>

#include "common/fd.h"
#include "common/status.h"

namespace radl {

class ArrivingFolder {
 public:
  // open() creates the folder; the destructor removes it.
  explicit ArrivingFolder(std::string work) : work_(std::move(work)) {}
  ~ArrivingFolder();
  ArrivingFolder(const ArrivingFolder&) = delete;
  ArrivingFolder& operator=(const ArrivingFolder&) = delete;

  Status open();  // idempotent
  const std::string& path() const { return path_; }

 private:
  const std::string work_;
  std::string path_;
  Fd lock_;
};

// Removes folders whose process has ended. Returns their number.
int sweep_arriving_folders(const std::string& work);

}  // namespace radl
