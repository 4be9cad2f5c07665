// Texts of the service name files by paths below its folder, which say nothing to a client: they are shown as
// the client knows them. "FOLDER/workspaces/ID/files/one.radl:3" becomes "one.radl:3".
#pragma once

#include <string>
#include <vector>

namespace radl::serve {

class HiddenPaths {
 public:
  explicit HiddenPaths(const std::string& folder);
  std::string hide(std::string text) const;

 private:
  std::vector<std::string> folders_;  // the same one, as it was given and absolute; the longest first
};

}  // namespace radl::serve
