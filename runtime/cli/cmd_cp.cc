// Files and folders to nodes, and from them.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "common/files.h"
#include "common/human.h"
#include "common/shell_quote.h"
#include "common/tidy_path.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/nodes.h"
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

// How far all copies are, on a terminal's last line: files and bytes, a file at a time.
class Progress {
 public:
  explicit Progress(bool shows) : shows_(shows) {}
  ~Progress() { clear(); }

  void expect(size_t files, double bytes) {
    std::lock_guard lock(mutex_);
    files_ += files;
    bytes_ += bytes;
  }
  void done(double bytes) {
    std::lock_guard lock(mutex_);
    ++files_done_;
    bytes_done_ += bytes;
    if (!shows_) return;
    std::fprintf(stderr, "\r\x1b[K%zu of %zu files, %s of %s", files_done_, files_,
                 bytes_text(bytes_done_).c_str(), bytes_text(bytes_).c_str());
    std::fflush(stderr);
  }
  // Before another line is written.
  void clear() {
    std::lock_guard lock(mutex_);
    if (shows_ && files_done_ > 0) std::fputs("\r\x1b[K", stderr);
  }

 private:
  const bool shows_;
  std::mutex mutex_;
  size_t files_ = 0, files_done_ = 0;
  double bytes_ = 0, bytes_done_ = 0;
};

// One node's side of a copy.
class Copy {
 public:
  Copy(Remote& remote, Stop stop, Progress& progress)
      : remote_(remote), stop_(std::move(stop)), progress_(progress) {}

  // As `cp -r FROM TO`: into TO if that is a folder. `into` creates the folder; a TO that ends in `/` means
  // one.
  Status up(const std::string& from, const std::string& to, bool into) {
    std::error_code error;
    if (!fs::exists(from, error)) return not_found(from + ": no such file or folder");
    if (into) {
      if (auto made = asked("mkdir -p -- " + shell_path(to)); !made.ok()) return std::move(made).status();
    }
    auto folder = is_folder(to);
    if (!folder.ok()) return std::move(folder).status();
    const std::string target = *folder || to.ends_with('/') ? joined(to, last_part(from)) : to;
    if (fs::is_directory(from, error)) return up_folder(from, target);
    progress_.expect(1, bytes_of(from));
    return up_file(from, target);
  }

  Status down(const std::string& from, const std::string& to, bool into) {
    auto folder = is_folder(from);
    if (!folder.ok()) return std::move(folder).status();
    const std::string target = into ? joined(to, last_part(from)) : to;
    if (*folder) return down_folder(from, target);
    progress_.expect(1, 0);
    return down_file(from, target, 0);
  }

  // "12 files", and what cannot be copied so.
  std::string text() const {
    std::string text = fmt::format("{} file{}", files_, files_ == 1 ? "" : "s");
    if (left_out_ > 0) text += fmt::format("; skipped {} (links to folders, and special files)", left_out_);
    return text;
  }

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

  static double bytes_of(const std::string& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<double>(size);
  }

  Status up_file(const std::string& from, const std::string& to) {
    std::error_code error;
    const auto mode = static_cast<unsigned>(fs::status(from, error).permissions()) & 0777u;
    auto sent = remote_.put_file(from, to, mode, stop_);
    files_ += sent.ok();
    if (sent.ok()) progress_.done(bytes_of(from));
    return sent.ok() ? Status() : std::move(sent).status();
  }

