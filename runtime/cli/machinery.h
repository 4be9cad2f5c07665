// What a run needs to touch the world: the providers, the step runners and the connections, put together
// once.
#pragma once

#include <memory>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/exec/executor.h"

namespace radl::cli {

struct RunOptions {
  std::string provider = "local";
  int parallelism = 10;
  std::string log_json;  // file that gets every event as a JSON line
  bool json = false;     // events on standard output instead of text
  bool auto_approve = false;
  double lock_timeout = 0;  // seconds
  std::string on_error = "keep";
};

void add_run_options(CLI::App& command, RunOptions& options);
void add_lock_timeout(CLI::App& command, double& seconds);

class Machinery {
 public:
  explicit Machinery(const RunOptions& options);
  const ProviderSet& providers() const { return providers_; }
  // A Run with providers, runners, connector, world and options set; the caller adds store, program, secrets
  // and sinks.
  Run run();

 private:
  RunOptions options_;
  std::unique_ptr<Provider> local_;
  std::unique_ptr<StepRunner> native_, ansible_, cloud_init_, training_;
  ProviderSet providers_;
};

// Invalid for an unknown provider (with the nearest name).
Result<std::unique_ptr<Machinery>> make_machinery(const RunOptions& options);

}  // namespace radl::cli
