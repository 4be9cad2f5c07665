// An infrastructure whose state was lost, removed by the tag that its clouds know it by.
#pragma once

#include <string>

#include "runtime/cli/run_options.h"

namespace radl::cli {

// Shows all that carries the tag in the clouds of `--cloud` (without it: all with credentials, in their
// default regions), asks, and destroys it. The exit code.
int destroy_from_cloud(const Session& session, const std::string& tag, const RunOptions& options);

// "demo-0a1b2c3d" as name and lineage. Invalid: it is no such tag.
struct TagParts {
  std::string name, lineage;
};
Result<TagParts> tag_parts(const std::string& tag);

}  // namespace radl::cli
