// Everything with which a run acts on the world: clouds, step runners and connections.
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
  std::string cloud;  // for nodes without a cloud; empty: CloudSet::name_for
  std::string auth;   // auth file of the Infrastructure Manager
  int parallelism = 10;
};

// The built-in catalog, updated by `radlc catalog update`.
Catalog current_catalog(const Host& host);

class Machinery {
 public:
  // `auth`: each line is a cloud by its id; the first of a type is that type's default account. `host` must
  // outlive this object. `stop`: ends queries of clouds while a plan is made.
  Machinery(const Host& host, const MachineryOptions& options, Catalog catalog,
            std::shared_ptr<const AuthFile> auth, const Stop& stop);
  const Host& host() const { return host_; }
  const CloudSet& clouds() const { return clouds_; }
  const Catalog& catalog() const { return catalog_; }
  // Returns a Run with clouds, runners, connector, world and options. The caller adds store, program, secrets
  // and sinks. Must not outlive this object.
  Run run();

 private:
  const Host& host_;
  MachineryOptions options_;
  Catalog catalog_;
  ssh::Connections connections_;  // must outlive the clouds
  CloudSet clouds_;
  std::unique_ptr<StepRunner> native_, ansible_, cloud_init_, training_, program_;
  ssh::Logins logins_;
};

// Invalid for an unknown cloud (with the nearest name).
Result<std::unique_ptr<Machinery>> make_machinery(const Host& host, const MachineryOptions& options,
                                                  const Stop& stop = {});

}  // namespace radl::driver
