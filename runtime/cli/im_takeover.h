// What radlc makes of an infrastructure of the Infrastructure Manager (IM): a file that declares the same
// machines, and which of them is which node.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/cli/im_service.h"
#include "runtime/clouds/provider.h"

namespace radl::cli {

struct ImNode {
  std::string address;  // "worker[0]"
  std::string id;       // of the machine in its cloud
  std::string key;      // PEM of the private key that logs in there; empty: the IM has none. Secret.
};

struct ImTakeover {
  std::string file;  // RADL
  std::vector<ImNode> nodes;
  std::vector<std::string> networks;  // of the file, by name
  std::vector<std::string> notes;
};

// Pure. Each system gets as many nodes as the IM has machines of it, in the order of their numbers, and their
// instance type, so that radlc chooses no other. Invalid: a machine is of a cloud that radlc does not have,
// or does not exist yet, or the RADL has errors.
Result<ImTakeover> take_over(const CloudProviders& providers, const ImInfrastructure& infrastructure);

// The name of the IM's security group for a network of the infrastructure.
std::string im_group(const std::string& infrastructure, const std::string& network);

}  // namespace radl::cli
