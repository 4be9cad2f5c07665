// The process that hosts a run. A front end creates one for each user that it serves. The runtime reads its
// surroundings only from here, never from the process.
#pragma once

#include <string>

#include "runtime/base/world.h"
#include "runtime/clouds/provider.h"

namespace radl::driver {

struct Host {
  std::string folder;      // absolute; base of relative state paths
  std::string principal;   // requesting user, named in locks and history; "": the user of this process
  World* world = nullptr;  // clock, files, randomness, environment; outlives every run
  const CloudProviders* providers = &built_in_providers();

  // Credentials, homes and proxies come from here.
  const Environment& environment() const { return world->environment; }
  // The variable's value; "" if it is not set.
  std::string variable(const std::string& name) const { return world->environment(name); }

  // Files of radlc that belong to the user and to no project: $XDG_STATE_HOME/radlc/NAME, else
  // ~/.local/state/radlc/NAME; "" if there is no home folder.
  std::string state_file(const std::string& name) const;
  // $XDG_DATA_HOME/radlc/NAME, else ~/.local/share/radlc/NAME; "" if there is no home folder.
  std::string data_file(const std::string& name) const;

  // Index of all infrastructures (runtime/state/index.h).
  std::string infrastructures_index() const { return state_file("infrastructures.json"); }
  // Times and costs of runs (runtime/figures/runs_file.h).
  std::string runs_file() const { return data_file("runs.jsonl"); }
  // The user's calibration (runtime/figures/calibration_store.h).
  std::string calibration_file() const { return data_file("foresight.db"); }
  // From `radlc catalog update`: newer prices than the built-in ones.
  std::string catalog_file(const std::string& cloud) const {
    return data_file("catalog/" + cloud + ".catalog");
  }
};

}  // namespace radl::driver
