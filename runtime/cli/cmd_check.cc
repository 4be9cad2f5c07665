#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "common/version.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/clouds/elsewhere.h"
#include "tools/findings/findings.h"

namespace radl::cli::check_command {
namespace {

struct Options {
  std::vector<std::string> paths, inputs, module_path, warnings;
  std::string format = "text";
  bool json = false, together = false, quiet = false;
};

// Files without an error that ask for clouds of the Infrastructure Manager's that radlc does not have.
void say_what_is_not_there(const Host& host, const FindingsReport& found, const CompileOptions& compiling) {
  bool any = false;
  for (const auto& document : found.documents) {
    const auto& files = document->sources.files();
    if (std::none_of(files.begin(), files.end(),
                     [](const auto& file) { return may_ask_elsewhere(file->text()); }))
      continue;
    SourceMap sources;
    Diagnostics ignored;  // they have been shown
    CompileOptions options = compiling;
    options.inputs_may_be_missing = true;
    auto compiled = compile(document->paths, options, sources, ignored);
    if (!compiled) continue;
    for (const AskedElsewhere& one : asked_elsewhere(compiled->program)) {
      std::fprintf(stderr, "%s:%d: note: %s\n", one.origin.path.c_str(), one.origin.line, one.text.c_str());
      any = true;
    }
  }
  if (any) std::fprintf(stderr, "%s\n", supported_clouds(types_of(*host.providers)).c_str());
}

int run(const Session& session, const Options& options) {
  FindingsRequest request;
  request.paths = options.paths.empty() ? std::vector<std::string>{"."} : options.paths;
  request.together = options.together;
  request.warnings = options.warnings;
  ProjectOptions project;
  project.inputs = options.inputs;
  project.module_path = options.module_path;
  auto compile = compile_options(session, project);
  if (!compile.ok()) return report(session, compile.status());
  request.compile = *compile;
  request.compile.ask = nullptr;  // a check asks nothing
  auto found = findings_of(request);
  if (!found.ok()) return report(session, found.status());
  std::string format = options.json ? "json" : options.format;
  if (format == "json") {
    std::fputs(render_json(*found).c_str(), stdout);
  } else if (format == "sarif") {
    std::fputs(render_sarif(*found, kVersionText).c_str(), stdout);
  } else if (format == "github") {
    std::fputs(render_github(*found).c_str(), stdout);
  } else {
    RenderOptions look;
    look.color = session.terminal.color;
    std::fputs(render_text(*found, look).c_str(), stderr);
  }
  say_what_is_not_there(session.host, *found,
                        request.compile);  // no finding: beside whatever form they are in
  if (format == "text" && !options.quiet) {
    std::fprintf(stderr, "%s\n", summary(*found).c_str());
    if (found->fit_together)
      std::fputs("together these files have no error: radlc check --together reads them as one document\n",
                 stderr);
  }
  return found->errors() > 0 ? kUserError : kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("check", "Find mistakes in files and folders");
  auto options = std::make_shared<Options>();
  command->add_option("PATH", options->paths,
                      "files, folders, or - for standard input (default: this folder)");
  command->add_flag("--together", options->together, "read all files as one document, as plan does");
  command->add_option("-i,--input", options->inputs, "value of an input, NAME=VALUE")
      ->type_name("NAME=VALUE");
  command->add_option("--module-path", options->module_path, "folder in which modules are searched")
      ->type_name("DIR");
  command
      ->add_option("-W", options->warnings,
                   "warnings: -Wno-CODE, -WCODE, -Wnone, -Werror, -Werror=CODE, -Wno-error=CODE")
      ->type_name("SETTING");
  command->add_flag("--json", options->json, "findings as JSON on standard output");
  command->add_option("--format", options->format, "format of the findings")
      ->check(CLI::IsMember({"text", "json", "sarif", "github"}));
  command->add_flag("-q,--quiet", options->quiet, "print no summary");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::check_command
