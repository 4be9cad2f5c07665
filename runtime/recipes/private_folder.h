// Folders of one Ansible run.
#pragma once

#include <string>

#include "common/status.h"

namespace radl::recipes {

// A private folder that goes away with its owner. One that a killed run has left goes when the next is made.
class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(const PrivateFolder&) = delete;
  ~PrivateFolder();
  // A folder PREFIX-XXXXXX, mode 0700; `stale`: nobody else uses the prefix, so what is there is left over.
  Status make(const std::string& prefix, bool stale);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A short name for a folder whose own path may be too long for a socket (108 bytes, unix(7)), good while we
// live.
class ShortPath {
 public:
  ShortPath() = default;
  ShortPath(const ShortPath&) = delete;
  ~ShortPath();
  // Makes the folder, mode 0700, where it is not there.
  Status open(const std::string& folder);
  std::string path() const;

 private:
  int fd_ = -1;
};

}  // namespace radl::recipes
