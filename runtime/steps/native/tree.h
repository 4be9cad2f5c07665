// A folder of the node beside a list of files: compared on the node, so that the answer is short where little
// differs.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/manifest.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {

// What the files of a tree must be; "" is what nobody asks for.
struct TreeAccess {
  bool modes = true;  // false: a file's mode is its own affair
  std::string mode;   // of all files, four octal digits; "": each has its entry's
  std::string owner, group;
};

struct TreeDifference {
  const ManifestEntry* entry = nullptr;
  bool content = false;                        // not there, or other content
  std::string before;                          // digest; "" where it is not there or not a plain file
  std::string access_before, access_expected;  // "644 bob users"
};

// Shell text that looks at the entries below the folder, a shell word.
std::string look_tree(const std::vector<ManifestEntry>& entries, const TreeAccess& access,
                      const std::string& folder);
// What differs, in the entries' order. Conflict when the look was at other entries.
Result<std::vector<TreeDifference>> tree_differences(const std::vector<ManifestEntry>& entries,
                                                     const TreeAccess& access, const Item& item,
                                                     const Seen& seen);

}  // namespace radl::native
