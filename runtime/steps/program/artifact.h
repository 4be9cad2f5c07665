// A program's output files as an input of others: everything fetched to its results folder except radlc's own
// logs and report.
//
// Its product `files` is {"path": the folder, "step": the step it belongs to, "sha256": of their manifest}.
#pragma once

#include <string>

#include "runtime/steps/jobs/tree.h"

namespace radl::program {

// The product for a completed results folder.
Result<Json> artifact_of(const std::string& folder, const std::string& step);
// The tree to send. If the folder's files have changed since, the digest does not match: placing it is a
// Conflict.
Result<jobs::Tree> artifact_tree(const Json& files);

}  // namespace radl::program
