// Removes the nodes of elastic farms, from any state of theirs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>

#include "runtime/cli/apply.h"
#include "runtime/cli/farm_command.h"

namespace radl::cli::farm_command {
namespace {

struct FreeOptions {
  apply_command::Options apply;
  std::string farm;
};

int run_free(const Session& session, const FreeOptions& options) {
  auto project = load_project(session, options.apply.project);
  if (!project.ok()) return report(session, project.status());
  std::set<std::string> systems;
  for (const driver::ElasticFarm& farm : (*project)->farms) {
    if (!options.farm.empty() && farm.step.program->value("name", "") != options.farm) continue;
    systems.insert(farm.system);
  }
  if (systems.empty())
    return report(
        session,
        Status(Code::NotFound, options.farm.empty() ? "the file has no elastic farm"
                                                    : "the file has no elastic farm '" + options.farm + "'")
            .with_hint("`elastic = yes` makes a farm elastic; `radlc destroy` removes all nodes"));
  if (load_nodes(session.host, options.apply.project).status().code() == Code::NotFound) {
    if (!options.apply.run.json) std::fputs("no node exists\n", stdout);
    return kDone;
  }
  int worst = kDone;
  for (const std::string& system : systems) {
    apply_command::Options scaling = options.apply;
    scaling.scale = ScaleRequest{};
    scaling.scale->system = system;
    scaling.scale->exactly = std::vector<int>();
    scaling.scale->frees = true;
    worst = std::max(worst, apply_command::run(session, scaling));
  }
  return worst;
}

}  // namespace

std::function<int()> add_free(CLI::App& command, Session& session) {
  auto options = std::make_shared<FreeOptions>();
  add_project_options(command, options->apply.project);
  add_run_options(command, options->apply.run);
  command.add_option("--farm", options->farm, "the farm's name, if there are several")->type_name("NAME");
  return [options, &session] { return run_free(session, *options); };
}

}  // namespace radl::cli::farm_command
