// What cloud-init finds in a machine's user data. Nothing in it is secret: whoever runs on the machine can
// read it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/auto_stop.h"

namespace radl {

// Multi-part (cloud-init, "MIME Multi Part Archive"): the host name with its domain, the script that ends the
// machine where it is to end itself, and the recipes for cloud_init: of any kind that cloud-init tells by its
// first line, and cloud-config where that says none. What several of them list is put together.
std::string user_data(const std::string& host_name, const std::optional<AutoStop>& stop,
                      const std::vector<std::string>& recipes = {});
// By a spec's "hostname", "stop" and "cloud_init".
std::string user_data_of(const Json& spec);

// The texts of a node's recipes for cloud_init in their order, by its address: spec["cloud_init"] of its
// machine.
std::map<std::string, std::vector<std::string>> cloud_init_recipes(const ir::Program& program);

// Invalid: the user data has more bytes than `cloud` takes.
Status check_user_data(const ir::Node& node, const Json& spec, size_t largest, const char* cloud);

// Why another recipe for cloud_init asks for another machine.
inline constexpr const char* kUserDataIsFixed =
    "cloud-init runs recipes when a machine boots for the first time";

}  // namespace radl
