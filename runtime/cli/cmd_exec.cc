// Runs one command on many nodes concurrently.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "common/shell_quote.h"
#include "runtime/cli/exec_input.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/node_output.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/nodes.h"

namespace radl::cli::exec_command {
namespace {

constexpr int kNoLogin = 255;  // as ssh itself ends where it cannot log in

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., NODE...
  std::string command;
  int parallelism = 10;
  double timeout = 0;  // seconds; 0: none
  bool no_input = false;
};

// The named nodes without duplicates; all nodes if none is named.
Result<std::vector<const ResourceRecord*>> chosen_nodes(const Snapshot& state,
                                                        const std::vector<std::string>& words) {
  std::vector<const ResourceRecord*> chosen;
  for (const std::string& word : words) {
    auto found = nodes_called(state, word);
    if (!found.ok()) return found;
    for (const ResourceRecord* node : *found) {
      if (std::find(chosen.begin(), chosen.end(), node) == chosen.end()) chosen.push_back(node);
    }
  }
  for (const auto& [address, resource] : state.resources) {
    if (words.empty() && resource.is_node()) chosen.push_back(&resource);
  }
  if (chosen.empty()) return not_found(state.name + " has no nodes");
  return chosen;
}

int run_on(const Nodes& nodes, const ResourceRecord& node, const Options& options, const ExecInput& input,
           bool alone, const Cancellation& cancellation) {
  NodeOutput output(alone ? "" : node.address);
  ExecOptions how;
  how.stop = Stop::when([&] { return cancellation.stop_starting() || input.failure(); });
  how.more_stdin = input.source();
  how.deadline = options.timeout > 0
                     ? std::chrono::milliseconds(static_cast<long long>(options.timeout * 1000))
                     : std::chrono::milliseconds(std::chrono::hours(24 * 365));
  how.keep_bytes = 0;
  how.login_locale = true;
  how.on_output = [&](std::string_view piece, bool is_stderr) { output.add(piece, is_stderr); };
  auto remote = connect_to(nodes, node);
  auto result = remote.ok() ? (*remote)->exec(options.command, how) : Result<ExecResult>(remote.status());
  if (result.ok()) return result->exit_status;
  output.add(result.status().text() + "\n", true);
  return kNoLogin;
}

int run_exec(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.command.empty())
    return report(session,
                  Status(Code::Invalid, "a command is required").with_hint("radlc exec NODE... -- COMMAND"));
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto chosen = chosen_nodes(nodes->state, options.words);
  if (!chosen.ok()) return report(session, chosen.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const bool alone = chosen->size() == 1;
  ExecInput input;
  // A terminal's keys are for `radlc ssh`: several nodes cannot share them.
  if (!options.no_input && ::isatty(STDIN_FILENO) == 0) {
    if (Status opened = input.open(chosen->size(), static_cast<size_t>(options.parallelism)); !opened.ok())
      return report(session, opened);
  }
  const std::vector<int> ends = on_each(*chosen, options.parallelism, [&](const ResourceRecord& node) {
    return cancellation.stop_starting() ? kNoLogin
                                        : run_on(*nodes, node, options, input, alone, cancellation);
  });
  for (size_t i = 0; i < ends.size() && !alone; ++i) {
    if (ends[i] != 0)
      std::fprintf(stderr, "%s: exit status %d\n", shown((*chosen)[i]->address).c_str(), ends[i]);
  }
  if (auto failed = input.failure()) return report(session, *failed);
  return cancellation.stop_starting() ? int(kInterrupted) : *std::max_element(ends.begin(), ends.end());
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("exec", "Run a command on several nodes at the same time");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("NODE", "for example 'worker[0]', or a system for all its nodes (default: every node)");
  command->add_option("-c,--command", options->command, "shell command to run, like a single word after --")
      ->type_name("LINE");
  command->add_option("--parallelism", options->parallelism, "number of nodes at the same time")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeout,
                   "end the command after this many seconds (default: no limit)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("-n,--no-stdin", options->no_input,
                    "do not pass standard input on, for example inside a loop that reads it");
  return [options, &session] { return run_exec(session, *options); };
}

}  // namespace radl::cli::exec_command
