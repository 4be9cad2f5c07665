// Nodes on this computer: each a folder with an OpenSSH server of its own on a loopback address of its own.
// docs/providers/local.md says what is isolated from what, with root and without.
//
// Types: "key", "network", "node". A request does all of its work before it answers, some 50 ms for a node:
// it waits for nobody but this computer.
#pragma once

#include <memory>
#include <string>

#include "common/stop.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/provider.h"

namespace radl::local {

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

enum class Isolation {
  Auto,      // file system view, hostname and processes of its own, where this user and kernel can
  Off,       // a folder and a server only
  Required,  // an error where it cannot be had
};

enum class NetworkChoice {
  Auto,    // a network of the infrastructure's own where nodes are isolated and it can be had, else shared
  Shared,  // loopback addresses of this computer
  Own,     // an error where it cannot be had
  Closed,  // as Own, without a way out of it
};

struct Options {
  Isolation isolation = Isolation::Auto;
  NetworkChoice network = NetworkChoice::Auto;
  std::string wrong = {};        // what the environment says and nobody understands: an error of can_make()
  Environment environment = {};  // of the user
  Stop stop = {};                // of the run: ends its question about this computer's GPUs
};

// RADL_LOCAL_ISOLATION=auto|off|required, RADL_LOCAL_NETWORK=auto|shared|own|closed.
Options options_of(const Environment& environment);

std::unique_ptr<Cloud> make_cloud(const Options& options);

}  // namespace radl::local
