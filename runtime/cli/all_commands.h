// The functions that add the commands; each is defined in cmd_NAME.cc.
#pragma once

#include "runtime/cli/command.h"

namespace radl::cli {

std::function<int()> add_check(CLI::App& app, Session& session);
std::function<int()> add_plan(CLI::App& app, Session& session);
std::function<int()> add_apply(CLI::App& app, Session& session);
std::function<int()> add_destroy(CLI::App& app, Session& session);
std::function<int()> add_show(CLI::App& app, Session& session);
std::function<int()> add_output(CLI::App& app, Session& session);
std::function<int()> add_ssh(CLI::App& app, Session& session);
std::function<int()> add_logs(CLI::App& app, Session& session);
std::function<int()> add_state(CLI::App& app, Session& session);
std::function<int()> add_compile(CLI::App& app, Session& session);
std::function<int()> add_fmt(CLI::App& app, Session& session);
std::function<int()> add_lsp(CLI::App& app, Session& session);
std::function<int()> add_explain(CLI::App& app, Session& session);
std::function<int()> add_doc(CLI::App& app, Session& session);
std::function<int()> add_graph(CLI::App& app, Session& session);
std::function<int()> add_console(CLI::App& app, Session& session);
std::function<int()> add_convert(CLI::App& app, Session& session);
std::function<int()> add_templates(CLI::App& app, Session& session);
std::function<int()> add_completions(CLI::App& app, Session& session);
std::function<int()> add_version(CLI::App& app, Session& session);

}  // namespace radl::cli
