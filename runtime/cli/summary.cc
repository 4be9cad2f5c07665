// The table at the end of an apply.
#include <fmt/format.h>

#include <map>

#include "compiler/resources/resource_schema.h"
#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/plan/render.h"

namespace radl::cli {
namespace {

using Row = std::pair<std::string, std::string>;

// Wall-clock time by phase: for concurrent actions, the longest one.
void phase_rows(const Plan& plan, const RunReport& report, std::vector<Row>& rows) {
  std::map<std::string, double> longest;
  for (const ActionOutcome& outcome : report.actions) {
    const Action* action = plan.find(outcome.id);
    if (action == nullptr || outcome.state != ActionOutcome::State::Done) continue;
    std::string phase = !action->is_step                     ? "creating"
                        : ir::is_job_type(action->step_kind) ? action->step_kind
                                                             : "configuring";
    if (action->is_step && phase == "configuring") {
      longest[phase + " " + action->nodes.front()] += outcome.seconds;
    } else {
      longest[phase] = std::max(longest[phase], outcome.seconds);
    }
  }
  double configuring = 0;
  for (const auto& [phase, seconds] : longest) {
    if (phase.starts_with("configuring")) configuring = std::max(configuring, seconds);
  }
  if (longest.count("creating")) rows.emplace_back("creating nodes", duration_text(longest["creating"]));
  if (configuring > 0) rows.emplace_back("configuring", duration_text(configuring) + " (longest node)");
  for (const char* job : {"training", "program"}) {
    if (longest.count(job)) rows.emplace_back(job, duration_text(longest[job]));
  }
  rows.emplace_back("whole run", duration_text(report.seconds));
}

void training_rows(const Snapshot& after, std::vector<Row>& rows) {
  for (const auto& [id, step] : after.steps) {
    if (step.kind != "training" || step.status != StepStatus::Done) continue;
    const Json& output = step.output;
    if (output.contains("test_accuracy") && output["test_accuracy"].is_number()) {
      const double accuracy = output["test_accuracy"], tta = output.value("test_accuracy_tta", accuracy);
      rows.emplace_back("test accuracy", fmt::format("{:.2f}%", accuracy * 100));
      if (tta != accuracy)
        rows.emplace_back("with test-time augmentation", fmt::format("{:.2f}%", tta * 100));
    }
    if (std::string note = output.value("dataset_note", ""); !note.empty())
      rows.emplace_back("dataset", note);
    if (output.contains("first_step_seconds") && output["first_step_seconds"].is_number()) {
      rows.emplace_back("first training step",
                        duration_text(output["first_step_seconds"].get<double>()) + " after the start");
    }
    if (output.contains("images_per_second") && output["images_per_second"].is_number()) {
      rows.emplace_back("throughput", grouped(output["images_per_second"].get<double>()) + " images/s");
    }
    for (const auto& [key, label] : {Row{"model_path", "model"}, Row{"events_path", "TensorBoard events"},
                                     Row{"report_path", "report"}}) {
      if (output.contains(key) && output[key].is_string())
        rows.emplace_back(label, output[key].get<std::string>());
    }
  }
}

void program_rows(const Snapshot& after, std::vector<Row>& rows) {
  for (const auto& [id, step] : after.steps) {
    if (step.kind != "program" || step.status != StepStatus::Done || !step.output.is_object()) continue;
    if (const int exit = step.output.value("exit_status", 0); exit != 0)
      rows.emplace_back(id, fmt::format("ended with exit status {}", exit));
    rows.emplace_back(id + " results", step.output.value("results_path", ""));
  }
}

// For reading; `radlc output --json` has every digit.
std::string output_text(const OutputRecord& output) {
  if (output.sensitive) return "(sensitive)";
  if (output.value.is_number()) return human_number(output.name, output.value.get<double>());
  return render_value(output.value);
}

}  // namespace

std::string summary_table(const Session& session, const Plan& plan, const RunReport& report,
                          const Snapshot& after, const std::string& destroy_command) {
  if (!report.status.ok() || report.failed() > 0) return "";
  std::vector<Row> rows;
  training_rows(after, rows);
  program_rows(after, rows);
  phase_rows(plan, report, rows);
  for (const OutputRecord& output : report.outputs) {
    rows.emplace_back(output.name, output_text(output));
  }
  rows.emplace_back("to remove it all", destroy_command);
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.first.size());
  Style style(session.terminal.color);
  std::string text = fmt::format("\n{}{}Done.{}\n", style.bold(), style.green(), style.off());
  for (const Row& row : rows) text += fmt::format("  {:<{}}  {}\n", row.first, width, shown(row.second));
  return text;
}

}  // namespace radl::cli
