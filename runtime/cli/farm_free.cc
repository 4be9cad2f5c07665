// Removes the nodes of elastic farms, from any state of theirs.
#include <CLI/CLI.hpp>
#include <set>

#include "runtime/cli/apply.h"
#include "runtime/cli/farm_command.h"

namespace radl::cli::farm_command {
namespace {

struct Options {
  apply_command::Options apply;
  std::string farm;
};

// A run that works on the farm would create its nodes again.
Status check_unsupervised(const Session& session, const ProjectOptions& project, const std::string& step) {
  auto nodes = load_nodes(session.host, project);
  if (nodes.status().code() == Code::NotFound) return {};
  if (!nodes.ok()) return nodes.status();
  const auto by = nodes->state.supervised.find(step);
  if (by == nodes->state.supervised.end()) return {};
  return Status(Code::Conflict, step + " is running: " + by->second)
      .with_hint("interrupt that radlc, which ends the tasks, or wait for its end");
}

int run_free(const Session& session, const Options& options) {
  auto project = load_project(session, options.apply.project);
  if (!project.ok()) return report(session, project.status());
  std::set<std::string> systems;
  for (const driver::ElasticFarm& farm : (*project)->farms) {
    if (!options.farm.empty() && farm.step.program.value("name", "") != options.farm) continue;
    Status free = check_unsupervised(session, options.apply.project, farm.step.id);
    if (!free.ok()) return report(session, free);
    systems.insert(farm.system);
  }
  if (systems.empty())
    return report(
        session,
        Status(Code::NotFound, options.farm.empty() ? "the file has no elastic farm"
                                                    : "the file has no elastic farm '" + options.farm + "'")
            .with_hint("`elastic = yes` makes a farm elastic; `radlc destroy` removes all nodes"));
  int worst = kDone;
  for (const std::string& system : systems) {
    apply_command::Options scaling = options.apply;
    scaling.scale = ScaleRequest{};
    scaling.scale->system = system;
    scaling.scale->exactly = std::vector<int>();
    worst = std::max(worst, apply_command::run(session, scaling));
  }
  return worst;
}

}  // namespace

std::function<int()> add_free(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  add_project_options(command, options->apply.project);
  add_run_options(command, options->apply.run);
  command.add_option("--farm", options->farm, "the farm's name, if there are several")->type_name("NAME");
  return [options, &session] { return run_free(session, *options); };
}

}  // namespace radl::cli::farm_command
