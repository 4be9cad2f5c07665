// Brings files of this computer to nodes by content: what is there already is not sent again.
//
// Each content goes once to the node's `~/.radl/cache/SHA256` and from there by hard link to where it is
// wanted. For a node whose folder is on this computer (attribute `local_directory`) nothing goes over SSH:
// the infrastructure keeps one read-only copy below its work folder, and the node gets a hard link to it
// (never to the user's own file).
#pragma once

#include <string>

#include "runtime/steps/step_runner.h"

namespace radl {

// True when something was sent. `remote_path` is relative to the login's home unless absolute; folders above
// are made.
Result<bool> place_file(const NodeHandle& node, const Context& context, const std::string& local_path,
                        const std::string& remote_path, unsigned mode);

// The same for a file that is used there once: nothing of it is kept in a cache.
Status place_once(const NodeHandle& node, const Context& context, const std::string& local_path,
                  const std::string& remote_path);

}  // namespace radl
