// What a run needs to touch the world: the clouds, the step runners and the connections, put together once.
#pragma once

#include <memory>
#include <string>

#include "common/stop.h"
#include "runtime/auth/auth_file.h"
#include "runtime/catalog/catalog.h"
#include "runtime/driver/host.h"
#include "runtime/exec/executor.h"
#include "runtime/net/ssh/connections.h"
#include "runtime/net/ssh/login.h"

namespace radl::driver {

struct MachineryOptions {
  std::string cloud;  // for nodes that name none; empty: CloudSet::name_for
  std::string auth;   // auth file of the Infrastructure Manager
  int parallelism = 10;
};

// What radlc was built with, and what `radlc catalog update` brought since.
Catalog current_catalog(const Host& host);

class Machinery {
 public:
  // `auth`: its lines are clouds by their ids; the first of a type is the type's default account.
  // `host` outlives it. `stop`: of the run, for what a cloud asks while a plan is made.
  Machinery(const Host& host, const MachineryOptions& options, Catalog catalog,
            std::shared_ptr<const AuthFile> auth, const Stop& stop);
  const Host& host() const { return host_; }
  const CloudSet& clouds() const { return clouds_; }
  const Catalog& catalog() const { return catalog_; }
  // A Run with clouds, runners, connector, world and options set; the caller adds store, program, secrets
  // and sinks. Not longer than this.
  Run run();

 private:
  const Host& host_;
  MachineryOptions options_;
  Catalog catalog_;
  ssh::Connections connections_;  // outlives the clouds
  CloudSet clouds_;
  std::unique_ptr<StepRunner> native_, ansible_, cloud_init_, training_, program_;
  ssh::Logins logins_;
};

// Invalid for an unknown cloud (with the nearest name).
Result<std::unique_ptr<Machinery>> make_machinery(const Host& host, const MachineryOptions& options,
                                                  const Stop& stop = {});

}  // namespace radl::driver
