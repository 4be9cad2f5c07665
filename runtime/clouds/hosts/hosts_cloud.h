// Existing machines: radlc logs in with the user's keys, reserves them for one infrastructure, and returns
// them as they were. docs/providers/hosts.md describes how a file names them.
//
// Types: "key" (the infrastructure's own), "host". radlc creates only a marker and a line in
// ~/.ssh/authorized_keys. A request completes before it returns, with one login of at most 20 s.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/provider.h"
#include "runtime/net/ssh/connections.h"

namespace radl::hosts {

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

// Name in a CloudId. Machines of this cloud are returned, never deleted.
inline constexpr const char* kCloudName = "hosts";

struct Options {
  // The ssh_config file used to look up names; empty: the default of `ssh`.
  std::string ssh_config;
  // How long a script may continue after its connection was lost.
  std::chrono::milliseconds settles_after{15000};
  // Shared with other users of the same machines; must outlive the cloud. nullptr: its own.
  ssh::Connections* connections = nullptr;
};

// RADL_SSH_CONFIG=FILE.
Options options_of(const Environment& environment, ssh::Connections* connections = nullptr);

std::unique_ptr<Cloud> make_cloud(const Options& options);

}  // namespace radl::hosts
