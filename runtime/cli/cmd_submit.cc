// Sends a batch script to the cluster's Slurm and follows it to its end.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/nodes.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"

namespace radl::cli::submit_command {
namespace {

constexpr size_t kLargestScript = size_t{64} << 20;

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., SCRIPT, ARG...
  std::string node;
  std::vector<std::string> sbatch;  // options of sbatch
  bool detach = false;
};

// Runs on the node: $1 the job, $2 the folder. Prints each new line of the job's output files, of an array behind
// its file's name, and at last "radl-end STATE EXIT". What of the job squeue does not know any more has ended; its
// record is slurmctld's for some minutes, and the accounting's for ever.
constexpr const char* kFollow = R"sh(
job=$1
cd "$2" || exit 1
seen=$(mktemp -d) || exit 1
trap 'rm -rf "$seen"' EXIT
files() { ls -tr -- "slurm-$job.out" slurm-"$job"_*.out 2>/dev/null; }
show() {
  files | while IFS= read -r f; do
    have=$(cat "$seen/$f" 2>/dev/null || echo 0)
    size=$(stat -c %s -- "$f")
    [ "$size" -gt "$have" ] || continue
    case $f in *_*) p="${f#slurm-}"; p="${p%.out} | ";; *) p=;; esac
    tail -c +$((have + 1)) -- "$f" | head -c $((size - have)) | sed "s/^/$p/"
    echo "$size" > "$seen/$f"
  done
}
bad=0
while s=$(squeue -h -r -j "$job" -o %T 2>"$seen/err") || { grep -q 'Invalid job id' "$seen/err" && s= && true; } || bad=$((bad + 1)); do
  [ "$bad" -lt 60 ] || { cat "$seen/err" >&2; exit 1; }
  show
  case $s in '') [ "$bad" -gt 0 ] || break;; *) bad=0; case $s in *PENDING*|*RUNNING*|*COMPLETING*|*CONFIGURING*|*SUSPENDED*|*REQUEUE*) ;; *) break;; esac;; esac
  sleep 0.3
done
show
states=$(scontrol -o show job "$job" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*ExitCode=\([0-9]*\):.*/\1 \2/p')
[ -n "$states" ] || states=$(sacct -n -X -P -j "$job" -o State,ExitCode 2>/dev/null | sed 's/[ |]/ /; s/:.*//')
worst=$(printf '%s\n' "$states" | grep -v '^COMPLETED' | head -n 1)
echo "radl-end ${worst:-${states:+COMPLETED 0}}"
)sh";

bool is_slurm(const StepRecord& record) {
  if (!record.definition) return false;
  for (const Json& resource : record.definition->value("resources", Json::array())) {
    if (resource.value("name", "") == "slurmctld") return true;
  }
  return false;
}

// The node with the controller, by what was applied.
Result<const ResourceRecord*> controller(const Nodes& nodes, const std::string& named) {
  if (!named.empty()) return node_called(nodes.state, named);
  for (const auto& [id, record] : nodes.state.steps) {
    if (record.nodes.size() == 1 && is_slurm(record)) return node_called(nodes.state, record.nodes.front());
  }
  return Status(Code::NotFound, nodes.state.name + " has no Slurm: no step installs slurmctld")
      .with_hint("name the node with --node");
}

Result<std::string> run_script(Remote& remote, const std::string& command, std::string input, const Stop& stop) {
  ExecOptions options;
  options.stdin_bytes = std::move(input);
  options.stop = stop;
  auto ran = remote.exec(command, options);
  if (!ran.ok()) return std::move(ran).status();
  if (ran->exit_status != 0)
    return Status(Code::Invalid, fmt::format("exit status {}: {}", ran->exit_status, ran->err + ran->out));
  return ran->out;
}

