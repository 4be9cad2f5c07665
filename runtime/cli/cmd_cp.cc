// Files and folders to nodes, and from them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/nodes.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/net/node_path.h"

namespace radl::cli::cp_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE.radl..., FROM..., TO
  int parallelism = 10;
};

// "worker[0]:data/x": a path on a node; else one on this computer.
struct Place {
  std::string node;  // or system; empty: this computer
  std::string path;
};

Place place_of(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == std::string::npos || colon == 0 || word.find('/') < colon) return {"", word};
  std::string path = word.substr(colon + 1);
  return {word.substr(0, colon), path.empty() ? "." : path};
}

// The last part of a path: of "a/b/" too it is "b".
std::string last_part(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

// One node's side of a copy.
class Copy {
 public:
  Copy(Remote& remote, Stop stop) : remote_(remote), stop_(std::move(stop)) {}

  // As `cp -r FROM TO`: into TO where that is a folder.
  Status up(const std::string& from, const std::string& to) {
    std::error_code error;
    if (!fs::exists(from, error)) return not_found(from + ": no such file or folder");
    auto folder = is_folder(to);
    if (!folder.ok()) return std::move(folder).status();
    const std::string target = *folder || to.ends_with('/') ? joined(to, last_part(from)) : to;
    return fs::is_directory(from, error) ? up_folder(from, target) : up_file(from, target);
  }

  Status down(const std::string& from, const std::string& to, bool into) {
    auto folder = is_folder(from);
    if (!folder.ok()) return std::move(folder).status();
    const std::string target = into ? joined(to, last_part(from)) : to;
    return *folder ? down_folder(from, target) : down_file(from, target);
  }

  size_t files() const { return files_; }

 private:
  static std::string joined(const std::string& folder, const std::string& name) {
    return folder.ends_with('/') ? folder + name : folder + "/" + name;
  }

  Result<std::string> asked(const std::string& command) {
    ExecOptions options;
    options.stop = stop_;
    options.keep_bytes = size_t{64} << 20;
    auto done = exec_for_data(remote_, command, options);
    if (!done.ok()) return std::move(done).status();
    if (done->exit_status == 0) return std::move(done->out);
    return Status(Code::Invalid, done->err.substr(0, done->err.find('\n')));
  }

  Result<bool> is_folder(const std::string& path) {
    auto answer = asked("if [ -d " + shell_path(path) + " ]; then echo yes; fi");
    if (!answer.ok()) return std::move(answer).status();
    return *answer == "yes\n";
  }

  Status up_file(const std::string& from, const std::string& to) {
    std::error_code error;
    const auto mode = static_cast<unsigned>(fs::status(from, error).permissions()) & 0777u;
    auto sent = remote_.put_file(from, to, mode, stop_);
    files_ += sent.ok();
    return sent.ok() ? Status() : std::move(sent).status();
  }

  Status up_folder(const std::string& from, const std::string& to) {
    std::vector<std::string> folders{to}, files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
      const std::string below = fs::path(at->path()).lexically_relative(from).string();
      if (at->is_directory(error))
        folders.push_back(joined(to, below));
      else if (at->is_regular_file(error))
        files.push_back(below);
    }
    if (error) return errno_status(error.value(), from);
    std::string command = "mkdir -p --";
    for (size_t i = 0; i < folders.size(); ++i) {
      command += " " + shell_path(folders[i]);
      if (command.size() < 60000 && i + 1 < folders.size()) continue;
      if (auto made = asked(command); !made.ok()) return std::move(made).status();
      command = "mkdir -p --";
    }
    for (const std::string& file : files) {
      if (Status sent = up_file(joined(from, file), joined(to, file)); !sent.ok()) return sent;
    }
    return {};
  }

  Status down_file(const std::string& from, const std::string& to) {
    const std::string folder = fs::path(to).parent_path().string();
    if (!folder.empty()) {
      if (Status made = make_directories(folder, 0777); !made.ok()) return made;
    }
    Status got = remote_.get_file(from, to, stop_);
    files_ += got.ok();
    return got;
  }

  Status down_folder(const std::string& from, const std::string& to) {
    // A name may hold anything but a zero byte.
    auto list = asked("cd " + shell_path(from) +
                      " && find . -type d -printf 'd%P\\0' -o -type f -printf 'f%m %P\\0'");
    if (!list.ok()) return std::move(list).status();
    if (Status made = make_directories(to, 0777); !made.ok()) return made;
    std::string_view rest(*list);
    while (!rest.empty()) {
      const std::string entry(rest.substr(0, rest.find('\0')));
      rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
      if (entry.size() < 2) continue;
      Status done = entry[0] == 'd' ? make_directories(joined(to, entry.substr(1)), 0777)
                                    : down_entry(from, to, entry.substr(1));
      if (!done.ok()) return done;
    }
    return {};
  }

  // "644 a/b": a file and its mode.
  Status down_entry(const std::string& from, const std::string& to, const std::string& entry) {
    const size_t blank = entry.find(' ');
    const std::string below = entry.substr(blank + 1), target = joined(to, below);
    if (("/" + below + "/").find("/../") != std::string::npos)
      return invalid("the node names a path " + below);
    if (Status got = down_file(joined(from, below), target); !got.ok()) return got;
    std::error_code ignored;
    const unsigned long mode = std::strtoul(entry.c_str(), nullptr, 8) & 0777;
    fs::permissions(target, static_cast<fs::perms>(mode), ignored);
    return {};
  }

  Remote& remote_;
  Stop stop_;
  size_t files_ = 0;
};

