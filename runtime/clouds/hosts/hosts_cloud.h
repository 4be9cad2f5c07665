// Machines that exist already: logged in to with what the user has, taken for one infrastructure, and given
// back as they were. docs/providers/hosts.md says how a file names them.
//
// Types: "key" (the infrastructure's own), "host". Nothing is made but a marker and a line of
// ~/.ssh/authorized_keys; a request does its work before it answers, in one login of 20 s at most.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/provider.h"
#include "runtime/net/ssh/connections.h"

namespace radl::hosts {

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

// Of CloudId: machines of this cloud are given back, never removed.
inline constexpr const char* kCloudName = "hosts";

struct Options {
  // The ssh_config file that names are looked up in; empty: what `ssh` itself reads.
  std::string ssh_config;
  // A script whose connection was lost may run on for so long.
  std::chrono::milliseconds settles_after{15000};
  // Shared with whoever else logs in to the same machines, and outlives the cloud; nullptr: it has its own.
  ssh::Connections* connections = nullptr;
};

// RADL_SSH_CONFIG=FILE.
Options options_of(const Environment& environment, ssh::Connections* connections = nullptr);

std::unique_ptr<Cloud> make_cloud(const Options& options);

}  // namespace radl::hosts
