// The tasks of a farm and what has happened to them: a state machine that events change.
//
// The journal (journal.h) holds the events; applying them in order gives the identical table. An event of an
// attempt that is not the task's newest is refused: a task that was given up and finishes late changes
// nothing.
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

namespace radl::farm {

struct Task {
  std::string name;
  Resources needs;
  double seconds = 0;          // predicted length; 0: unknown
  Json spec = Json::object();  // what runs: opaque here
};

enum class State {
  Waiting,
  Running,    // also: ended well, and its output is not committed yet
  Finished,   // its output is committed
  Stopped,    // ended early by the search; what it reported counts, its output is committed
  Failed,     // set aside after its tries
  Cancelled,  // by the user
};
std::string_view state_name(State state);
bool is_over(State state);

// How an attempt ended.
enum class End {
  Succeeded,
  Failed,     // by its own fault: uses up a try
  Preempted,  // its node was taken: uses up none
  Lost,       // nobody knows: its node does not answer; uses up none
  Stopped,    // asked to by the search
  Cancelled,  // asked to by the user
};
std::string_view end_name(End end);

struct TaskRecord {
  Task task;
  State state = State::Waiting;
  int attempt = 0;   // number of the newest attempt: its fence
  std::string node;  // of the newest attempt
  double started =
      0;  // of the newest attempt; in a cluster's queue: when it was handed over, until it begins
  std::string machine;  // of a cluster, that runs or ran the newest attempt; "" until it has begun
  std::vector<std::string> failed_machines;  // of a cluster, as failed_on
  std::string queued;  // why the cluster's scheduler has not begun it yet; "" if it runs
  double ended = 0;
  bool uncommitted = false;            // Running: its process has ended, its output is not brought yet
  bool stopping = false;               // asked to end early
  bool cancelling = false;             // asked to end by the user
  bool removed = false;                // cancelled because the file no longer has it
  std::optional<bool> results;         // whether the committed attempt left files; nullopt: not known
  Json left = Json::array();           // names of links in its output that could not be brought
  int status = 0;                      // exit status of the last attempt that ended
  std::string reason;                  // why it failed or waits; its last lines
  std::vector<int> devices;            // GPUs of its node that the newest attempt has
  std::vector<std::string> failed_on;  // a node for each try that was used up
  int preemptions = 0;
  int lost = 0;                   // attempts in a row that were lost, in this run of the farm
  int reports = 0;                // of the newest attempt
  Json metrics = Json::object();  // the last value of each, of the newest attempt
};

struct NodeRecord {
  Resources registered;
  std::vector<Resources> machines;  // of a cluster with a scheduler of its own (packing.h)
  bool quarantined = false;
  bool gone = false;
  std::vector<std::string> failures;  // tasks that failed since the last success, in order
  int succeeded = 0, failed = 0;      // attempts that ended there by themselves
};

struct Rules {
  int tries = 3;       // own failures, each on another node if there is one
  int black_hole = 3;  // a node that fails so many different tasks in a row is quarantined
  int lost = 5;        // attempts lost in a row; then the task itself may be what takes its nodes down
};

// The functions below make the events of a farm. What the table must know of the farm: "tries", and for
// whoever looks "metric", "goal", "trials", "population", "merge".
Event farm_event(Json settings, double at);
Event add_event(const Task& task, double at);
// `anew`: the node was replaced or prepared again, so the record of its earlier tasks is dropped.
Event node_event(const std::string& node, const Resources& registered, double at, bool anew = false);
// The node is a cluster that these machines make up; together they offer `registered`.
Event cluster_event(const std::string& node, const Resources& registered,
                    const std::vector<Resources>& machines, double at);
Event gone_event(const std::string& node, const std::string& why, double at);
Event start_event(const std::string& task, int attempt, const std::string& node, double at,
                  const std::vector<int>& devices = {});
// The cluster's scheduler has the attempt in its queue, and why; or it runs, since `at`.
Event queued_event(const std::string& task, int attempt, const std::string& why, double at);
Event runs_event(const std::string& task, int attempt, const std::string& machine, double at);
Event end_event(const std::string& task, int attempt, End end, int status, const std::string& reason,
                double at);
// `results`: the attempt left files. `left`: names of links that were not brought.
Event commit_event(const std::string& task, int attempt, double at, bool results = true,
                   const std::vector<std::string>& left = {});
// The file has the task with other needs, another length or another spec. With another spec it runs again.
Event change_event(const Task& task, double at);
// A waiting task that no node can ever run: it counts as failed.
Event set_aside_event(const std::string& task, const std::string& why, double at);
Event metric_event(const std::string& task, int attempt, int report, const Json& values, double at);
Event stop_event(const std::string& task, int attempt, double at);
// `removed`: the file no longer has the task.
Event cancel_event(const std::string& task, double at, bool removed = false);
Event retry_event(const std::string& task, double at);
Event quarantine_event(const std::string& node, const std::string& why, double at);
// More trials of the search.
Event trials_event(size_t more, double at);
// The user has approved a plan that runs the farm. `terms`: "seconds", "node_seconds" and "cost" of the run
// as the plan had them, null if they were not known (runtime/driver/farm_facts.h). It ends a pause.
Event approve_event(Json terms, double at);
// A run has prepared the nodes: from now on, what was approved is used up.
Event began_event(double at, size_t nodes);
// From now on so many nodes are paid for.
Event nodes_event(size_t nodes, double at);
// An elastic farm asks for no more nodes than these, whatever was approved.
Event limit_event(size_t nodes, double at);
// A run came to its end.
Event closed_event(double at);
// Nothing starts until the next approval: the farm would take longer, and so cost more, than was approved.
Event pause_event(double seconds, const std::string& why, double at);

class Table {
 public:
  explicit Table(Rules rules = {}) : rules_(rules) {}
  // Conflict: fenced, the event changes nothing. Invalid: it does not fit the table (a journal of something
  // else).
  Status apply(const Event& event);

  const Rules& rules() const { return rules_; }
  // The last farm event; null if there was none.
  const Json& settings() const { return settings_; }
  const Approval& approval() const { return approval_; }
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
  // A node that should be quarantined: it failed several tasks in a row, and another node is no worse.
  std::string black_hole() const;
  // The state of every task, for output and for comparisons.
  Json to_json() const;

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
  std::vector<TaskRecord> tasks_;
  std::map<std::string, size_t> places_;
  std::map<std::string, NodeRecord> nodes_;
  size_t counts_[6] = {};
};

// The events that bring the table to the tasks that the file has now; one that the table refuses changes
// nothing. `closed`: the last run came to its end; then what failed is retried.
std::vector<Event> changes_of_file(const std::vector<Task>& tasks, const Table& table, bool closed,
                                   double at);

Json to_json(const Resources& resources);
Resources resources_from(const Json& json);

}  // namespace radl::farm
