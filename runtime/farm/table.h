// The tasks of a farm and their history: a state machine driven by events.
//
// The journal (journal.h) contains the events; replaying them gives an identical table. Events of an attempt
// other than the task's newest are rejected, so a task that was given up and finishes late changes nothing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/farm/approval.h"
#include "runtime/farm/packing.h"
#include "runtime/farm/spec.h"

namespace radl::farm {

struct Task {
  std::string name;
  Resources needs;
  double seconds = 0;  // predicted length; 0: unknown
  Spec spec;           // what runs
};

enum class State {
  Waiting,
  Running,    // or succeeded, with its output not committed yet
  Finished,   // its output is committed
  Stopped,    // ended early by the search; its reports count, its output is committed
  Failed,     // out of tries
  Cancelled,  // by the user
};
std::string_view state_name(State state);
bool is_over(State state);

// How an attempt ended.
enum class End {
  Succeeded,
  Failed,     // its own fault; uses up a try
  Preempted,  // its node was preempted; uses up no try
  Lost,       // unknown: its node does not respond; uses up no try
  Stopped,    // by the search
  Cancelled,  // by the user
};
std::string_view end_name(End end);

struct TaskRecord {
  Task task;
  State state = State::Waiting;
  int attempt = 0;      // number of the newest attempt: its fence
  std::string node;     // of the newest attempt
  double started = 0;   // of the newest attempt; while it waits in a cluster's queue, its submission
  std::string machine;  // in a cluster, runs or ran the newest attempt; "" before it starts
  std::vector<std::string> failed_machines;  // like failed_on, in a cluster
  std::string queued;                        // why the cluster's scheduler has not started it; "" if it runs
  double ended = 0;
  bool uncommitted = false;            // while Running: its process has ended, its output is not fetched yet
  bool stopping = false;               // asked to end early
  bool cancelling = false;             // asked to end by the user
  bool removed = false;                // cancelled because the file no longer has it
  std::optional<bool> results;         // the committed attempt left files; nullopt: unknown
  std::vector<std::string> left;       // names of links in its output that could not be fetched
  int status = 0;                      // exit status of the last attempt that ended
  std::string reason;                  // why it failed or waits; its last lines
  std::vector<int> devices;            // GPUs of its node that the newest attempt has
  std::vector<std::string> failed_on;  // the node of each used try
  int preemptions = 0;
  int lost = 0;     // consecutive lost attempts in this run of the farm
  int reports = 0;  // of the newest attempt
  Json metrics;     // the last value of each, of the newest attempt; null: none reported
  template <class Archive>
  void archive(Archive& each) {
    each(task.name, task.needs, task.seconds, task.spec, state, attempt, node, started, machine,
         failed_machines, queued, ended, uncommitted, stopping, cancelling, removed, results, left, status,
         reason, devices, failed_on, preemptions, lost, reports, metrics);
  }
};

struct NodeRecord {
  Resources registered;
  std::vector<Resources> machines;  // of a cluster with its own scheduler (packing.h)
  bool quarantined = false;
  bool gone = false;
  std::vector<std::string> failures;  // tasks that failed since the last success, in order
  int succeeded = 0, failed = 0;      // attempts that ended on their own
  template <class Archive>
  void archive(Archive& each) {
    each(registered, machines, quarantined, gone, failures, succeeded, failed);
  }
};

struct Rules {
  int tries = 3;       // failures of its own, each on another node if possible
  int black_hole = 3;  // different tasks in a row that a node fails before its quarantine
  int lost = 5;        // consecutive lost attempts after which the task is suspected of crashing its nodes
};

// The functions below create the events of a farm. `settings`: "tries" for the table, and for readers
// "metric", "goal", "trials", "population" and "merge".
Event farm_event(Json settings, double at);
Event add_event(const Task& task, double at);
// `anew`: the node was replaced or prepared again, so the record of its earlier tasks is dropped.
Event node_event(const std::string& node, const Resources& registered, double at, bool anew = false);
// The node is a cluster of these machines, which together offer `registered`.
Event cluster_event(const std::string& node, const Resources& registered,
                    const std::vector<Resources>& machines, double at);
Event gone_event(const std::string& node, const std::string& why, double at);
Event start_event(const std::string& task, int attempt, const std::string& node, double at,
                  const std::vector<int>& devices = {});
// The attempt waits in the cluster's queue, for this reason; or it runs since `at`.
Event queued_event(const std::string& task, int attempt, const std::string& why, double at);
Event runs_event(const std::string& task, int attempt, const std::string& machine, double at);
Event end_event(const std::string& task, int attempt, End end, int status, const std::string& reason,
                double at);
// `results`: the attempt left files. `left`: names of links that were not fetched.
Event commit_event(const std::string& task, int attempt, double at, bool results = true,
                   const std::vector<std::string>& left = {});
// The file changes the task's needs, length or spec. A new spec makes it run again.
Event change_event(const Task& task, double at);
// A waiting task that fits no node: it counts as failed.
Event set_aside_event(const std::string& task, const std::string& why, double at);
Event metric_event(const std::string& task, int attempt, int report, const Json& values, double at);
Event stop_event(const std::string& task, int attempt, double at);
// `removed`: the file no longer contains the task.
Event cancel_event(const std::string& task, double at, bool removed = false);
Event retry_event(const std::string& task, double at);
Event quarantine_event(const std::string& node, const std::string& why, double at);
// More trials of the search.
Event trials_event(size_t more, double at);
// The user approved a plan that runs the farm. `terms`: the plan's "seconds", "node_seconds" and "cost" of
// the run, null if unknown (runtime/driver/farm_facts.h). Ends a pause.
Event approve_event(Json terms, double at);
// A run has prepared the nodes. From now on it uses up the approval.
Event began_event(double at, size_t nodes);
// This number of nodes is paid for from now on.
Event nodes_event(size_t nodes, double at);
// Limits the nodes that an elastic farm requests, regardless of the approval.
Event limit_event(size_t nodes, double at);
// A run ended normally.
Event closed_event(double at);
// Nothing starts until the next approval, because the farm would exceed the approved time, and so the
// approved cost.
Event pause_event(double seconds, const std::string& why, double at);

// Finds tasks by name.
class TaskNames {
 public:
  std::optional<size_t> find(std::string_view name, const std::vector<TaskRecord>& tasks) const;
  // The last task. False: another one has its name.
  bool add_last(const std::vector<TaskRecord>& tasks);
  // All tasks but the last, whose names differ, with room for that.
  void add_others(const std::vector<TaskRecord>& tasks);

