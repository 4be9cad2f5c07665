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

// A name for a folder that is short enough for the sockets of ssh in it (108 bytes in all, unix(7)): its own,
// or a link in /tmp that is removed with this object, or replaced by the next one for the folder.
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
