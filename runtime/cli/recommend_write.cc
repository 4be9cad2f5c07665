#include "runtime/cli/recommend_write.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "runtime/cli/recommend_view.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

std::string mode_word(foresight::Exchange exchange) {
  return exchange == foresight::Exchange::Ring         ? "allreduce"
         : exchange == foresight::Exchange::SyncServer ? "sync"
                                                       : "async";
}

// For a role's machine: the input with its type, if there is one; otherwise the type must be the plan's
// default.
struct RoleType {
  const char* what;
  std::initializer_list<const char*> inputs;
  std::string chosen, usual;
};

// An input file of `option`. Invalid: the file cannot become it by its inputs, and what it lacks.
Result<Json> choice_inputs(const ir::Program& program, const RecommendQuestion& question,
                           const foresight::RecommendInput& input, const foresight::Option& option) {
  const auto& facts = question.input.facts;
  ChoiceInputs made(program);
  const auto& worker = input.workers[option.worker];
  made.put("the number of workers", {"workers", "worker_count"}, option.workers,
           option.workers != facts.workers);
  std::vector<RoleType> roles;
  if (!worker.machine.shared)
    roles.push_back(
        {"the workers' type", {"worker_type", "instance_type"}, worker.name, question.usual_worker});
  if (option.server >= 0)
    roles.push_back({"the server's type",
                     {"server_type", "ps_type"},
                     input.servers[static_cast<size_t>(option.server)].name,
                     question.usual_server});
  for (const RoleType& role : roles)
    made.put(fmt::format("{} {}", role.what, role.chosen), role.inputs, role.chosen,
             role.chosen != role.usual);
  const bool serves = option.server != -1;
  if (serves != (facts.servers > 0)) {
    made.lacks(serves ? "parameter server" : "training without parameter servers");
  } else {
    made.put("the mode " + mode_word(option.exchange), {"mode"}, mode_word(option.exchange),
             option.exchange != facts.exchange && option.exchange != foresight::Exchange::Alone);
  }
  made.put("the batch", {"batch", "batch_size"}, facts.batch, false);
  if (input.interruptions_per_hour > 0) made.put("the spot market", {"spot"}, true, true);
  return made.take(
      candidate_name(input, option),
      serves != (facts.servers > 0)
          ? std::string("--exchange ") + (facts.servers > 0 ? "sync-server,async-server" : "alone,ring")
          : "--types, --server, --workers and --exchange");
}

}  // namespace

void ChoiceInputs::put(const std::string& what, std::initializer_list<const char*> names, const Json& value,
                       bool differs) {
  for (const char* name : names) {
    if (program_.inputs.count(name) == 0) continue;
    inputs_[name] = value;
    return;
  }
  if (differs) missing_.push_back(fmt::format("input {} for {}", *names.begin(), what));
}

Result<Json> ChoiceInputs::take(const std::string& name, const std::string& options) const {
  if (missing_.empty()) return inputs_;
  return invalid(fmt::format("the file cannot become {}: it has no {}", name, join(missing_, ", no ")))
      .with_hint("declare it, write the choice into the file, or choose among what the file can become: " +
                 options);
}

int write_inputs(const Session& session, const RecommendFlags& flags, const Project& project,
                 Result<Json> inputs) {
  if (!inputs.ok()) return report(session, std::move(inputs).status().at("--write"));
  (*inputs)[kWrittenBy] = "radlc recommend";
  if (Status written = write_result(flags.write, inputs->dump(2) + "\n", ResultKind::Inputs); !written.ok())
    return report(session, std::move(written).at("--write"));
  if (!flags.json)
    std::printf("Written. To see it: radlc plan%s --input-file %s\n", shown(project.words).c_str(),
                shell_word(flags.write.path).c_str());
  return kDone;
}

int write_choice(const Session& session, const RecommendFlags& flags, const Project& project,
                 const RecommendQuestion& question, const foresight::RecommendInput& input,
                 const foresight::Recommendation& made) {
  if (flags.write.path.empty()) return kDone;
  if (!made.choice.chosen)
    return report(session, invalid("--write: the catalogue and the model know nothing of this cluster"));
  return write_inputs(session, flags, project,
                      choice_inputs(project.compiled.program, question, input,
                                    made.options[made.candidates[*made.choice.chosen].index]));
}

}  // namespace radl::cli