// The job's id. The script goes through standard input, so that nothing is left of it on the node.
Result<std::string> submit(Remote& remote, const Options& options, const std::string& script, const Stop& stop) {
  std::string command = "mkdir -p ~/jobs && cd ~/jobs && sbatch --parsable";
  command += " --job-name=" + shell_quote(std::filesystem::path(options.words[0]).filename().string());
  for (const std::string& option : options.sbatch) command += " " + shell_quote(option);
  // Of a script from standard input arguments stand behind the name of none.
  if (options.words.size() > 1) command += " /dev/stdin";
  for (size_t i = 1; i < options.words.size(); ++i) command += " " + shell_quote(options.words[i]);
  auto out = run_script(remote, command, script, stop);
  if (!out.ok()) return out;
  const std::string id = out->substr(0, out->find_first_of(";\n"));
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    return invalid("sbatch gave no job: " + *out);
  return id;
}

// "COMPLETED 0" -> 0.
int told_end(const std::string& id, const std::string& end) {
  const std::string state = end.substr(0, end.find(' '));
  if (state == "COMPLETED") {
    std::printf("job %s is completed\n", id.c_str());
    return kDone;
  }
  std::fprintf(stderr, "job %s ended: %s\n", id.c_str(), end.empty() ? "nobody knows how" : shown(end).c_str());
  return kWorldError;
}

int follow(const Session& session, Remote& remote, const std::string& id, const Cancellation& cancellation) {
  std::string rest, end;
  ExecOptions options;
  options.stop = cancellation.finishing();
  options.deadline = std::chrono::hours(24 * 365);
  options.keep_bytes = 0;
  options.stdin_bytes = kFollow;
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr) {
      std::fputs(shown(std::string(piece)).c_str(), stderr);
      return;
    }
    rest += piece;
    for (size_t newline; (newline = rest.find('\n')) != std::string::npos; rest.erase(0, newline + 1)) {
      const std::string line = rest.substr(0, newline);
      if (line.starts_with("radl-end ")) {
        end = line.substr(9);
      } else {
        std::printf("%s\n", shown(line, session.terminal.color).c_str());
      }
    }
    std::fflush(stdout);
  };
  auto ran = remote.exec("/bin/sh -s " + id + " ~/jobs", options);
  if (cancellation.stop_starting()) {
    std::fprintf(stderr, "job %s goes on; scancel %s ends it\n", id.c_str(), id.c_str());
    return kInterrupted;
  }
  if (!ran.ok()) return report(session, ran.status());
  if (ran->exit_status != 0) return report(session, Status(Code::Lost, "the job could not be followed to its end"));
  return told_end(id, end);
}

int run_submit(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.empty()) return report(session, invalid("a script is required"));
  auto script = read_file(options.words[0], kLargestScript);
  if (!script.ok()) return report(session, script.status());
  auto nodes = load_nodes(options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto node = controller(*nodes, options.node);
  if (!node.ok()) return report(session, node.status());
  auto remote = connect_to(*nodes, **node);
  if (!remote.ok()) return report(session, remote.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto id = submit(**remote, options, *script, cancellation.finishing());
  if (!id.ok()) return report(session, std::move(id).status().at("sbatch on " + (*node)->address));
  std::printf("job %s on %s\n", id->c_str(), shown((*node)->address).c_str());
  std::fflush(stdout);
  return options.detach ? int(kDone) : follow(session, **remote, *id, cancellation);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("submit", "Send a batch script to the cluster's Slurm and follow it");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("SCRIPT", "batch script of this computer, and its arguments");
  command->add_option("--node", options->node, "node with the controller (default: the one that has slurmctld)")
      ->type_name("NODE");
  command->add_option("--sbatch", options->sbatch, "option of sbatch, for example --sbatch=--array=1-4; may be repeated")
      ->type_name("OPTION");
  command->add_flag("--detach", options->detach, "say the job's number and end");
  return [options, &session] { return run_submit(session, *options); };
}

}  // namespace radl::cli::submit_command
