// Writes the names of an infrastructure's nodes to /etc/hosts of each node that has its own file system.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// "10.1.2.3 front.example.org front", with all names of each node.
std::string host_lines(const std::vector<Record>& nodes);
// Returns `text` with radlc's block replaced, or appended if missing.
std::string with_block(const std::string& text, const std::string& lines);
// Updates the file below `root`, the top of another file system; links in it cannot lead outside. True: it
// has the lines. False: `root` is this computer's own file system, as it is for a node's process until its
// view is complete; nothing was done.
Result<bool> update_hosts_file(const std::string& root, const std::string& lines);

}  // namespace radl::local
