// The files that a program has made, as an input of others: what it brought to its folder of results, but for
// radlc's own logs and report.
//
// Its product `files` is {"path": the folder, "step": whose results, "sha256": of their manifest}.
#pragma once

#include <string>

#include "runtime/steps/jobs/tree.h"

namespace radl::program {

// The product, of a folder of results that is closed.
Result<Json> artifact_of(const std::string& folder, const std::string& step);
// What is sent of it. A folder whose files have changed since does not fit the digest: then placing it is a
// Conflict.
Result<jobs::Tree> artifact_tree(const Json& files);

}  // namespace radl::program
