// cloud-init user data of a machine. Must contain no secrets: every user of the machine can read
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/auto_stop.h"

namespace radl {

// Multi-part (cloud-init, "MIME Multi Part Archive"): the host name with its domain, the script that ends the
// machine automatically if requested, and the recipes for cloud_init: of any kind that cloud-init recognizes
// by the first line, otherwise cloud-config. Lists in several recipes are concatenated.
std::string user_data(const std::string& host_name, const std::optional<AutoStop>& stop,
                      const std::vector<std::string>& recipes = {});
// From a spec's "hostname", "stop" and "cloud_init".
std::string user_data_of(const Json& spec);

// A node's recipes for cloud_init in order, by node address: spec["cloud_init"] of its
// machine.
std::map<std::string, std::vector<std::string>> cloud_init_recipes(const ir::Program& program);

// Invalid: the user data has more bytes than `cloud` takes.
Status check_user_data(const ir::Node& node, const Json& spec, size_t largest, const char* cloud);

// Why a changed recipe for cloud_init requires a new machine.
inline constexpr const char* kUserDataIsFixed =
    "cloud-init runs recipes when a machine boots for the first time";

}  // namespace radl
