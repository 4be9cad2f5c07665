// One node of a job (a training, a program): its folder, the processes in it, what they write.
//
//   ~/.radl/jobs/<job>/  run.json  <process>.log  <process>.pid  <process>.exit  cancelled  ...
//
// Processes are started in sessions of their own and outlive the connection and radlc. Each, and all that it
// starts, has RADL_TASK in its environment, by which it is found even where its parents are gone.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/eviction_notice.h"
#include "runtime/steps/jobs/ahead.h"
#include "runtime/steps/jobs/usage.h"
#include "runtime/steps/step_runner.h"

namespace radl::jobs {

struct ProcessState {
  enum class Phase { Absent, Running, Ended } phase = Phase::Absent;  // Ended without exit: was killed
  int exit = -1;
};

// A process to be started: `command` is one simple command for the shell, run in the job's folder; its output
// goes to <name>.log.
struct Launch {
  std::string name, command;
};

struct NodeFile {
  std::string name;  // below the folder that was listed
  uint64_t size = 0;
};

// A file that is to be brought, or a link to something else that is.
struct Arrival {
  std::string name;    // below the folder
  std::string digest;  // empty: a link
  std::string target;  // of a link: a relative path that stays within the folder
};

struct Fetched {
  std::vector<std::string> names;  // of files, below the folder
  std::vector<std::string> left;   // links to what is neither within the folder nor a file
  std::string said;                // by Beforehand::script
};

// What a fetch does first, in its one command.
struct Beforehand {
  std::string file;    // of the job's folder: its bytes go to `take`, if it exists; "": none
  std::string script;  // shell text that runs after that; the fetch fails with it
  std::function<void(std::string_view piece)> take;
};

class Member {
 public:
  Member(const NodeHandle& node, const Context& context, std::string job)
      : node_(node), context_(context), job_(std::move(job)) {}

