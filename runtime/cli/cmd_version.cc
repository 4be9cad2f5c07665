#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/version.h"
#include "compiler/ir/ir.h"
#include "runtime/cli/all_commands.h"
#include "runtime/plan/plan.h"

namespace radl::cli::version_command {

std::function<int()> add(CLI::App& app, Session&) {
  CLI::App* command = app.add_subcommand("version", "Print the version and the features of this build");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  return [json] {
    if (*json) {
      std::printf("{\"radlc\":\"%s\",\"ir\":%d,\"job\":1,\"plan\":%d}\n", kVersionText, ir::kVersion,
                  kPlanVersion);
    } else {
      std::printf("radlc %s (IR %d, job 1, plan %d)\n", kVersionText, ir::kVersion, kPlanVersion);
    }
    return static_cast<int>(kDone);
  };
}

}  // namespace radl::cli::version_command
