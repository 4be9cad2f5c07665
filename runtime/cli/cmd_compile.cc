#include <CLI/CLI.hpp>
#include <cstdio>

#include "compiler/diag/render.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/result_file.h"

namespace radl::cli::compile_command {

namespace {

// What one pass makes, as text (docs/tour.md). It is shown also where a later pass finds errors.
int dump(const Session& session, const ProjectOptions& options, const std::string& pass) {
  auto files = source_files(options);
  if (!files.ok()) return report(session, files.status());
  auto with = compile_options(session, options);
  if (!with.ok()) return report(session, with.status());
  with->on_pass = [&](std::string_view name, const std::string& text) {
    if (name == pass) std::fputs(text.c_str(), stdout);
  };
  SourceMap sources;
  Diagnostics diagnostics;
  bool done = compile(*files, *with, sources, diagnostics).has_value();
  diagnostics.sort();
  RenderOptions look;
  look.color = session.terminal.color;
  std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
  return done ? kDone : kUserError;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("compile", "Write the compiled form (docs/ir.md) as JSON");
  auto options = std::make_shared<ProjectOptions>();
  auto out = std::make_shared<ResultFile>();
  add_project_options(*command, *options);
  add_result_file(*command, "-o,--output", *out, "file to write (default: standard output)");
  auto pass = std::make_shared<std::string>();
  std::vector<std::string> passes;
  for (const auto& [name, what] : compiler_passes()) passes.emplace_back(name);
  command->add_option("--dump", *pass, "print the result of one pass of the compiler as text")
      ->type_name("PASS")
      ->check(CLI::IsMember(passes));
  return [=, &session]() -> int {
    if (!pass->empty()) return dump(session, *options, *pass);
    auto project = load_project(session, *options);
    if (!project.ok()) return report(session, project.status());
    std::string text = ir::to_json((*project)->compiled.program).dump(2) + "\n";
    return put_result(session, text, *out, ResultKind::Compiled);
  };
}

}  // namespace radl::cli::compile_command