  const std::string& address() const { return node_.address; }
  const std::string& job() const { return job_; }  // the folder's name
  std::string folder() const { return "~/.radl/jobs/" + job_; }
  // The digest of the run that the folder belongs to, empty if none; `home` and used ports come with it.
  struct Look {
    std::string run, home;
    std::chrono::seconds age{0};  // of the run, since it was started, by the node's clock
    bool cancelled = false;       // by `radlc cancel`, since it was started
    std::string also;             // what the script that was given along has printed
    std::vector<int> ports;
    std::vector<std::pair<std::string, ProcessState>> processes;  // by name
    ProcessState of(const std::string& name) const {
      for (const auto& [each, state] : processes) {
        if (each == name) return state;
      }
      return {};
    }
    bool runs() const {  // any of its processes
      for (const auto& [each, state] : processes) {
        if (state.phase == ProcessState::Phase::Running) return true;
      }
      return false;
    }
  };
  // `also`: shell text that runs in the same command. Without `stop`, only the context's deadline ends it.
  Result<Look> look(const std::string& also = "", const Stop& stop = {});
  // Shell text that runs before the next command on the node, in the same one: that command fails with it. It
  // may be a command of another thread's.
  void soon(const std::string& script);
  // A small file of the folder, in the same way.
  void put_soon(std::string_view content, const std::string& below, unsigned mode);
  // The same as clear(), in that way.
  void clear_soon(const std::string& remove, const std::string& then);
  // What soon() has gathered, for a command that does not go by way of this class. It ends with kSoonFailed
  // if it fails.
  Ahead take_soon();
  static constexpr int kSoonFailed = 98;
  // Ends what runs and removes what is known of it; also `remove`: names in the folder, as a shell writes
  // them. `then`: shell text that runs in the folder behind that.
  Status clear(const std::string& remove, const std::string& then = "");
  // Keeps the processes' logs as NAME.log.N, which clear() leaves alone: N is 1, or follows the last one
  // kept.
  Status keep_logs();
  // True where there is nothing in a folder of the node.
  Result<bool> is_empty(const std::string& directory);
  Status write_run(const std::string& run);
  // Its processes were asked to end: however they did, nobody takes that for the run's own end. Also when the
  // run is cancelled.
  Status forget_run();
  // By `radlc cancel`, which leaves a file that says so.
  Result<bool> was_cancelled();
  // What an earlier start of a process left (its end, not its log) is removed; no earlier one goes on.
  // `unfollowed`: the node kills all of the job if no bound follow() has begun by then since clear(), as
  // after a kill of radlc between the two; without it the job needs no follower.
  Status start(const std::vector<Launch>& launches,
               std::optional<std::chrono::seconds> unfollowed = std::nullopt);
  // Asks processes to end, or kills them with all that they have started.
  Status signal(const std::vector<std::string>& names, const char* signal);
  // Kills all that carries the job's mark, also what a launcher of another node has started here.
  Status end_all();
  struct Follower {
    std::string before, behind;  // a process's lines are in the file <before><name><behind>
    // The node kills all of the job if it cannot reach us any more, also when radlc itself was killed.
    bool bound = false;
    // Whose line it is, by any name; nullopt: it is passed over. A line that was there before a connection
    // broke is not given again. Of files that hold no names one alone can be followed.
    std::function<std::optional<std::string>(const std::string& line)> whose;
    std::function<void(const std::string& line)> on_line;
    // A process has ended with this status (-1: killed without one). True: restart() it.
    std::function<bool(const std::string& name, int exit)> on_end;
    std::function<Status(const std::vector<std::string>& names)> restart;
    std::function<bool()> stop;
    // What a process uses, every few seconds; empty: it is not looked at.
    std::function<void(const std::string& name, const Usage& usage)> on_usage;
    // The node's cloud takes it back, where it declares how that is asked (`eviction_notice`); empty: nobody
    // asks. The other: the node has nothing to ask with.
    std::function<void(const EvictionNotice& notice)> on_notice;
    std::function<void()> cannot_hear;
    // Looked at every few seconds; a message about one that does not run, or runs again.
    std::vector<std::string> services;
    std::function<void(const std::string& what)> on_service;
    // Nothing has come from the node for kSilentAfter (silence.h), and then something again. Nothing is done
    // about it: the connection may yet go on. May be empty.
    std::function<void(bool silent)> on_silence;
    // The node does not answer: said at once, given up after a while.
    std::function<void(const Status& why)> unreachable = [](const Status&) {};
  };
  // Follows lines and ends of processes until `stop`. Lost when the node cannot be reached any more.
  Status follow(const std::vector<std::string>& names, const Follower& follower);
  // What each process uses now, from two looks half a second apart.
  Result<std::map<std::string, Usage>> usage(const std::vector<std::string>& names, const Stop& stop);
  Result<std::string> log_tail(const std::string& name, int lines);
  // Runs a command of ours whose output is data. A stop of the context does not end it: a cancelled job has
  // still to be ended.
  Result<ExecResult> exec(const std::string& command, const Stop& stop = {});
  // Brings a folder of the job to this machine. Links within it stay links; of others that lead to a file the
  // file is brought. `before`: called with all that is to come.
  // Small files come with the list, in one command; the others after it.
  using Before = std::function<Status(const std::vector<Arrival>& arrivals)>;
  Result<Fetched> fetch(
      const std::string& below, const std::string& local_folder,
      const Before& before = [](const std::vector<Arrival>&) { return Status(); },
      const Beforehand& first = {});
  // One file of the job's folder to this machine, and the other way; NotFound where there is none.
  Status fetch_file(const std::string& below, const std::string& local_path, const Stop& stop);
  Result<std::string> read(const std::string& below, size_t most);
  // The same piece by piece as it comes; false if there is none.
  Result<bool> read_all(const std::string& below, const std::function<void(std::string_view piece)>& take);
  Status put_file(const std::string& local_path, const std::string& below, const Stop& stop);
  Status put_bytes(std::string_view content, const std::string& below, const Stop& stop,
                   unsigned mode = 0644);
  // The files below a folder of the job that are whole: names that end in ".part" are left out.
  Result<std::vector<NodeFile>> files(const std::string& below);

 private:
  std::string clear_script(const std::string& remove, const std::string& then) const;
  void add_soon(const std::string& script, std::string_view input);
  bool has_soon() const;
  // Output of any length; of exec() it is bounded. Without `take` it is returned as a whole.
  Result<std::string> output_of(const std::string& command, const std::string& what,
                                const std::function<void(std::string_view piece)>& take = {});
  Status make_folder_of(const std::string& below);
  // Small files, many at a time. Whatever does not come this way is left for fetch_file().
  Status fetch_small(const std::string& below, const std::string& local_folder,
                     const std::vector<Arrival>& arrivals);
  Status fetch_archive(const std::string& below, const std::string& names, const std::string& to);
  // What is in a folder of the job, links of Fetched::left included: with neither digest nor target.
  struct Listed {
    std::string said;
    std::map<std::string, std::string> contents;  // of small files, by name; not checked
    std::vector<Arrival> arrivals;
  };
  Result<Listed> list(const std::string& below, const Beforehand& first);

  const NodeHandle& node_;
  const Context& context_;
  std::string job_;
  mutable std::mutex soon_mutex_;
  Ahead soon_;  // guarded by soon_mutex_
  enum class Cancelled { Unknown, No, Yes };
  std::atomic<Cancelled> cancelled_{Cancelled::Unknown};  // as the node says when a process ends
};

}  // namespace radl::jobs
