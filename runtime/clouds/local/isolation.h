// A file system view, hostname and process tree of its own for a node: root and Linux namespaces.
#pragma once

#include <string>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// Empty when nodes below this work folder can be isolated; else why not, in one line. Tried for real, once
// per folder, for 5 s at most. Once `stop` is asked the answer means nothing, and is not kept.
std::string why_not_isolated(const std::string& work_directory, const Stop& stop = {});

// etc/boot: run by `unshare`, it builds the view and becomes the server.
Status write_boot_script(const NodeDirectory& node, const Record& record);

}  // namespace radl::local
