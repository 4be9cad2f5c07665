#include <CLI/CLI.hpp>
#include <cstdio>

#include "compiler/check/check.h"
#include "compiler/check/document.h"
#include "compiler/compat/ec3/templates.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/radl_from_json.h"
#include "runtime/cli/result_file.h"

namespace radl::cli::convert_command {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string to;
  ResultFile out;
  bool fill_random = false;
};

bool is_json(const SourceFile& source) {
  if (source.path().ends_with(".radl")) return false;  // junk such as `[` may begin it
  size_t at = source.text().find_first_not_of(" \t\n");
  return at != std::string_view::npos && (source.text()[at] == '[' || source.text()[at] == '{');
}

std::optional<std::string> to_json(const std::vector<const SourceFile*>& sources, const Options& options,
                                   SourceMap& map, Diagnostics& diagnostics) {
  auto trees = parse_all(sources, diagnostics);
  auto load = [&](const std::string& path) { return map.load(path); };
  auto templates = ec3::compose_files(trees, {{}, load, load}, diagnostics);
  std::vector<const ast::Tree*> parts;
  for (const auto& tree : trees) parts.push_back(tree.get());
  sema::Document document = sema::build_document(parts, diagnostics);
  // EC3 checks what it composes. Plain RADL is converted without a check.
  if (templates.size() > 1 && document.dialect == ast::Dialect::Ec3 && !diagnostics.has_errors()) {
    Diagnostics found;
    sema::check_document(document, found, {.lenient = true, .unused = false});
    if (found.has_errors()) diagnostics.append(found);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  for (const auto& tree : trees) {
    if (tree->dialect != ast::Dialect::Radl2) continue;
    diagnostics.report(DiagCode::VersionBlock, tree->blocks[0]->span, "RADL-JSON has no form for `radl 2`")
        .with_help("`radlc compile` writes the compiled form as JSON");
    return std::nullopt;
  }
  sema::JsonOptions look;
  look.fill_random = options.fill_random;
  return sema::to_radl_json(document, look);
}

int run(const Session& session, const Options& options) {
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<const SourceFile*> files;
  for (const std::string& path : options.paths) {
    auto source = sources.load(path);
    if (!source.ok()) return report(session, source.status());
    files.push_back(*source);
  }
  bool json_in = is_json(*files[0]);
  std::string to = options.to.empty() ? (json_in ? "radl" : "json") : options.to;
  if (json_in == (to == "json")) return report(session, invalid("the file is " + to + " already"));
  if (json_in && files.size() > 1)
    return report(session, invalid("RADL-JSON is converted one file at a time"));
  auto text =
      to == "json" ? to_json(files, options, sources, diagnostics) : radl_from_json(*files[0], diagnostics);
  diagnostics.sort();
  RenderOptions look;
  look.color = session.terminal.color;
  std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
  if (!text || diagnostics.has_errors()) return kUserError;
  if (!text->ends_with("\n")) *text += "\n";
  return put_result(session, *text, options.out, ResultKind::Source);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("convert", "Convert RADL to RADL-JSON, or back");
  auto options = std::make_shared<Options>();
  command
      ->add_option("FILE", options->paths,
                   "RADL files (read as one document) or one RADL-JSON file; - for standard input")
      ->required();
  command->add_option("--to", options->to, "json or radl (default: the other one)")
      ->check(CLI::IsMember({"json", "radl"}));
  command->add_flag("--fill-random", options->fill_random, "replace 'random(N)' by a random string");
  add_result_file(*command, "-o,--output", options->out, "file to write (default: standard output)");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::convert_command
