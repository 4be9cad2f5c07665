// Parts of `radlc farm` that its commands share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/project.h"
#include "runtime/driver/nodes.h"
#include "runtime/farm/farm.h"

namespace radl::cli::farm_command {

// A farm as its journal has it.
struct Known {
  std::string job;     // the folder's name
  std::string folder;  // of the farm on this computer
  farm::Farm farm;
  std::string name() const;
};

// The farm of this name, or the only one if `name` is empty.
Result<Known> one_farm(const Nodes& nodes, const std::string& name);
// The journal takes the events, or the run that works on the farm now.
Status request(const Known& known, const std::vector<farm::Event>& events);

struct AddOptions {
  std::string name;
  double cpu = 1, memory = 0, gpu = 0, seconds = 0;
  size_t trials = 0;
};
// Adds a task, whose command `words` are, or trials.
int run_add(const Session& session, const ProjectOptions& project, const std::string& farm,
            const std::vector<std::string>& words, const AddOptions& options);
// Prints a task's newest log, masked: the copy that the farm keeps once the run has ended, or from its node.
int run_logs(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::vector<std::string>& words);
// Writes a page about a search, or prints its data.
int run_plot(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::string& output, bool json);

// `radlc farm free`; what runs it.
std::function<int()> add_free(CLI::App& command, Session& session);

}  // namespace radl::cli::farm_command
