#include "runtime/plan/step_times.h"

namespace radl {
namespace {

// Nodes of this computer, hosts of a network at hand, and machines some ten milliseconds away: a login, and
// the round trips of one visit.
double visit_seconds(std::string_view cloud_type) {
  if (cloud_type == "local") return 0.05;
  return cloud_type == "hosts" ? 0.2 : 0.5;
}

// What a package manager or a download does takes as long anywhere; what is a few system calls does not.
double resource_seconds(std::string_view type, bool local) {
  if (type == "package") return 8;
  if (type == "download") return 5;
  if (type == "command") return 0.5;
  if (type == "service") return 0.5;
  if (type == "upload" || type == "dataset") return local ? 0.05 : 1;
  return local ? 0.01 : 0.03;
}

}  // namespace

std::optional<double> usual_seconds(const ir::Step& step, std::string_view cloud_type) {
  switch (step.kind) {
    case ir::StepKind::Native: {
      double seconds = visit_seconds(cloud_type);
      for (const ir::Resource& resource : step.resources)
        seconds += resource_seconds(resource.type, cloud_type == "local");
      return seconds;
    }
    case ir::StepKind::Ansible:
      return 30;
    case ir::StepKind::CloudInit:
      return 20;
    default:
      return std::nullopt;
  }
}

}  // namespace radl
