// Commands that run on a service: `radlc --server URL plan|apply|destroy|runs|wait`.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/driver/project.h"

namespace CLI {
class App;
}

namespace radl::cli {

struct ServiceRequest {
  ProjectOptions project;  // files, inputs and the name or ID of an infrastructure
  std::string max_cost;
  std::string run;  // of `runs`
  bool refresh = false, json = false, auto_approve = false, detach = false, destroy = false, follow = false;
  unsigned long long from = 1;
};

int plan_on_service(const Session& session, const ServiceRequest& request);
// Apply, or destroy if request.destroy: plans, shows, asks, starts the run and follows it.
int run_on_service(const Session& session, const ServiceRequest& request);
int list_on_service(const Session& session, const ServiceRequest& request);  // `runs`
int wait_on_service(const Session& session, const ServiceRequest& request);  // for the newest run

// Why the command cannot run on a service: it is another one, or has an option that only runs here use.
Status fits_service(const CLI::App& command);

}  // namespace radl::cli
