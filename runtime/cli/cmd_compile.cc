#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/files.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"

namespace radl::cli::compile_command {

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("compile", "Write the compiled form (docs/ir.md) as JSON");
  auto options = std::make_shared<ProjectOptions>();
  auto out = std::make_shared<std::string>();
  add_project_options(*command, *options);
  command->add_option("-o,--output", *out, "file to write (default: standard output)")->type_name("FILE");
  return [=, &session]() -> int {
    auto project = load_project(session, *options);
    if (!project.ok()) return report(session, project.status());
    std::string text = ir::to_json((*project)->compiled.program).dump(2) + "\n";
    if (out->empty()) {
      std::fputs(text.c_str(), stdout);
      return kDone;
    }
    if (Status written = write_file_atomic(*out, text); !written.ok()) return report(session, written);
    return kDone;
  };
}

}  // namespace radl::cli::compile_command
