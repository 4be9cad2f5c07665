// Base of commands with --server: the client, the selected infrastructure, and a run's
// events.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/json_values.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/service_client.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/signals.h"

namespace radl::cli {

class OnService {
 public:
  OnService(const Session& session, const ServiceRequest& request) : session_(session), request_(request) {}

 protected:
  Status connect();
  // Finds the caller's infrastructure with that name or ID. NotFound, with `absent_`, if there is
  // none.
  Status find(const std::string& name);
  // connect() and find(), by --name or the file's name.
  Status find_named();
  Result<std::string> named_run();  // the requested run; else the newest that is not over; else the newest
  // Prints the events of a run until its end. Returns the run's exit code.
  int follow(const std::string& run, unsigned long long from);
  std::string path(const std::string& rest = {}) const { return "/infrastructures/" + id_ + rest; }
  // A separate client for requests after Ctrl-C, limited to 10 seconds.
  Result<std::unique_ptr<ServiceClient>> client_of_its_own() const;
  // The command line `rest` for this infrastructure on the service.
  std::string command_line(const std::string& rest) const {
    return "radlc --server " + client_->url() + " " + rest + " --name " + id_;
  }

  const Session& session_;
  const ServiceRequest& request_;
  Cancellation cancellation_;
  SignalGuard guard_{cancellation_};
  std::optional<ServiceClient> client_;
  std::string name_;  // as given
  std::string id_;    // of the infrastructure; empty: none
  bool absent_ = false;
  EventLines lines_{Plan(), session_.terminal.color, true};

 private:
  void print(const Event& event);

  std::unique_ptr<JsonLinesSink> log_;  // --log-json
};

}  // namespace radl::cli
