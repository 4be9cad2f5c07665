// A program's `farm` settings (docs/farm.md), as the runtime uses them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/farm/farm.h"
#include "runtime/farm/search.h"

namespace radl::farm {

// Settings of an elastic farm.
struct ElasticSettings {
  size_t least = 0;          // nodes, while tasks are left
  double idle_seconds = 60;  // a node without a task for this long is removed
  double worth = 1;          // node-hours worth paying to finish one hour earlier
};

// Who starts a farm's attempts: radlc on the farm's nodes, or Slurm, to whose login node radlc submits them.
enum class SchedulerKind { Radlc, Slurm };

struct SlurmSettings {
  std::string partition, account, qos;  // "": Slurm's defaults
  std::string path;                     // folder with Slurm's commands on the login node; "": its PATH
  std::vector<std::string> options;     // further words for sbatch: "--constraint=avx512"
};

struct FarmSettings {
  Policy policy;
  std::vector<Task> tasks;               // without those of the search
  std::optional<SearchSettings> search;  // trials
  Resources trial_needs;
  bool engine = false;  // tasks call radl-train
  SchedulerKind scheduler = SchedulerKind::Radlc;
  SlurmSettings slurm;
  std::string metrics;  // where tasks report them: "", "stdout", or a pattern of file names
  ElasticSettings elastic;
  double weight = 1;  // against other farms of the same user on the same nodes (shares.h)
  // Images that tasks predict: addresses or a list of URLs (images.h); "": none, or a folder, which is an
  // input of the program.
  std::string images;
  // Of radl-train: the program's input `model` must work with these options. nullopt: it has none.
  std::optional<std::vector<std::string>> model_options;
  std::string merge;  // name of a file of each output; they are joined in the order of the tasks

  size_t task_count() const { return tasks.size() + (search ? search->trials : 0); }  // with trials
};

// Invalid: names the task and the error.
Result<FarmSettings> parse_farm(const std::string& json);

// Processors and bytes as a user writes them: {"cpu": 0.5, "memory": 1000000000, "gpu": 1, "disk": 0}.
Resources needs_from(const Json& json);

}  // namespace radl::farm
