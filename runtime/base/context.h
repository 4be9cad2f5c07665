// The arguments common to every call to a cloud, a step runner or a connection.
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
  std::string infrastructure;  // unique ID, part of names and tags
  std::string work_directory;  // private to this infrastructure (mode 0700), beside the state
  Stop stop;                   // for the whole call; its deadline is on the run's clock (World::clock)
  std::string run;             // unique ID of this run of radlc; empty for read-only calls
  bool booting = false;        // when connecting: the machine has not been reached before
  std::function<void(const std::string& line)> log = [](const std::string&) {};
  const std::map<std::string, std::string>* secrets = nullptr;  // name -> value: ir::Secrets
  Environment environment;                                      // of the user for whom the call is made
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();  // of the run
};

}  // namespace radl
