// Folders for one Ansible run.
#pragma once

#include <string>

#include "common/status.h"

namespace radl::recipes {

// A private folder, removed with its owner. The folder of a killed run is removed at the next creation.
class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(const PrivateFolder&) = delete;
  ~PrivateFolder();
  // Creates PREFIX-XXXXXX, mode 0700. `stale`: no other process uses the prefix: existing ones are leftovers.
  Status make(const std::string& prefix, bool stale);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A path for a folder that is short enough for ssh sockets (108 bytes in total, unix(7)): its own path, or a
// link in /tmp that is removed with this object or replaced by the folder's next one.
class ShortPath {
 public:
  ShortPath() = default;
  ShortPath(const ShortPath&) = delete;
  ~ShortPath();
  // Creates the folder with mode 0700 if it is missing. Conflict: another user owns the name.
  Status open(const std::string& folder);
  const std::string& path() const { return path_; }

 private:
  std::string path_, link_;
};

}  // namespace radl::recipes
