#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/human.h"
#include "common/text.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/render.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/replaceable.h"

namespace radl::cli::explain_command {
namespace {

int list_codes() {
  for (const CodeInfo& code : all_codes()) {
    std::printf("%s  %s\n", std::string(code.id).c_str(), std::string(code.title).c_str());
  }
  return kDone;
}

int explain_code(const Session& session, const std::string& id) {
  if (const CodeInfo* code = find_code(id)) {
    std::fputs(explain(*code).c_str(), stdout);
    return kDone;
  }
  std::vector<std::string> ids;
  for (const CodeInfo& code : all_codes()) ids.emplace_back(code.id);
  std::string near = nearest(id, ids);
  return report(session,
                not_found("unknown code " + id)
                    .with_hint(near.empty() ? "run `radlc explain --list`" : "did you mean " + near + "?"));
}

bool names_a_file(const std::string& word) {
  return word.ends_with(".radl") || word.ends_with("/") || word == "." || word == "..";
}

std::string nodes_in_words(size_t count) { return count == 0 ? "no node yet" : counted(count, "node"); }

// Which modules of the standard library would take the place of recipes.
int explain_recipes(const Session& session, const std::vector<std::string>& files) {
  ProjectOptions options;
  options.files = files;
  auto with = compile_options(session, options);
  if (!with.ok()) return report(session, with.status());
  with->lenient = true;
  auto paths = source_files(options);
  if (!paths.ok()) return report(session, paths.status());
  SourceMap sources;
  Diagnostics diagnostics;
  const auto compiled = compile(*paths, *with, sources, diagnostics);
  if (!compiled) {
    diagnostics.sort();
    std::fputs(render_text(diagnostics, sources, {}).c_str(), stderr);
    return kUserError;
  }
  const std::vector<Replaceable> all = replaceable_recipes(*compiled);
  for (const Replaceable& one : all) {
    std::printf("%s:%d: recipe '%s' of %s: '%s' would do this\n", shown(one.origin.path).c_str(),
                one.origin.line, shown(one.recipe).c_str(), nodes_in_words(one.nodes.size()).c_str(),
                one.module.c_str());
    for (const std::string& line : one.why) std::printf("    | %s\n", shown(line).c_str());
    std::printf("    %s\n", module_in_words(one.module).c_str());
  }
  if (all.empty()) std::printf("No recipe does what a module of the standard library does.\n");
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "explain", "Explain the code of an error or warning, or name modules that could replace recipes");
  auto words = std::make_shared<std::vector<std::string>>();
  auto list = std::make_shared<bool>(false);
  command->add_option("CODE", *words,
                      "such as E0101; or files, whose recipes are compared with the standard library");
  command->add_flag("--list", *list, "list all codes with their titles");
  return [=, &session]() -> int {
    if (*list || words->empty()) return list_codes();
    if (names_a_file(words->front())) return explain_recipes(session, *words);
    return explain_code(session, words->front());
  };
}

}  // namespace radl::cli::explain_command
