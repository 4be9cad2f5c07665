// Sends a batch script to the cluster's Slurm and follows it to its end.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/batch_sources.h"
#include "runtime/driver/nodes.h"
#include "runtime/driver/slurm_head.h"
#include "runtime/driver/slurm_jobs.h"
#include "runtime/steps/jobs/services.h"

namespace radl::cli::submit_command {
namespace {

constexpr size_t kLargestScript = size_t{64} << 20;
constexpr size_t kMostAtOnce = size_t{1} << 20;  // bytes of a task's output
constexpr std::chrono::milliseconds kBetweenLooks{500}, kBetweenServices{2000};
constexpr std::chrono::seconds kOneLook{4}, kLongestSilence{60};  // the latter of the controller
// Made on all nodes by std/cluster/slurm: there jobs find a folder of the same name.
constexpr const char* kJobs = "/srv/jobs";

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., SCRIPT, ARG...
  std::string node;
  std::vector<std::string> sbatch;   // options of sbatch
  std::vector<std::string> sources;  // that the script needs
  bool detach = false;
  std::string follow;  // a job that was sent before
};

// The node with the controller, by what was applied.
Result<const ResourceRecord*> controller(const Nodes& nodes, const std::string& named) {
  if (!named.empty()) return node_called(nodes.state, named);
  if (const ResourceRecord* head = slurm_head(nodes.state)) return head;
  return Status(Code::NotFound, nodes.state.name + " has no Slurm: no step installs slurmctld")
      .with_hint("name the node with --node");
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The job's id. The script goes through standard input, so that nothing is left of it on the node.
Result<std::string> submit(Remote& remote, const Options& options, const std::string& script,
                           const Stop& stop) {
  std::string command = kLoginLocale;  // the job gets the environment that it is submitted from
  command += fmt::format("if [ -d {0} ]; then cd {0}; fi; sbatch --parsable", kJobs);
  command += " --job-name=" + shell_quote(std::filesystem::path(options.words[0]).filename().string());
  for (const std::string& option : options.sbatch) command += " " + shell_quote(option);
  command += " /dev/stdin";
  for (size_t i = 1; i < options.words.size(); ++i) command += " " + shell_quote(options.words[i]);
  auto out = output_of(remote, command, script, stop);
  if (!out.ok()) return out;
  const std::string id = out->substr(0, out->find_first_of(";\n"));
  if (!is_slurm_job(id)) return invalid("sbatch gave no job: " + *out);
  return id;
}

// Reports when no node serves jobs, unless the message equals `said`, the last one.
void tell_unserved(const Session& session, const Options& options, Remote& head, std::string& said,
                   const Stop& stop) {
  auto nodes = load_nodes(session.host, options.project, stop);
  if (!nodes.ok()) return;
  auto why = why_unserved(nodes->state, head, project_words(options.project), stop.within(kOneLook));
  if (!why.ok() || *why == said) return;
  said = *why;
  if (!said.empty()) std::fprintf(stderr, "%s\n", shown(said).c_str());
}

// Prints what tasks write, wherever they run, until all have ended.
class Follower {
 public:
  Follower(const Session& session, const Options& options, Remote& head, std::string id, const Stop& stop)
      : session_(session), options_(options), head_(head), id_(std::move(id)), stop_(stop) {}

  int run() {
    while (stop_.sleep(kBetweenLooks)) {
      auto text = output_of(head_, "scontrol -o show job " + id_, "", stop_.within(kOneLook));
      if (stop_.asked()) break;
      if (!text.ok()) {
        if (text.status().message().find("Invalid job id") != std::string::npos)
          return report(session_, unknown_job());
        if (is_final(text.status()))
          return report(session_,
                        Status(Code::Lost, fmt::format("job {} cannot be followed, its controller does "
                                                       "not answer: {}",
                                                       id_, text.status().message()))
                            .with_hint("once it answers again, --follow " + id_ + " continues"));
        continue;
      }
      if (silent_since_) std::fprintf(stderr, "the controller answers again\n");
      silent_since_.reset();
      const std::vector<SlurmTask> tasks = read_slurm_tasks(*text);
      known_ |= !tasks.empty();
      failed_.clear();
      for (const SlurmTask& task : tasks) show(task);
      look_at_services(tasks);
      tell_waiting(tasks);
      std::fflush(stdout);
      if (!tasks.empty() &&
          std::all_of(tasks.begin(), tasks.end(), [](const SlurmTask& task) { return task.ended(); }))
        return tell_end(tasks);
    }
    const std::string files = project_words(options_.project);
    std::fprintf(
        stderr,
        "job %s keeps running: `radlc submit%s --follow %s` follows it again, `radlc cancel%s %s` ends it\n",
        id_.c_str(), files.c_str(), id_.c_str(), files.c_str(), id_.c_str());
    return kInterrupted;
  }

 private:
  struct Shown {
    std::string host, path, rest;
    size_t offset = 0;
    bool over = false;
    std::string problem;
  };

  struct Daemons {
    std::vector<std::string> names;
    jobs::ServiceWatch watch;
    std::chrono::steady_clock::time_point looked;
  };

  // A controller that is killed loses what it was given in its last seconds.
  Status unknown_job() const {
    if (!known_)
      return not_found("Slurm has no job " + id_).with_hint("it forgets jobs some minutes after their end");
    return Status(Code::Lost,
                  fmt::format("Slurm does not know job {} any more: its controller has lost it", id_))
        .with_hint("what its tasks have done is done; send it again");
  }

  // True if a failed look is final, so that another one is pointless.
  bool is_final(const Status& why) {
    const auto now = std::chrono::steady_clock::now();
    if (silent_since_) return now - *silent_since_ > kLongestSilence;
    silent_since_ = now;
    const std::string text = why.message();
    std::fprintf(stderr, "the controller does not answer, looking again for %d s: %s\n",
                 static_cast<int>(kLongestSilence.count()), shown(text.substr(0, text.find('\n'))).c_str());
    return false;
  }

  // What its output file has more than was shown. A task that was queued again begins a new one.
  void show(const SlurmTask& task) {
    Shown& shown_so_far = shown_[task.task];
    if (task.waits()) {
      if (!shown_so_far.host.empty())
        std::fprintf(stderr, "job %s is queued again: it ran on %s\n", name_of(task).c_str(),
                     shown(shown_so_far.host).c_str());
      shown_so_far = {};
    }
    if (task.waits() || task.host.empty() || task.output.empty() || shown_so_far.over) return;
    if (failed_.contains(task.host)) return;
    if (shown_so_far.host != task.host) shown_so_far = {task.host, task.output, "", 0, false, ""};
    shown_so_far.over = task.ended();
    auto piece = read_more(shown_so_far);
    if (!piece.ok()) {
      shown_so_far.problem = piece.status().text();
      remotes_.erase(task.host);  // it may be another machine when it is there again
      tell_silence(task.host, piece.status());
      return;
    }
    if (silent_.erase(task.host) > 0) std::fprintf(stderr, "%s answers again\n", shown(task.host).c_str());
    shown_so_far.offset += piece->size();
    shown_so_far.rest += *piece;
    for (size_t end; (end = shown_so_far.rest.find('\n')) != std::string::npos;) {
      print(task, shown_so_far.rest.substr(0, end));
      shown_so_far.rest.erase(0, end + 1);
    }
    if (shown_so_far.over && !shown_so_far.rest.empty()) print(task, shown_so_far.rest);
  }

  // Reports once per silence. A missing output file does not count as silence.
  void tell_silence(const std::string& host, const Status& why) {
    if (why.code() == Code::Invalid || why.code() == Code::NotFound || stop_.asked()) return;
    failed_.insert(host);
    if (!silent_.insert(host).second) return;
    std::fprintf(stderr, "%s does not answer: %s\n", shown(host).c_str(), shown(why.message()).c_str());
  }

  // Slurm itself misses a daemon only when it has been silent for a while.
  void look_at_services(const std::vector<SlurmTask>& tasks) {
    for (const SlurmTask& task : tasks) {
      const bool runs = !task.waits() && !task.ended() && !task.host.empty();
      if (!runs || failed_.contains(task.host)) continue;
      Daemons& daemons = daemons_[task.host];
      const auto now = std::chrono::steady_clock::now();
      if (now - daemons.looked < kBetweenServices) continue;
      daemons.looked = now;
      auto remote = remote_of(task.host);
      if (!remote.ok() || daemons.names.empty()) continue;
      auto said =
          output_of(**remote, jobs::kServicesScript + ("services" + jobs::service_words(daemons.names)), "",
                    stop_.within(kOneLook));
      std::istringstream lines(said.ok() ? *said : "");
      for (std::string line; std::getline(lines, line);) {
        if (auto what = daemons.watch.take(line))
          std::fprintf(stderr, "%s: %s\n", shown(task.host).c_str(), shown(*what).c_str());
      }
    }
  }

  // Why tasks wait, each reason once, and whether any node will ever serve them.
  void tell_waiting(const std::vector<SlurmTask>& tasks) {
    static const std::set<std::string> kUsual = {"", "None", "Priority", "Resources", "BeginTime"};
    bool waits = false;
    for (const SlurmTask& task : tasks) {
      if (!task.waits() || task.held()) continue;
      waits = true;
      if (!kUsual.contains(task.reason) && reasons_.insert(task.reason).second)
        std::fprintf(stderr, "job %s waits: %s\n", name_of(task).c_str(), shown(task.reason).c_str());
    }
    const auto now = std::chrono::steady_clock::now();
    if (!waits || now - asked_for_nodes_ < kBetweenServices) return;
    asked_for_nodes_ = now;
    tell_unserved(session_, options_, head_, unserved_, stop_);
  }

  std::string name_of(const SlurmTask& task) const {
    return id_ + (task.task.empty() ? "" : "_" + task.task);
  }

  void print(const SlurmTask& task, const std::string& line) const {
    const std::string before = task.task.empty() ? "" : task.task + " | ";
    std::printf("%s%s\n", before.c_str(), shown(line, session_.terminal.color).c_str());
  }

  Result<std::string> read_more(const Shown& so_far) {
    auto remote = remote_of(so_far.host);
    if (!remote.ok()) return std::move(remote).status();
    return output_of(**remote,
                     fmt::format("tail -c +{} -- {} | head -c {}", so_far.offset + 1,
                                 shell_quote(so_far.path), kMostAtOnce),
                     "", stop_.within(kOneLook));
  }

  // Nodes come and go: the state has the current ones.
  Result<Remote*> remote_of(const std::string& host) {
    if (auto known = remotes_.find(host); known != remotes_.end()) return known->second.get();
    auto nodes = load_nodes(session_.host, options_.project, stop_);
    if (!nodes.ok()) return std::move(nodes).status();
    const ResourceRecord* node = node_of_slurm_host(nodes->state, host);
    if (!node) return not_found("the state has no node for Slurm's " + host);
    auto remote = connect_to(*nodes, *node);
    if (!remote.ok()) return std::move(remote).status();
    Daemons& daemons = daemons_[host];
    daemons.names.clear();
    for (const auto& [id, step] : nodes->state.steps) {
      if (!step.definition || step.nodes != std::vector<std::string>{node->address}) continue;
      for (std::string& name : jobs::services_in(*step.definition)) daemons.names.push_back(std::move(name));
    }
    return (remotes_[host] = std::move(*remote)).get();
  }

  int tell_end(const std::vector<SlurmTask>& tasks) const {
    size_t well = 0;
    for (const SlurmTask& task : tasks) {
      well += task.well();
      const std::string name = name_of(task);
      if (task.held())
        std::fprintf(stderr,
                     "job %s is held: Slurm could not start it; `scontrol release %s` on the node with the "
                     "controller tries again\n",
                     name.c_str(), name.c_str());
      else if (!task.well())
        std::fprintf(stderr, "job %s ended: %s, exit status %d\n", name.c_str(), task.state.c_str(),
                     task.exit_status);
      auto so_far = shown_.find(task.task);
      if (so_far != shown_.end() && !so_far->second.problem.empty())
        std::fprintf(stderr, "job %s: its output could not be read: %s\n", name.c_str(),
                     shown(so_far->second.problem).c_str());
    }
    if (well == tasks.size()) std::printf("job %s is completed\n", id_.c_str());
    return well == tasks.size() ? kDone : kWorldError;
  }

  const Session& session_;
  const Options& options_;
  Remote& head_;
  const std::string id_;
  const Stop stop_;
  std::optional<std::chrono::steady_clock::time_point> silent_since_;
  bool known_ = false;                  // to Slurm, at some time
  std::map<std::string, Shown> shown_;  // by task
  std::map<std::string, std::unique_ptr<Remote>> remotes_;
  std::map<std::string, Daemons> daemons_;  // by host
  std::chrono::steady_clock::time_point asked_for_nodes_;
  std::string unserved_;           // that was said last
  std::set<std::string> reasons_;  // that were said
  std::set<std::string> silent_;   // hosts already reported
  std::set<std::string> failed_;   // hosts that did not answer in this look
};

Status check_follow(const Options& options) {
  if (!is_slurm_job(options.follow) || options.follow.find('_') != std::string::npos)
    return invalid("--follow takes the number of a job, and not '" + options.follow + "'");
  if (!options.words.empty() || !options.sbatch.empty() || !options.sources.empty() || options.detach)
    return invalid("--follow sends nothing: it goes with no script, --source, --sbatch or --detach");
  return {};
}

// What is sent: the script, with the sources that go with it.
Result<std::string> text_to_send(const Options& options, const Stop& stop) {
  if (options.words.empty()) return invalid("a script is required");
  const std::string& path = options.words[0];
  auto script = read_file(path, kLargestScript);
  if (!script.ok()) return script;
  if (!options.sources.empty()) {
    auto whole = script_with_sources(*script, options.sources, stop);
    return whole.ok() ? whole : std::move(whole).status().at(path);
  }
  std::string unsent;
  for (const std::string& file : files_named_in(*script, path)) unsent += (unsent.empty() ? "" : ", ") + file;
  if (!unsent.empty())
    std::fprintf(stderr, "note: %s is sent without the files that it names: %s; `--source %s` sends them\n",
                 shown(path).c_str(), shown(unsent).c_str(), shown(folder_of(path)).c_str());
  return script;
}

int run_submit(const Session& session, Options& options) {
  take_files(options.words, options.project);
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  std::string text;
  if (!options.follow.empty()) {
    if (Status fits = check_follow(options); !fits.ok()) return report(session, fits);
  } else {
    auto made = text_to_send(options, stop);
    if (!made.ok()) return report(session, made.status());
    text = std::move(*made);
  }
  auto nodes = load_nodes(session.host, options.project, stop);
  if (!nodes.ok()) return report(session, nodes.status());
  auto node = controller(*nodes, options.node);
  if (!node.ok()) return report(session, node.status());
  auto remote = connect_to(*nodes, **node);
  if (!remote.ok()) return report(session, remote.status());
  if (!options.follow.empty()) return Follower(session, options, **remote, options.follow, stop).run();
  auto id = submit(**remote, options, text, stop);
  if (!id.ok()) return report(session, std::move(id).status().at("sbatch on " + (*node)->address));
  std::printf("job %s on %s\n", id->c_str(), shown((*node)->address).c_str());
  std::fflush(stdout);
  if (!options.detach) return Follower(session, options, **remote, *id, stop).run();
  std::string said;
  tell_unserved(session, options, **remote, said, stop);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("submit", "Send a batch script to the cluster's Slurm and follow it");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("SCRIPT", "local batch script, and its arguments");
  command
      ->add_option("--node", options->node, "node with the controller (default: the one that has slurmctld)")
      ->type_name("NODE");
  command
      ->add_option("--sbatch", options->sbatch,
                   "option of sbatch, for example --sbatch=--array=1-4; may be repeated")
      ->type_name("OPTION");
  command
      ->add_option("--source", options->sources,
                   "file or folder to send into the working folder of the script; may be repeated")
      ->type_name("PATH");
  command->add_flag("--detach", options->detach, "print the number of the job and exit");
  command->add_option("--follow", options->follow, "follow an earlier job from its first line; sends nothing")
      ->type_name("JOB");
  return [options, &session] { return run_submit(session, *options); };
}

}  // namespace radl::cli::submit_command