  Status up_folder(const std::string& from, const std::string& to) {
    std::vector<std::string> folders{to}, files;
    std::error_code error, unknown;
    double bytes = 0;
    for (fs::recursive_directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
      const std::string below = fs::path(at->path()).lexically_relative(from).string();
      if (at->is_directory(unknown) && !at->is_symlink(unknown)) {
        folders.push_back(joined(to, below));
      } else if (at->is_regular_file(unknown)) {
        files.push_back(below);
        bytes += bytes_of(at->path().string());
      } else {
        ++left_out_;
      }
    }
    if (error) return errno_status(error.value(), from);
    progress_.expect(files.size(), bytes);
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

  Status down_file(const std::string& from, const std::string& to, double bytes) {
    const std::string folder = fs::path(to).parent_path().string();
    if (!folder.empty()) {
      if (Status made = make_directories(folder, 0777); !made.ok()) return made;
    }
    Status got = remote_.get_file(from, to, stop_);
    files_ += got.ok();
    if (got.ok()) progress_.done(bytes);
    return got;
  }

  // A file or folder of a node, as find(1) tells of it.
  struct Entry {
    char kind = 0;     // d, f, or o: neither
    std::string mode;  // of a file; empty: it is a link to one
    double bytes = 0;
    std::string path;
  };

  static std::vector<Entry> entries_of(std::string_view list) {
    std::vector<Entry> entries;
    while (!list.empty()) {
      const std::string text(list.substr(0, list.find('\0')));
      list.remove_prefix(std::min(list.size(), text.size() + 1));
      const size_t mode = text.find(' '), bytes = text.find(' ', mode + 1);
      if (mode == std::string::npos || bytes == std::string::npos || bytes + 1 == text.size()) continue;
      entries.push_back({text[0], text.substr(1, mode - 1), std::strtod(text.c_str() + mode, nullptr),
                         text.substr(bytes + 1)});
    }
    return entries;
  }

  Status down_folder(const std::string& from, const std::string& to) {
    // A name may hold anything but a zero byte.
    auto list = asked("cd " + shell_path(from) +
                      " && find . -type d -printf 'd 0 %P\\0' -o -type f -printf 'f%m %s %P\\0' "
                      "-o -type l -xtype f -printf 'f 0 %P\\0' -o -printf 'o 0 %P\\0'");
    if (!list.ok()) return std::move(list).status();
    if (Status made = make_directories(to, 0777); !made.ok()) return made;
    const std::vector<Entry> entries = entries_of(*list);
    for (const Entry& entry : entries) {
      if (entry.kind == 'f') progress_.expect(1, entry.bytes);
      left_out_ += entry.kind == 'o';
    }
    for (const Entry& entry : entries) {
      Status done = entry.kind == 'd'   ? make_directories(joined(to, entry.path), 0777)
                    : entry.kind == 'f' ? down_entry(from, to, entry)
                                        : Status();
      if (!done.ok()) return done;
    }
    return {};
  }

  Status down_entry(const std::string& from, const std::string& to, const Entry& entry) {
    const std::string target = joined(to, entry.path);
    if (goes_up(entry.path)) return invalid("the node names a path " + entry.path);
    if (Status got = down_file(joined(from, entry.path), target, entry.bytes); !got.ok()) return got;
    if (entry.mode.empty()) return {};
    std::error_code ignored;
    const unsigned long mode = std::strtoul(entry.mode.c_str(), nullptr, 8) & 0777;
    fs::permissions(target, static_cast<fs::perms>(mode), ignored);
    return {};
  }

  Remote& remote_;
  Stop stop_;
  Progress& progress_;
  size_t files_ = 0, left_out_ = 0;
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
          .with_hint("write the remote side as NODE:PATH: radlc cp data 'worker[0]:'");
    }
  }
  return job;
}

// To each node of the place, or from each; 0 or 1, and what is wrong on standard error.
int copy_all(const Nodes& nodes, const Job& job, int parallelism, const Cancellation& cancellation,
             Progress& progress) {
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
      std::string text;
      if (done.ok()) {
        Copy copy(**remote, stop, progress);
        // With several nodes, each gets its own folder.
        const bool own = !up && on->size() > 1;
        done = up ? copy.up(from.path, job.to.path, job.from.size() > 1 || job.to.path.ends_with('/'))
                  : copy.down(from.path, own ? job.to.path + "/" + node.address : job.to.path, folder || own);
        text = copy.text();
      }
      if (!done.ok()) text = done.text();
      progress.clear();
      std::fprintf(stderr, "%s: %s\n", shown(node.address).c_str(), shown(text).c_str());
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
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  Progress progress(::isatty(STDERR_FILENO) != 0 && session.terminal.is_terminal);
  const int code = copy_all(*nodes, *job, options.parallelism, cancellation, progress);
  if (cancellation.stop_starting()) return kInterrupted;
  return code == 0 ? kDone : kWorldError;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("cp", "Copy files and folders to nodes, or from them");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("FROM", "local path, or NODE:PATH; may be repeated")->type_name("PATH");
  command->add_option("TO", "local path, or NODE:PATH; a system means all its nodes")->type_name("PATH");
  command->add_option("--parallelism", options->parallelism, "number of nodes at the same time")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  return [options, &session] { return run_cp(session, *options); };
}

}  // namespace radl::cli::cp_command
