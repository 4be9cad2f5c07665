#include <unistd.h>

#include <CLI/CLI.hpp>

#include "common/version.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "tools/lsp/server.h"

namespace radl::cli::lsp_command {

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("lsp", "Language server for editors, on standard input and output");
  auto options = std::make_shared<ProjectOptions>();
  auto standard = std::make_shared<bool>(false);
  command->add_option("--module-path", options->module_path, "folder in which modules are searched")
      ->type_name("DIR");
  command->add_flag("--stdio", *standard, "accepted for editors that pass it; always in effect");
  return [=, &session]() -> int {
    auto compile = compile_options(session, *options);
    if (!compile.ok()) return report(session, compile.status());
    lsp::ServerOptions server;
    server.version = kVersionText;
    server.module_path = compile->module_path;
    server.environment = compile->environment;
    server.image_schemes = compile->image_schemes;
    return lsp::serve(STDIN_FILENO, STDOUT_FILENO, server);
  };
}

}  // namespace radl::cli::lsp_command
