// Parts of `radlc farm` that its commands share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/project.h"
#include "runtime/driver/farms.h"
#include "runtime/driver/nodes.h"

namespace radl::cli::farm_command {

// The farm of this name, or the only one if `name` is empty.
inline Result<driver::KnownFarm> one_farm(const Nodes& nodes, const std::string& name) {
  return driver::find_farm(nodes.work_directory, nodes.state.name, name);
}

// Adds a task, whose command `words` are, or trials.
int run_add(const Session& session, const ProjectOptions& project, const std::string& farm,
            const std::vector<std::string>& words, driver::FarmAddition added);
// Prints a task's newest log, masked: the copy that the farm keeps once the run has ended, or from its node.
int run_logs(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::vector<std::string>& words);
// Writes a page about a search, or prints its data.
int run_plot(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::string& output, bool json);

// `radlc farm free`; what runs it.
std::function<int()> add_free(CLI::App& command, Session& session);
// Distributo's options of `radlc farm` itself; what runs them.
std::function<int()> add_distributo(CLI::App& command, Session& session);

}  // namespace radl::cli::farm_command
