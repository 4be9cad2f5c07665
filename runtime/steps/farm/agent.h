// What runs on a node of a farm: a shell script that reads commands on its standard input, starts and ends
// tasks, and prints their ends. Tasks outlive it, the connection and radlc.
//
//   ~/.radl/jobs/<job>/farm/  events  run  heard  logs/<task>.<attempt>.log
//                             <task>.<attempt>/{script,results,exit}
//                       <task>.<attempt>.pid  while it runs
//
// It prints "ready", and then every line of `events`, also those of an earlier agent:
//   end ID STATUS [results]    the attempt ended; "results": it left files in $RADL_RESULTS
//   line ID {...}              it printed this JSON object
//   piece ID KEY OFFSET BASE64 new bytes of one of its files with metrics (metric_files.h)
//   notice ...                 its cloud's answer to whether it takes the node back (jobs/notices.h)
//   gone ID [WHY]              it neither runs nor has ended: its node was restarted, or it was killed
//
// The agent of a cluster's scheduler (slurm_agent.h) also prints
//   capacity CPUS BYTES GPUS CPUS:BYTES:GPUS...   of all its machines, and of each kind of machine
//   queued ID WHY              the attempt is in its queue
//   runs ID MACHINE TIME       it has begun, in seconds since 1970
//   trouble TEXT               what keeps the agent from its work; empty: nothing any more
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace radl::farm {

// Where tasks report metrics: nowhere (""), "stdout", or a pattern of names of files below $RADL_RESULTS.
inline constexpr const char* kStdout = "stdout";
// `folder`: of the job, as shell words. `metrics`: what tasks report there is passed on while they run.
// `notices`: jobs::notice_script() of the node; empty: nobody is asked.
std::string agent_script(const std::string& folder, const std::string& metrics,
                         const std::string& notices = "");
// What becomes an attempt's process, as a shell script. With `told`, it appends lines to a file of the
// attempt alone, farm/told/ID, and leaves no .pid: it may run on another machine that shares the folder.
std::string run_script(const std::string& metrics, bool told);

// Commands, each a line.
std::string start_command(const std::string& id, const std::string& script);
std::string stop_command(const std::string& id, const std::string& signal);
std::string check_command(const std::string& id);
// Kills every attempt but these.
std::string keep_command(const std::vector<std::string>& ids);
// radlc still follows the farm: a node that stops itself when it is idle (runtime/clouds/auto_stop.h) stays
// for two minutes more.
std::string beat_command();
inline constexpr std::chrono::seconds kBetweenBeats{30};
// Removes all lines of `events`: for a node on which no task runs.
std::string forget_command();
// Removes the results of an attempt.
std::string drop_command(const std::string& id);

struct AgentLine {
  enum class Kind {
    Ready,
    End,
    Line,
    Piece,
    Gone,
    Cancelled,
    Notice,
    Capacity,
    Queued,
    Runs,
    Trouble
  } kind = Kind::Ready;
  std::string task;
  int attempt = 0;
  int status = 0;        // of End; -1: unknown
  bool results = false;  // of End
  // Of Notice: the answer, empty: the node cannot ask. Of End and Ready nothing; else what follows the ID.
  std::string text;
};
// nullopt: the line is none of these.
std::optional<AgentLine> read_agent_line(const std::string& line);

inline std::string id_of(const std::string& task, int attempt) {
  return task + "." + std::to_string(attempt);
}

}  // namespace radl::farm