struct Job {
  std::vector<Place> from;
  Place to;
};

Result<Job> job_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return invalid("FROM and TO are required, for example worker[0]:result.txt .");
  Job job;
  for (size_t i = 0; i + 1 < words.size(); ++i) job.from.push_back(place_of(words[i]));
  job.to = place_of(words.back());
  for (const Place& from : job.from) {
    if (from.node.empty() == job.to.node.empty()) {
      return Status(Code::Invalid,
                    from.node.empty() ? "neither side is on a node" : "both sides are on nodes")
          .with_hint("write NODE:PATH for the one that is: radlc cp data 'worker[0]:'");
    }
  }
  return job;
}

// To each node of the place, or from each; 0 or 1, and what is wrong on standard error.
int copy_all(const Nodes& nodes, const Job& job, int parallelism, const Cancellation& cancellation) {
  const Stop stop = cancellation.finishing();
  const bool up = !job.to.node.empty();
  int code = 0;
  for (const Place& from : job.from) {
    auto on = nodes_called(nodes.state, up ? job.to.node : from.node);
    if (!on.ok()) {
      std::fprintf(stderr, "error: %s\n", shown(on.status().text()).c_str());
      return 1;
    }
    std::error_code error;
    const bool folder =
        fs::is_directory(job.to.path, error) || job.to.path.ends_with('/') || job.from.size() > 1;
    const auto ends = on_each(*on, parallelism, [&](const ResourceRecord& node) {
      auto remote = connect_to(nodes, node);
      Status done = remote.ok() ? Status() : remote.status();
      size_t files = 0;
      if (done.ok()) {
        Copy copy(**remote, stop);
        // Of several nodes each has a folder of its own.
        const bool own = !up && on->size() > 1;
        done = up ? copy.up(from.path, job.to.path)
                  : copy.down(from.path, own ? job.to.path + "/" + node.address : job.to.path, folder || own);
        files = copy.files();
      }
      if (done.ok()) {
        std::fprintf(stderr, "%s: %zu file%s\n", shown(node.address).c_str(), files, files == 1 ? "" : "s");
      } else {
        std::fprintf(stderr, "%s: %s\n", shown(node.address).c_str(), shown(done.text()).c_str());
      }
      return done.ok() ? 0 : 1;
    });
    code = std::max(code, *std::max_element(ends.begin(), ends.end()));
  }
  return code;
}

int run_cp(const Session& session, Options& options) {
  // Only what comes first can be the infrastructure's file: one to be copied may end in .radl too.
  if (options.words.size() > 2 && options.words.front().ends_with(".radl")) {
    options.project.files.push_back(options.words.front());
    options.words.erase(options.words.begin());
  }
  auto job = job_of(options.words);
  if (!job.ok()) return report(session, job.status());
  auto nodes = load_nodes(options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const int code = copy_all(*nodes, *job, options.parallelism, cancellation);
  if (cancellation.stop_starting()) return kInterrupted;
  return code == 0 ? kDone : kWorldError;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("cp", "Copy files and folders to nodes, or from them");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("FROM", "here, or NODE:PATH; several may be given")->type_name("PATH");
  command->add_option("TO", "here, or NODE:PATH; a system instead of a node means all of its nodes")
      ->type_name("PATH");
  command->add_option("--parallelism", options->parallelism, "how many nodes at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  return [options, &session] { return run_cp(session, *options); };
}

}  // namespace radl::cli::cp_command
