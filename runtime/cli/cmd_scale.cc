// Adds nodes to a system of a running infrastructure, or takes some away.
#include <CLI/CLI.hpp>

#include "runtime/cli/apply.h"
#include "runtime/cli/service_commands.h"
#include "runtime/plan/ordinals.h"

namespace radl::cli::scale_command {
namespace {

struct Options {
  apply_command::Options apply;
  std::vector<std::string> words;  // FILE..., SYSTEM, N
  std::vector<std::string> nodes;  // of --node
  bool reset = false;
};

constexpr int kMostNodes = 100000;

// "4", "+2", "-1".
Status read_count(const std::string& word, ScaleRequest& scale) {
  const size_t sign = word.starts_with('+') || word.starts_with('-') ? 1 : 0;
  const std::string digits = word.substr(sign);
  if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
    return invalid("'" + word + "' is not a number of nodes; write 4, +2 or -1");
  const int count = std::stoi(digits);
  if (count > kMostNodes)
    return invalid("a program may have " + std::to_string(kMostNodes) + " nodes in all");
  scale.count = word.starts_with('-') ? -count : count;
  scale.relative = sign != 0;
  return {};
}

Status read_nodes(const std::vector<std::string>& nodes, ScaleRequest& scale) {
  for (const std::string& node : nodes) {
    std::string system, rest;
    int ordinal = 0;
    if (!split_ordinal(node, system, ordinal, rest) || !rest.empty() || system != scale.system)
      return invalid("--node " + node + ": a node of the system is '" + scale.system + "[0]'");
    scale.without.push_back(ordinal);
  }
  return {};
}

Status read_words(Options& options, ScaleRequest& scale) {
  take_files(options.words, options.apply.project);
  if (options.words.empty() || options.words.size() > 2)
    return Status(Code::Invalid, "a system and a number of nodes are required")
        .with_hint("radlc scale [FILE] SYSTEM N");
  scale.system = options.words[0];
  scale.reset = options.reset;
  const bool counted = options.words.size() == 2;
  if (counted == options.reset && options.nodes.empty())
    return invalid(counted ? "either a number of nodes or --reset"
                           : "how many nodes? a number, +N, -N, --node or --reset");
  if (options.reset && !options.nodes.empty()) return invalid("either --node or --reset");
  if (counted) {
    if (Status read = read_count(options.words[1], scale); !read.ok()) return read;
  }
  return read_nodes(options.nodes, scale);
}

int run_scale(const Session& session, Options& options) {
  ScaleRequest scale;
  if (Status read = read_words(options, scale); !read.ok()) return report(session, read);
  if (!session.server.empty())
    return run_on_service(session, {.project = options.apply.project,
                                    .run = options.apply.run,
                                    .plan = options.apply.request,
                                    .scale = std::move(scale)});
  options.apply.scale = std::move(scale);
  return apply_command::run(session, options.apply);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("scale", "Add nodes to a running infrastructure, or remove some");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->apply.project, &options->words);
  command->add_option("SYSTEM", "the system to scale, for example 'worker'");
  command->add_option(
      "N", "new number of nodes; +N and -N add and remove nodes. Write `-- -1` for a leading minus sign");
  add_run_options(*command, options->apply.run);
  command
      ->add_option("--node", options->nodes,
                   "remove this node instead of the last one, for example 'worker[1]'; may be repeated")
      ->type_name("ADDRESS");
  command->add_flag("--reset", options->reset, "use the number in the file again");
  add_max_cost_option(*command, options->apply.request);
  return [options, &session] { return run_scale(session, *options); };
}

}  // namespace radl::cli::scale_command
