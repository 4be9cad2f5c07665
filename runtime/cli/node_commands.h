// Commands that access nodes; the others are in all_commands.h.
#pragma once

#include "runtime/cli/command.h"

namespace radl::cli {

namespace exec_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace cp_command {
std::function<int()> add(CLI::App& app, Session& session);
}

namespace queue_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace run_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace farm_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace cancel_command {
std::function<int()> add(CLI::App& app, Session& session);
}

}  // namespace radl::cli
