// Prints what a task of a farm has printed.
#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>
#include <utility>

#include "common/files.h"
#include "common/json_values.h"
#include "common/shell_quote.h"
#include "runtime/base/redact.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/pool.h"

namespace radl::cli::farm_command {
namespace {

constexpr size_t kLongestLine = size_t{1} << 16;  // bytes; of a longer one, parts are shown as they come

// Prints masked lines; a terminal gets no escape sequences.
class LogPrinter {
 public:
  explicit LogPrinter(Redactor secrets) : secrets_(std::move(secrets)) {}
  void take(std::string_view piece) {
    line_ += piece;
    const size_t newline = line_.rfind('\n');
    const size_t end = newline != line_.npos ? newline + 1 : line_.size() < kLongestLine ? 0 : line_.size();
    print(line_.substr(0, end));
    line_.erase(0, end);
  }
  void end() { print(std::exchange(line_, "")); }
  std::string mask(const std::string& text) const { return shown(secrets_.mask(text)); }

 private:
  void print(const std::string& text) const {
    const std::string masked = secrets_.mask(text);
    if (terminal_)
      std::fputs(shown(masked).c_str(), stdout);
    else
      std::fwrite(masked.data(), 1, masked.size(), stdout);
  }

  const Redactor secrets_;
  const bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
  std::string line_;
};

// What the farm has left on the node to mask; a farm of an earlier radlc has left nothing.
Result<Redactor> secrets_on(Remote& node, const std::string& job) {
  const std::string path = shell_path(fmt::format("~/.radl/jobs/{}/{}", job, farm::kSecretsFile));
  auto read = node.exec(fmt::format("[ ! -e {0} ] || cat {0}", path), {});
  if (!read.ok()) return std::move(read).status();
  if (read->exit_status != 0) return invalid("the secrets to mask cannot be read: " + read->err);
  Redactor secrets;
  for (const farm::Json& secret : json::parse_json(read->out))
    if (secret.is_string()) secrets.add(secret.get<std::string>());
  return secrets;
}

}  // namespace

int run_logs(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::vector<std::string>& words) {
  if (words.size() != 1) return report(session, invalid("name one task; `radlc farm table` lists them"));
  auto nodes = load_nodes(session.host, project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, farm);
  if (!known) return report(session, known.status());
  const radl::farm::TaskRecord* task = known->farm.table().find(words[0]);
  if (task == nullptr) return report(session, not_found("no task '" + words[0] + "' in " + known->name()));
  if (task->attempt == 0)
    return report(session, not_found("task " + task->task.name + " has not started yet"));
  const std::string name = radl::farm::id_of(task->task.name, task->attempt) + ".log";
  if (task->state != radl::farm::State::Running) {
    if (auto kept = read_file(known->folder + "/logs/" + name); kept.ok()) {
      LogPrinter printer{Redactor()};
      printer.take(*kept);
      printer.end();
      return kDone;
    }
  }
  auto node = node_called(nodes->state, task->node);
  if (!node.ok()) return report(session, node.status());
  auto remote = connect_to(*nodes, **node);
  if (!remote.ok()) return report(session, remote.status());
  auto secrets = secrets_on(**remote, known->job);
  if (!secrets.ok()) return report(session, std::move(secrets).status().at(task->node));
  LogPrinter printer(std::move(*secrets));
  ExecOptions how;
  std::string errors;
  how.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr)
      errors += piece;
    else
      printer.take(piece);
  };
  const std::string path = fmt::format("~/.radl/jobs/{}/farm/logs/{}", known->job, name);
  auto done = (*remote)->exec("cat " + shell_path(path), how);
  printer.end();
  std::fputs(printer.mask(errors).c_str(), stderr);
  if (!done.ok()) return report(session, done.status());
  return done->exit_status == 0 ? kDone : kWorldError;
}

}  // namespace radl::cli::farm_command
