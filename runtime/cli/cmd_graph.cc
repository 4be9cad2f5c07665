#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/process/process.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/result_file.h"
#include "tools/graph/graph.h"

namespace radl::cli::graph_command {
namespace {

struct Options {
  ProjectOptions project;
  GraphOptions graph;
  ResultFile out;
  std::string format;
  bool only_machines = false, only_steps = false;
};

// Through graphviz; its formats are ours.
Result<std::string> drawn(const Environment& environment, const std::string& dot, const std::string& format) {
  if (format == "dot") return dot;
  ProcessRequest request;
  request.argv = {"dot", "-T" + format};
  request.stdin_bytes = dot;
  request.keep_bytes = size_t{256} << 20;
  auto result = run_process(environment, request);
  if (!result.ok() && result.status().code() == Code::NotFound) {
    return Status(Code::Unsupported,
                  "drawing " + format + " needs graphviz, and its program dot is not installed")
        .with_hint("install the package graphviz, or write DOT with --format dot");
  }
  if (!result.ok()) return std::move(result).status();
  if (result->exit_status != 0)
    return invalid("dot cannot draw " + format + ": " + result->err.substr(0, result->err.find('\n')));
  return std::move(result->out);
}

int run(const Session& session, const Options& options) {
  auto project = load_project(session, options.project);
  if (!project.ok()) return report(session, project.status());
  GraphOptions graph = options.graph;
  graph.machines = !options.only_steps;
  graph.steps = !options.only_machines;
  std::string format = options.format;
  if (format.empty()) {  // as the file's name says
    size_t dot = options.out.path.rfind('.');
    format = dot == std::string::npos ? "dot" : options.out.path.substr(dot + 1);
  }
  auto image = drawn(session.host.environment(), program_dot((*project)->compiled.program, graph), format);
  if (!image.ok()) return report(session, image.status());
  return put_result(session, marked(std::move(*image), ResultKind::Drawing), options.out,
                    ResultKind::Drawing);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("graph", "Draw nodes, networks and the order of steps (DOT, or SVG with graphviz)");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  add_result_file(*command, "-o,--output", options->out,
                  "file to write; .svg, .png and .pdf need graphviz (default: DOT to standard output)");
  command->add_option("--format", options->format, "dot, svg, png, pdf (default: by the file name)");
  command->add_flag("--each-node", options->graph.each_node, "draw each node as a box of its own");
  auto* machines = command->add_flag("--machines", options->only_machines, "nodes and networks only");
  command->add_flag("--steps", options->only_steps, "steps only")->excludes(machines);
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::graph_command
