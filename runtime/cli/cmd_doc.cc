#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/files.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "compiler/tools/doc/doc.h"
#include "runtime/cli/all_commands.h"

namespace radl::cli::doc_command {
namespace {

int run(const Session& session, const std::string& path, const std::string& name, const std::string& out) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto source = sources.load(path);
  if (!source.ok()) return report(session, source.status());
  auto tree = parse(**source, diagnostics);
  if (tree->syntax_errors) {
    RenderOptions look;
    look.color = session.terminal.color;
    std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
    return kUserError;
  }
  std::string page = document_file(*tree, name.empty() ? std::filesystem::path(path).stem().string() : name);
  if (out.empty()) {
    std::fputs(page.c_str(), stdout);
    return kDone;
  }
  Status written = write_file_atomic(out, page);
  return written.ok() ? int(kDone) : report(session, written);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doc", "Write a page about a file: inputs, outputs, systems, recipes (Markdown)");
  auto path = std::make_shared<std::string>(), name = std::make_shared<std::string>(),
       out = std::make_shared<std::string>();
  command->add_option("FILE", *path, "a RADL file")->required();
  command->add_option("--name", *name, "the module's name, as `use` would write it (default: the file's)");
  command->add_option("-o,--output", *out, "file to write (default: standard output)")->type_name("FILE");
  return [=, &session] { return run(session, *path, *name, *out); };
}

}  // namespace radl::cli::doc_command
