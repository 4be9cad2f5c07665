#include "runtime/driver/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/human.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/program_probe.h"

namespace radl::driver {
namespace {

bool comes_after(const ir::Step& step, const std::set<std::string>& ids) {
  return std::any_of(step.after.begin(), step.after.end(),
                     [&](const ir::Edge& edge) { return ids.contains(edge.to); });
}

// Removes other jobs, and everything that comes after a job.
Status leave_one_job(ir::Program& program, const std::string& job_id) {
  std::set<std::string> dropped;
  for (const ir::Step& step : program.steps) {
    if (step.id == job_id && comes_after(step, dropped))
      return invalid(job_id + " needs what another job gives: it cannot be probed alone");
    if (step.id != job_id && (ir::is_job(step.kind) || comes_after(step, dropped))) dropped.insert(step.id);
    if (step.id != job_id && comes_after(step, {job_id})) dropped.insert(step.id);
  }
  std::erase_if(program.steps, [&](const ir::Step& step) { return dropped.contains(step.id); });
  return {};
}

}  // namespace

Status make_probe(ir::Program& program, const std::string& training_id, double epochs,
                  std::optional<double> batch, const std::string& result, const Environment& environment) {
  if (Status left = leave_one_job(program, training_id); !left.ok()) return left;
  program.outputs.clear();
  program.moves.clear();
  for (ir::Step& step : program.steps) {
    if (step.id != training_id) continue;
    step.training["result"] = result;
    step.training->erase("checkpoints");
    Json& job = step.training["job"];
    job["epochs"] = epochs;
    if (batch) job["batch_size"] = static_cast<long long>(*batch);
    // Only the training is measured, not the evaluation.
    Json& dataset = job["dataset"];
    const foresight::TrainingFacts facts = training_facts(environment, step);
    const double size = facts.batch, test = facts.test_images;
    if (test > size) dataset["test"] = static_cast<long long>(size);
  }
  return {};
}

Status make_program_probe(ir::Program& program, const std::string& id, double seconds,
                          const std::string& results) {
  if (Status left = leave_one_job(program, id); !left.ok()) return left;
  program.outputs.clear();
  program.moves.clear();
  for (ir::Step& step : program.steps) {
    if (step.id != id) continue;
    make_short_run(step, seconds, results);
  }
  return {};
}

std::string probed_text(const foresight::ProgramRun& run) {
  switch (run.kind) {
    case foresight::ProgramRun::Kind::Ended:
      return "it ran to its end in " + duration_text(run.seconds);
    case foresight::ProgramRun::Kind::Extrapolated:
      return fmt::format("by its progress ({}) it takes {} ({} to {})", run.progress,
                         duration_text(run.seconds), duration_text(run.low), duration_text(run.high));
    case foresight::ProgramRun::Kind::AtLeast:
      break;
  }
  return fmt::format("it takes longer than {}, and printed no progress such as `Epoch 3/10`",
                     duration_text(run.seconds));
}

}  // namespace radl::driver
