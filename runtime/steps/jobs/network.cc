#include "runtime/steps/jobs/network.h"

#include <algorithm>
#include <cctype>

#include "common/digest.h"

namespace radl::jobs {

std::string address_of(const NodeHandle& node) {
  if (node.node != nullptr) {
    for (const ir::Interface& interface : node.node->interfaces)
      if (!interface.wireguard_ip.empty()) return interface.wireguard_ip;
  }
  auto text = [&](const char* name) {
    auto found = node.attributes.find(name);
    return found != node.attributes.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  std::string address = text("private_ip").empty() ? text("host") : text("private_ip");
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

bool is_local(const NodeHandle& node) { return !node.attributes.value("local_directory", "").empty(); }

int choose_port(const std::vector<int>& used) {
  for (;;) {
    std::string raw = random_bytes(2);
    int port =
        20000 + (static_cast<unsigned char>(raw[0]) * 256 + static_cast<unsigned char>(raw[1])) % 12000;
    if (std::find(used.begin(), used.end(), port) == used.end()) return port;
  }
}

std::string folder_name(const std::string& name, const std::string& identity) {
  std::string folder;
  for (char c : name) folder += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return folder + "-" + identity.substr(0, 12);
}

}  // namespace radl::jobs
