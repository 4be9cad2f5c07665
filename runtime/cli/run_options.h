// Options of commands that change infrastructures.
#pragma once

#include <string>

#include "runtime/cli/command.h"
#include "runtime/driver/machinery.h"

namespace radl::cli {

struct RunOptions : MachineryOptions {
  std::string log_json;  // receives every event as a JSON line
  bool json = false;     // events on standard output instead of text
  bool auto_approve = false;
  double lock_timeout = 0;  // seconds
  bool ask_sudo_password = false;
  std::string on_error = "keep";
};

void add_run_options(CLI::App& command, RunOptions& options);
void add_cloud_option(CLI::App& command, MachineryOptions& options);
void add_lock_timeout(CLI::App& command, double& seconds);

}  // namespace radl::cli
