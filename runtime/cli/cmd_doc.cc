#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "compiler/diag/render.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/result_file.h"
#include "tools/doc/doc.h"
#include "tools/doc/features_page.h"

namespace radl::cli::doc_command {
namespace {

int put_page(const Session& session, std::string text, const ResultFile& out) {
  return put_result(session, marked(std::move(text), ResultKind::Page), out, ResultKind::Page);
}

int run(const Session& session, const std::string& path, const std::string& name, const ResultFile& out) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto source = sources.load(path);
  if (!source.ok()) return report(session, source.status());
  auto tree = parse(**source, diagnostics);
  if (tree->syntax_errors || diagnostics.has_errors()) {
    RenderOptions look;
    look.color = session.terminal.color;
    std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
    return kUserError;
  }
  return put_page(
      session, document_file(*tree, name.empty() ? std::filesystem::path(path).stem().string() : name), out);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doc", "Write a page about a file: inputs, outputs, systems, recipes (Markdown)");
  auto path = std::make_shared<std::string>(), name = std::make_shared<std::string>();
  auto out = std::make_shared<ResultFile>();
  auto features = std::make_shared<bool>(false), resources = std::make_shared<bool>(false);
  command->add_option("FILE", *path, "a RADL file");
  command->add_flag("--features", *features, "list all features instead of a file");
  command->add_flag("--resources", *resources, "list the resource types of recipes instead of a file");
  command->add_option("--name", *name, "name of the module in `use` (default: the file's name)");
  add_result_file(*command, "-o,--output", *out, "file to write (default: standard output)");
  return [=, &session]() -> int {
    if (*features + *resources + !path->empty() != 1)
      return report(session, invalid("FILE is required, or one of --features and --resources"));
    if (*features) return put_page(session, features_page(), *out);
    return *resources ? put_page(session, ir::resource_schema_markdown(), *out)
                      : run(session, *path, *name, *out);
  };
}

}  // namespace radl::cli::doc_command
