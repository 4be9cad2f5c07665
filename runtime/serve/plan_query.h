// What a client asks a plan for: the body of POST /plans (docs/openapi.json), and "request" of the saved
// plan, from which its run reads the options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/driver/apply.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// A program of uploaded files, by their paths below FOLDER/files.
struct ProjectSources {
  std::vector<std::string> files;  // read as one document; empty: FOLDER/program.radl
  std::vector<std::string> module_path;
  bool operator==(const ProjectSources&) const = default;
};

struct PlanQuery {
  std::string command = "apply";    // or "scale", "destroy"
  std::string program;              // its text; empty, and no sources: the infrastructure's own
  ProjectSources sources;           // in place of `program`
  std::string checked;              // the whole program, as may_compile() has allowed it
  std::vector<std::string> inputs;  // "name=value"
  std::string cloud;                // of nodes that name none; empty: that of the service
  std::string view;                 // another form of the plan: "full", "brief", "dot", "markdown", "html"
  std::string on_error = "keep";
  int parallelism = 10;
  double lock_timeout = 60;  // seconds; a terminal may hold the state meanwhile
  bool keep = false;         // of an apply: no node of an elastic farm is removed
  driver::PlanRequest plan;  // targets, replace, refresh, max_cost
  std::optional<driver::ScaleRequest> scale;
};

// Invalid: a member is of another type, or has a value that it cannot have.
Result<PlanQuery> plan_query_from(const Json& body);
// Without program and inputs.
Json to_json(const PlanQuery& query);

// Whether it is the path of an upload: relative, without "." and "..", and without names that uploads use.
bool is_upload_path(const std::string& path);

}  // namespace radl::serve
