// Functions that add the commands; each is defined in cmd_NAME.cc.
#pragma once

#include "runtime/cli/command.h"

namespace radl::cli {

namespace demo_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace login_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace serve_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace check_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace plan_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace apply_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace destroy_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace test_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace check_auth_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace show_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace show_command {
std::function<int()> add_output(CLI::App& app, Session& session);
}
namespace ssh_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace logs_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace list_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace runs_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace history_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace recommend_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace profile_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace calibration_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace catalog_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace im_import_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace import_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace state_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace compile_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace vendor_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace fmt_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace lsp_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace explain_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace doc_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace graph_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace console_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace convert_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace completions_command {
std::function<int()> add(CLI::App& app, Session& session);
}
namespace version_command {
std::function<int()> add(CLI::App& app, Session& session);
}

}  // namespace radl::cli
