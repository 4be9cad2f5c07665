// Removes an infrastructure whose state was lost, using its tag in the clouds.
#pragma once

#include <string>

#include "runtime/cli/run_options.h"

namespace radl::cli {

// Shows everything with the tag in the clouds of `--cloud` (default: all with credentials, in their default
// regions), asks, and destroys it. Returns the exit code.
int destroy_from_cloud(const Session& session, const std::string& tag, const RunOptions& options);

// Splits "demo-0a1b2c3d" into name and lineage. Invalid: not such a tag.
struct TagParts {
  std::string name, lineage;
};
Result<TagParts> tag_parts(const std::string& tag);

}  // namespace radl::cli
