// Isolates a node: own file system view, hostname and process tree. Needs root and Linux namespaces.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/base/context.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// Empty if nodes below the context's work folder can be isolated; else the reason in one line. Really tries
// it, once per run, for at most 5 s. If its stop is requested, the result is meaningless and not cached.
std::string why_not_isolated(const Context& context);

// Writes etc/boot, which `unshare` runs: it builds the view and becomes the server.
Status write_boot_script(const NodeDirectory& node, const Record& record, const Environment& environment);

}  // namespace radl::local
