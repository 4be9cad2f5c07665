// Commands on a service: `radlc --server URL plan`, and so on. Each returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/run_options.h"
#include "runtime/driver/plan_request.h"
#include "runtime/driver/project.h"

namespace CLI {
class App;
}

namespace radl::cli {

struct ServiceRequest {
  ProjectOptions project;  // files, inputs, and the name or ID of an infrastructure
  RunOptions run = {};
  PlanRequest plan = {};
  std::optional<ScaleRequest> scale = {};
  std::string view = {};        // of a plan: "full", "brief", "dot", "markdown"; empty: the default text
  std::string html = {};        // file for an HTML page of the plan
  bool force = false;           // replace an existing file
  std::string word = {};        // RUN, JOB, NODE or the NAME of an output
  unsigned long long from = 1;  // first event
  int lines = 0;                // of each log; 0: all
  bool detach = false, destroy = false, follow = false, raw = false;
  bool keep = false;  // the nodes of elastic farms
};
// Only --json, for commands without the other options of a run.
inline RunOptions json_run(bool json) {
  RunOptions run;
  run.json = json;
  return run;
}

// `changes`: set if the plan has any.
int plan_on_service(const Session& session, const ServiceRequest& request, bool& changes);
// Apply, scale or destroy: plans, shows, asks, starts the run and follows it.
int run_on_service(const Session& session, const ServiceRequest& request);

int list_on_service(const Session& session, bool json);
int show_on_service(const Session& session, const ServiceRequest& request);
int output_on_service(const Session& session, const ServiceRequest& request);
int runs_on_service(const Session& session, const ServiceRequest& request);
int wait_on_service(const Session& session, const ServiceRequest& request);  // the newest run
int logs_on_service(const Session& session, const ServiceRequest& request);
int cancel_on_service(const Session& session, const ServiceRequest& request);  // a job, or a run by its ID

// Why the command cannot run on a service: it is unsupported there, or has an option for local runs only.
Status fits_service(const CLI::App& command);

}  // namespace radl::cli
