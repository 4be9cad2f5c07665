#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>

#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/driver/nodes.h"
#include "runtime/exec/jump.h"
#include "runtime/net/ssh/key_places.h"
#include "runtime/net/ssh/target.h"

namespace radl::cli::ssh_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;     // FILE..., NODE, COMMAND...
  std::vector<std::string> forwards;  // [ADDRESS:]PORT:HOST:PORT
};

// A path as ssh's options take it. Those below the work folder are given from there, and ssh is started
// there: a path may hold spaces, quotes and ${...}, which mean something to its parser.
std::string path_for_ssh(const std::string& path, const std::string& work_directory) {
  if (path.starts_with(work_directory + "/")) return path.substr(work_directory.size() + 1);
  std::string doubled;
  for (char c : path) doubled.append(c == '%' ? 2 : 1, c);
  return doubled;
}

// The system's client with our key and the host key that was pinned when the node was made.
Result<std::vector<std::string>> client_arguments(const Snapshot& state, const ResourceRecord& node,
                                                  const std::string& work_directory,
                                                  const Environment& environment) {
  auto reached = attributes_to_reach(state, node, work_directory, environment);
  if (!reached.ok()) return reached.status();
  const Json& a = *reached;
  std::string host = a.value("host", ""), host_key = a.value("host_key", "");
  int port = a.value("port", 22);
  if (host.empty() || host_key.empty()) return not_found(node.address + " has no address yet");
  const std::string name = port == 22 ? host : fmt::format("[{}]:{}", host, port);
  const std::string line = name + " " + host_key + "\n";
  const std::string known_hosts = "known_hosts." + node.address;
  if (Status written = write_file_atomic(work_directory + "/" + known_hosts, line, 0600); !written.ok())
    return written;
  std::vector<std::string> arguments = {"ssh", "-p", std::to_string(port)};
  for (const std::string& option :
       {"UserKnownHostsFile=" + known_hosts, std::string("GlobalKnownHostsFile=/dev/null"),
        std::string("StrictHostKeyChecking=yes"), "HostKeyAlias=" + name, std::string("LogLevel=ERROR")})
    arguments.insert(arguments.end(), {"-o", option});
  // Behind a jump host the name is one that this file explains.
  const std::string config = ssh::ssh_config_file(environment, a.value("ssh_config", ""));
  if (!config.empty()) arguments.insert(arguments.end(), {"-F", config});
  if (const std::string print = a.value("key", ""); !print.empty()) {
    auto key = ssh::find_key(print, ssh::key_places(environment, work_directory));
    if (!key.ok()) return key.status();
    if (!key->file.empty())
      arguments.insert(arguments.end(), {"-i", path_for_ssh(key->file, work_directory)});
    if (!key->in_agent) arguments.insert(arguments.end(), {"-o", "IdentitiesOnly=yes"});
  }
  std::string user = a.value("user", "");
  arguments.push_back(user.empty() ? host : user + "@" + host);
  return arguments;
}

int run_ssh(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.empty()) return report(session, invalid("NODE is required, for example 'worker[0]'"));
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto node = node_called(nodes->state, options.words.front());
  if (!node.ok()) return report(session, node.status());
  const std::string& work = nodes->work_directory;
  auto arguments = client_arguments(nodes->state, **node, work, nodes->environment);
  if (!arguments.ok()) return report(session, arguments.status());
  // In front of the host; without a command there is nothing but the ports, until Ctrl-C.
  std::vector<std::string> ports;
  for (const std::string& forward : options.forwards) ports.insert(ports.end(), {"-L", forward});
  if (!ports.empty()) ports.insert(ports.end(), {"-o", "ExitOnForwardFailure=yes"});
  if (!ports.empty() && options.words.size() == 1) ports.emplace_back("-N");
  arguments->insert(arguments->end() - 1, ports.begin(), ports.end());
  if (options.words.size() == 2) {
    arguments->push_back(options.words[1]);  // a shell line, as ssh itself takes it
  } else {
    for (size_t i = 1; i < options.words.size(); ++i) arguments->push_back(shell_quote(options.words[i]));
  }
  if (::chdir(work.c_str()) != 0) return report(session, errno_status(errno, work));
  // A login lives long: it gets what ssh uses, and none of our credentials.
  std::vector<std::string> allowed = kBasicVariables;
  allowed.insert(allowed.end(), {"LANG", "LANGUAGE", "LC_*", "COLORTERM", "DISPLAY", "XAUTHORITY", "SSH_*"});
  const ProcessImage image(find_program(nodes->environment, arguments->front()), *arguments,
                           environment_of(nodes->environment, allowed, {}));
  ::execve(image.file.c_str(), image.argv.data(), image.environment.data());
  return report(session, Status(Code::NotFound, std::string("ssh cannot be started: ") + std::strerror(errno))
                             .with_hint("install the package openssh-client"));
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("ssh", "Log in to a node, or run a command there");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("NODE", "for example 'worker[0]', or the system's name if it has one node");
  command->add_option("COMMAND", "command to run there (default: a shell)");
  command
      ->add_option("-L,--forward", options->forwards,
                   "[ADDRESS:]PORT:HOST:PORT: forward a port of this computer through the node; without "
                   "COMMAND, until Ctrl-C")
      ->type_size(1)
      ->allow_extra_args(false);
  command->positionals_at_end(false)->prefix_command(false);
  return [options, &session] { return run_ssh(session, *options); };
}

}  // namespace radl::cli::ssh_command
