// Processes of a job on its nodes, followed side by side until the job is over: what they write, their ends,
// nodes that do not answer.
//
// What belongs to one kind of job is in the rules: which process is started again, and when all is over. The
// rules are called from a thread for each node, and `verdict` from the one that runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::jobs {

struct Process {
  std::string name;  // as in file names
  size_t node = 0;   // index in the step's nodes
};

// What happens to those that still run once the job is over: a signal, time to end, then KILL.
struct Ending {
  const char* signal = nullptr;  // none: they end by themselves
  std::chrono::milliseconds patience{0};
};

// By process: its exit status, -1 when it was killed or its node is lost.
using Ends = std::map<std::string, int>;

class Following {
 public:
  struct Rules {
    std::string before, behind;  // of Member::Follower
    bool bound = false;          // of Member::Follower
    std::function<std::optional<std::string>(const std::string& line)> whose;
    std::function<void(size_t node, const std::string& line)> on_line;
    // A process has ended; true: it is started again, and `start_again` is called with it.
    std::function<bool(const Process& process, int exit)> again;
    std::function<Status(size_t node, const std::vector<std::string>& names)> start_again;
    std::function<void(const std::string& name, const Usage& usage)> on_usage;  // may be empty
    // Services of a node that are looked at, and a message about one of them; both may be empty.
    std::function<std::vector<std::string>(size_t node)> services;
    std::function<void(size_t node, const std::string& what)> on_service;
    // A node says nothing (true), or something again; nothing is done about it yet. May be empty.
    std::function<void(size_t node, bool silent)> on_silence;
    std::function<void(size_t node, const Status& why)> unreachable;
    // A node is not followed any more: its processes count as ended. May be empty.
    std::function<void(size_t node)> on_lost;
    // Of a node that says by its attributes how its cloud is asked: it is taken back; it cannot ask. May be
    // empty.
    std::function<void(size_t node, const EvictionNotice& notice)> on_notice;
    std::function<void(size_t node)> cannot_hear;
    // Asked about five times a second, and when a process has ended: how the job has ended, if it has.
    std::function<std::optional<Status>(const Ends& ends)> verdict;
    std::function<Ending(const Status& result)> ending;
  };

  // All outlive it.
  Following(const std::vector<std::unique_ptr<Member>>& members, const std::vector<Process>& processes,
            Rules rules);
  // Before run(): a node that cannot be reached. Its processes count as ended.
  void give_up(size_t node, Status why);
  // Until the verdict. Nothing runs any more on the nodes that can be reached then, unless it is
  // kLeftRunning: then everything continues unchanged.
  Status run();
  // There may be a verdict. Safe in the rules.
  void wake();
  // Waits until something has ended or changed, or the time is over; for rules that want to hear the others.
  void wait(std::chrono::milliseconds time);
  // What has ended so far.
  Ends ends() const;
  // Why a node is not followed any more; ok where all are.
  Status lost() const;
  bool is_lost(size_t node) const;
  // For an ended run: the node has confirmed that none of its processes is left.
  bool has_ended(size_t node) const;
  void signal_all(const char* signal);

 private:
  std::vector<std::string> names_on(size_t node) const;
  void end_all();
  const Process* find(const std::string& name) const;
  void follow(size_t node, const std::function<bool()>& over);
  Status wait_for_verdict();
  void wait_for_all(std::chrono::milliseconds patience);
  // What has ended may have written more than has come.
  void wait_for_last_lines();

  const std::vector<std::unique_ptr<Member>>& members_;
  const std::vector<Process>& processes_;
  const Rules rules_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  Ends ends_;
  std::map<size_t, Status> lost_;  // by node
  std::set<size_t> followed_;      // to the end
  std::set<size_t> ended_;         // KILL has reached what was left
};

}  // namespace radl::jobs
