// What a run knows of the process that hosts it. Each front end makes one for each user that it serves:
// whatever the runtime needs of the surroundings comes from it, not from the process.
#pragma once

#include <string>

#include "runtime/base/world.h"
#include "runtime/clouds/provider.h"

namespace radl::driver {

struct Host {
  std::string folder;      // absolute; relative places of states begin here
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

  // Of all infrastructures (runtime/state/index.h).
  std::string infrastructures_index() const { return state_file("infrastructures.json"); }
  // What runs took and cost (runtime/figures/runs_file.h).
  std::string runs_file() const { return data_file("runs.jsonl"); }
  // The user's calibration (runtime/figures/calibration_store.h).
  std::string calibration_file() const { return data_file("foresight.db"); }
  // Of `radlc catalog update`: newer prices than those that radlc was built with.
  std::string catalog_file(const std::string& cloud) const {
    return data_file("catalog/" + cloud + ".catalog");
  }
};

}  // namespace radl::driver
