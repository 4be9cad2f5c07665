// A plan that was saved, to be applied exactly. Holds no secret: those are asked for again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

struct SavedPlan {
  Plan plan;
  ir::Program program;  // as compiled then
  std::string state_directory;
  std::map<std::string, std::string> inputs;  // as given then, without sensitive ones
  std::vector<std::string> files;             // that were compiled; those that they read are in `program`
  std::vector<std::string> module_path;
};

// Bytes of the file: a first line "radlplan 1 SHA256\n" over the JSON that follows.
std::string encode_plan_file(const SavedPlan& saved);
// Corrupt: cut short or changed; Invalid: not a plan file, or of a newer version.
Result<SavedPlan> decode_plan_file(std::string_view bytes);
Result<SavedPlan> read_plan_file(const std::string& path);
// Whether its first bytes are a plan file's. False for what cannot be read or is no regular file.
bool is_plan_file(const std::string& path);

// Conflict when the state moved on since (names both serials) or is another one.
Status check_state_unmoved(const Plan& plan, const Snapshot& snapshot);
// Conflict when a source file is not what it was (names it).
Status check_sources_unmoved(const Plan& plan);

}  // namespace radl
