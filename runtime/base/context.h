// What every call to a cloud, a step runner or a connection is given besides its subject.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/environment.h"
#include "common/stop.h"
#include "runtime/base/shared.h"

namespace radl {

struct Context {
  std::string infrastructure;  // id, unique; names and tags carry it
  std::string work_directory;  // private to this infrastructure (mode 0700), kept beside the state
  Stop stop;                   // of the whole call; its deadline is on the run's clock (World::clock)
  std::string run;             // of this run of radlc, unique; empty where nothing is changed
  bool booting = false;        // connecting: the machine has not been reached before
  std::function<void(const std::string& line)> log = [](const std::string&) {};
  const std::map<std::string, std::string>* secrets = nullptr;  // name -> value: ir::Secrets
  Environment environment;                                      // of the user whom this is done for
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();  // of the run
};

}  // namespace radl
