// Compares a node's folder with a list of files. The comparison runs on the node, so the output is short if
// little differs.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/manifest.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {

// Required access rights of a tree's files; "" means any.
struct TreeAccess {
  bool modes = true;  // false: ignore the files' modes
  std::string mode;   // of all files, four octal digits; "": each entry's own
  std::string owner, group;
};

struct TreeDifference {
  const ManifestEntry* entry = nullptr;
  bool content = false;                        // missing, or other content
  std::string before;                          // digest; "" if missing or not a regular file
  std::string access_before, access_expected;  // "644 bob users"
};

// Shell text that inspects the entries below the folder, a shell word.
std::string look_tree(const std::vector<ManifestEntry>& entries, const TreeAccess& access,
                      const std::string& folder);
// The differences, in the entries' order. Conflict: the look was for other entries.
Result<std::vector<TreeDifference>> tree_differences(const std::vector<ManifestEntry>& entries,
                                                     const TreeAccess& access, const Item& item,
                                                     const Seen& seen);

}  // namespace radl::native
