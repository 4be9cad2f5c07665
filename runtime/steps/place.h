// Copies local files to nodes by content: existing content is not sent again.
//
// Each content is sent once to the node's `~/.radl/cache/SHA256` and hard-linked from there to its
// destination. For a node whose folder is on this computer (attribute `local_directory`), nothing is sent
// over SSH: the infrastructure keeps one read-only copy below its work folder, and the node gets a hard link
// to it (never to the user's own file).
#pragma once

#include <string>

#include "runtime/steps/step_runner.h"

namespace radl {

// True if something was sent. `remote_path` is relative to the login's home unless absolute; parent folders
// are created.
Result<bool> place_file(const NodeHandle& node, const Context& context, const std::string& local_path,
                        const std::string& remote_path, unsigned mode);

// Same for a file that is used there once: not cached.
Status place_once(const NodeHandle& node, const Context& context, const std::string& local_path,
                  const std::string& remote_path);

}  // namespace radl
