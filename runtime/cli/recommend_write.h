// `radlc recommend --write`: writes an input file that turns the program into the chosen cluster.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/cli/recommend_flags.h"

namespace radl::cli {

// The inputs set by a choice, as far as the program has them, and what the program lacks.
class ChoiceInputs {
 public:
  explicit ChoiceInputs(const ir::Program& program) : program_(program) {}
  // Sets the first of the inputs `names` that the program has. If it has none and `differs`, the choice
  // cannot be expressed, and `what` is recorded as missing.
  void put(const std::string& what, std::initializer_list<const char*> names, const Json& value,
           bool differs);
  // Records a part of the choice that no input can express.
  void lacks(std::string what) { missing_.push_back(std::move(what)); }
  bool complete() const { return missing_.empty(); }
  // Invalid: the program cannot become `name`; lists what it lacks. `options`: what it can become.
  Result<Json> take(const std::string& name, const std::string& options) const;

 private:
  const ir::Program& program_;
  Json inputs_ = Json::object();
  std::vector<std::string> missing_;
};

// Writes the inputs to the file of --write and prints how to plan with it. Returns the exit status.
int write_inputs(const Session& session, const RecommendFlags& flags, const Project& project,
                 Result<Json> inputs);

// Writes the choice `made` of `input` if --write was given.
int write_choice(const Session& session, const RecommendFlags& flags, const Project& project,
                 const RecommendQuestion& question, const foresight::RecommendInput& input,
                 const foresight::Recommendation& made);

}  // namespace radl::cli
