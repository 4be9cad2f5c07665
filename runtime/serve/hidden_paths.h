// Replaces paths below the service's folder in texts by the names that clients know:
// "FOLDER/workspaces/ID/files/one.radl:3" becomes "one.radl:3".
#pragma once

#include <string>
#include <vector>

namespace radl::serve {

class HiddenPaths {
 public:
  explicit HiddenPaths(const std::string& folder);
  std::string hide(std::string text) const;

 private:
  std::vector<std::string> folders_;  // the same folder as given and absolute; longest first
};

}  // namespace radl::serve
