// `radlc recommend --write`: an input file by which the file becomes the chosen cluster.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/cli/recommend_question.h"

namespace radl::cli {

// The inputs that a choice sets, as far as the program has them, and what it lacks to become the choice.
class ChoiceInputs {
 public:
  explicit ChoiceInputs(const ir::Program& program) : program_(program) {}
  // Sets the first of the inputs `names` that the program has. `differs`: without one, the file does not
  // become the choice; then `what` is missing.
  void put(const std::string& what, std::initializer_list<const char*> names, const Json& value,
           bool differs);
  // Something of the choice that no input of the file can become.
  void lacks(std::string what) { missing_.push_back(std::move(what)); }
  bool complete() const { return missing_.empty(); }
  // Invalid: the file cannot become `name`, and what it lacks; `options`: of what it can become.
  Result<Json> take(const std::string& name, const std::string& options) const;

 private:
  const ir::Program& program_;
  Json inputs_ = Json::object();
  std::vector<std::string> missing_;
};

// Writes them to --write's file, and prints how to plan with it. The exit status.
int write_inputs(const Session& session, const RecommendFlags& flags, const Project& project,
                 Result<Json> inputs);

// --write of what `made` chose of `input`, if it was asked for.
int write_choice(const Session& session, const RecommendFlags& flags, const Project& project,
                 const RecommendQuestion& question, const foresight::RecommendInput& input,
                 const foresight::Recommendation& made);

}  // namespace radl::cli
