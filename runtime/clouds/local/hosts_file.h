// The names of an infrastructure's nodes, in the /etc/hosts of each node that has a file system of its own.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

// "10.1.2.3 front.example.org front", each node's all names.
std::string host_lines(const std::vector<Record>& nodes);
// `text` with the block of our lines in place of the one that it has, or at its end.
std::string with_block(const std::string& text, const std::string& lines);
// Below `root`, another file system's top: links in it lead nowhere else. True: it has the lines now. False:
// it is this computer's own file system, and nothing was done; so the root of a node's process is until its
// view is all there.
Result<bool> update_hosts_file(const std::string& root, const std::string& lines);

}  // namespace radl::local
