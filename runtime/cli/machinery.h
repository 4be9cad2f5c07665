// What a run needs to touch the world: the clouds, the step runners and the connections, put together once.
#pragma once

#include <memory>
#include <string>

#include "common/stop.h"
#include "runtime/auth/auth_file.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cli/command.h"
#include "runtime/exec/executor.h"
#include "runtime/net/ssh/connections.h"
#include "runtime/net/ssh/login.h"

namespace radl::cli {

struct RunOptions {
  std::string cloud;  // for nodes that name none; empty: CloudSet::name_for
  std::string auth;   // auth file of the Infrastructure Manager
  int parallelism = 10;
  std::string log_json;  // file that gets every event as a JSON line
  bool json = false;     // events on standard output instead of text
  bool auto_approve = false;
  double lock_timeout = 0;  // seconds
  bool ask_sudo_password = false;
  std::string on_error = "keep";
};

void add_run_options(CLI::App& command, RunOptions& options);
void add_cloud_option(CLI::App& command, RunOptions& options);
void add_lock_timeout(CLI::App& command, double& seconds);

// What radlc was built with, and what `radlc catalog update` brought since.
Catalog current_catalog();

class Machinery {
 public:
  // `auth`: its EC2 lines are clouds by their ids, and the first of them is the account of `ec2`.
  Machinery(const RunOptions& options, Catalog catalog, std::shared_ptr<const AuthFile> auth);
  const CloudSet& clouds() const { return clouds_; }
  const Catalog& catalog() const { return catalog_; }
  // A Run with clouds, runners, connector, world and options set; the caller adds store, program, secrets
  // and sinks. Not longer than this.
  Run run();

 private:
  // Under its type's name and the ids of the auth file's lines of a type.
  void add_family(std::unique_ptr<CloudFamily> family, const AuthFile* auth, const char* type);

  RunOptions options_;
  Catalog catalog_;
  ssh::Connections connections_;  // outlives the clouds
  std::vector<std::unique_ptr<Cloud>> owned_;
  std::vector<std::unique_ptr<CloudFamily>> families_;
  CloudSet clouds_;
  std::unique_ptr<StepRunner> native_, ansible_, cloud_init_, training_, program_;
  ssh::Logins logins_;
};

// Invalid for an unknown cloud (with the nearest name).
Result<std::unique_ptr<Machinery>> make_machinery(const RunOptions& options, const Stop& stop = {});

}  // namespace radl::cli
