// The functions that add the commands; each is defined in cmd_NAME.cc.
#pragma once

#include "runtime/cli/command.h"

namespace radl::cli {

std::function<int()> add_version(CLI::App& app, Session& session);

}  // namespace radl::cli
