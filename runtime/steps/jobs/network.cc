#include "runtime/steps/jobs/network.h"

#include <algorithm>

#include "common/digest.h"
#include "runtime/base/job_folder.h"

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

std::string folder_of(const ir::Step& step) {
  const bool trains = step.kind == ir::StepKind::Training;
  const Json& job = trains ? step.training : step.program;
  return job_folder_name(job.value("name", trains ? "training" : ""), job.value("identity", step.digest));
}

}  // namespace radl::jobs