 private:
  size_t slot_of(std::string_view name, const std::vector<TaskRecord>& tasks) const;
  std::vector<uint32_t> slots_;  // hash table with open addressing: place + 1; 0: free
};

class Table {
 public:
  explicit Table(Rules rules = {}) : rules_(rules) {}
  // Conflict: the event belongs to an older attempt and changes nothing. Invalid: the event does not fit the
  // table, for example because the journal is another farm's.
  Status apply(const Event& event);

  const Rules& rules() const { return rules_; }
  // The last farm event; null if there was none.
  const Json& settings() const { return settings_; }
  const Approval& approval() const { return approval_; }
  // The last run came to its end, and nothing has happened since.
  bool closed() const { return closed_; }
  const Json& approved() const { return approval_.terms(); }
  const Json& paused() const { return approval_.paused(); }
  // In the order of submission.
  const std::vector<TaskRecord>& tasks() const { return tasks_; }
  const TaskRecord* find(const std::string& name) const;
  const std::map<std::string, NodeRecord>& nodes() const { return nodes_; }
  // Number of tasks in a state.
  size_t count(State state) const { return counts_[static_cast<size_t>(state)]; }
  size_t done() const { return count(State::Finished) + count(State::Stopped); }
  bool is_over() const;
  // Returns a node to quarantine: it failed several tasks in a row, and another node is no worse.
  std::string black_hole() const;
  // The state of every task, for output and for comparisons.
  Json to_json() const;
  // Saves or loads everything (snapshot.cc).
  template <class Archive>
  void archive(Archive& each);

 private:
  Status add(const Event& event);
  Status start(const Event& event, TaskRecord& task);
  Status end(const Event& event, TaskRecord& task);
  void change(const Event& event, TaskRecord& task);
  void again(TaskRecord& task);
  Status quarantine(const Event& event);
  Status of_task(const Event& event, const std::string& kind, TaskRecord& task);
  void set(TaskRecord& task, State state);
  void used_up(TaskRecord& task);

  Rules rules_;
  Json settings_;
  Approval approval_;
  bool closed_ = false;
  std::vector<TaskRecord> tasks_;
  TaskNames names_;
  std::map<std::string, NodeRecord> nodes_;
  size_t counts_[6] = {};
};

// Returns the events that update the table to the file's tasks; events that the table would reject are
// harmless. `closed`: the last run ended normally, so failed tasks are retried.
std::vector<Event> changes_of_file(const std::vector<Task>& tasks, const Table& table, bool closed,
                                   double at);

Json to_json(const Resources& resources);
Resources resources_from(const Json& json);

}  // namespace radl::farm
