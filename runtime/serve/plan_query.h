// A client's plan options: the body of POST /plans (docs/openapi.json), and "request" of the saved plan, from
// which its run reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/driver/apply.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// A program of uploaded files, by their paths below FOLDER/files.
struct ProjectSources {
  std::vector<std::string> files;  // parsed as one document; empty: FOLDER/program.radl
  std::vector<std::string> module_path;
  bool operator==(const ProjectSources&) const = default;
};

struct PlanQuery {
  std::string command = "apply";    // or "scale", "destroy"
  std::string program;              // text; if empty, and no sources: the infrastructure's own
  ProjectSources sources;           // instead of `program`
  std::string checked;              // the complete program as authorized by may_compile()
  std::vector<std::string> inputs;  // "name=value"
  std::string cloud;                // for nodes that name none; empty: the service's
  std::string view;                 // additional format: "full", "brief", "dot", "markdown", "html"
  std::string on_error = "keep";
  int parallelism = 10;
  double lock_timeout = 60;  // seconds; a terminal may hold the state meanwhile
  bool keep = false;         // of an apply: no node of an elastic farm is removed
  driver::PlanRequest plan;  // targets, replace, refresh, max_cost
  std::optional<driver::ScaleRequest> scale;
};

// Invalid: a member has another type or an invalid value.
Result<PlanQuery> plan_query_from(const Json& body);
// Without program and inputs.
Json to_json(const PlanQuery& query);

// True for the path of an upload: relative, without "." and "..", and without reserved names.
bool is_upload_path(const std::string& path);

}  // namespace radl::serve
