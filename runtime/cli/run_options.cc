#include "runtime/cli/run_options.h"

#include <CLI/CLI.hpp>

#include "runtime/exec/events.h"

namespace radl::cli {

void add_cloud_option(CLI::App& command, MachineryOptions& options) {
  command
      .add_option("--cloud,--provider", options.cloud,
                  "cloud for nodes whose `deploy` names none (default: the cloud of their image, else local)")
      ->type_name("CLOUD");
  command
      .add_option("--auth", options.auth,
                  "auth file of the Infrastructure Manager (default: RADL_AUTH, IM_AUTH, or the credentials "
                  "of the clouds' own tools)")
      ->type_name("FILE");
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_cloud_option(command, options);
  command.add_option("--parallelism", options.parallelism, "number of concurrent actions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("-y,--auto-approve", options.auto_approve, "do not ask for approval");
  command.add_flag("--json", options.json, "events as JSON lines on standard output instead of text");
  command.add_option("--log-json", options.log_json, "also write every event as a line of JSON to this file")
      ->type_name("FILE")
      ->check([](const std::string& path) { return JsonLinesSink::may_append(path).text(); });
  add_lock_timeout(command, options.lock_timeout);
}

void add_lock_timeout(CLI::App& command, double& seconds) {
  command.add_option("--lock-timeout", seconds, "seconds to wait for the lock of the state")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace radl::cli
