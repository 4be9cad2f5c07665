// A saved plan, to be applied exactly. Contains no secrets: apply asks for them again.
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
  std::vector<std::string> files;             // compiled files; `program` lists the files that they read
  std::vector<std::string> module_path;
};

// The file's bytes: a first line "radlplan 1 SHA256\n", with the digest of the JSON that follows.
std::string encode_plan_file(const SavedPlan& saved);
// Corrupt: truncated or changed. Invalid: not a plan file, or of a newer version.
Result<SavedPlan> decode_plan_file(std::string_view bytes);
Result<SavedPlan> read_plan_file(const std::string& path);
// True if it begins like a plan file. False if it is unreadable or not a regular file.
bool is_plan_file(const std::string& path);

// Conflict: the state has changed (names both serials) or is another one.
Status check_state_unmoved(const Plan& plan, const Snapshot& snapshot);
// Conflict: a source file has changed; names it.
Status check_sources_unmoved(const Plan& plan);

}  // namespace radl
