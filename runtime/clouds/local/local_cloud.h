// Nodes on this computer: each is a folder with its own OpenSSH server on its own loopback address.
// docs/providers/local.md describes the isolation, with and without root.
//
// Types: "key", "network", "node". A request completes before it returns, within about 50 ms for a node.
#pragma once

#include <memory>
#include <string>

#include "common/stop.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/provider.h"

namespace radl::local {

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

enum class Isolation {
  Auto,      // own file system view, hostname and processes, if this user and kernel allow it
  Off,       // only a folder and a server
  Required,  // an error if it is unavailable
};

enum class NetworkChoice {
  Auto,    // an own network if nodes are isolated and it is available, else shared
  Shared,  // loopback addresses of this computer
  Own,     // an error if it is unavailable
  Closed,  // like Own, without access to other networks
};

struct Options {
  Isolation isolation = Isolation::Auto;
  NetworkChoice network = NetworkChoice::Auto;
  std::string wrong = {};        // an invalid setting in the environment: an error of can_make()
  Environment environment = {};  // of the user
  Stop stop = {};                // ends the query for this computer's GPUs
};

// RADL_LOCAL_ISOLATION=auto|off|required, RADL_LOCAL_NETWORK=auto|shared|own|closed.
Options options_of(const Environment& environment);

std::unique_ptr<Cloud> make_cloud(const Options& options);

}  // namespace radl::local
