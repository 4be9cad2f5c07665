// A file system view, hostname and process tree of its own for a node: root and Linux namespaces.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/base/context.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// Empty when nodes below the context's work folder can be isolated; else why not, in one line. Tried for
// real, once in a run, for 5 s at most. Once its stop is asked the answer means nothing, and is not kept.
std::string why_not_isolated(const Context& context);

// etc/boot: run by `unshare`, it builds the view and becomes the server.
Status write_boot_script(const NodeDirectory& node, const Record& record, const Environment& environment);

}  // namespace radl::local
