// The outputs of a finished run in directories.model, and its report.
#pragma once

#include <map>
#include <string>

#include "engine/train/evaluate.h"
#include "engine/train/history.h"
#include "engine/train/run.h"
#include "engine/train/setup.h"

namespace radl::engine {

// Writes model.safetensors, model.onnx, model.txt (description), model.json (shape, classes, normalization)
// and metrics.json.
Status write_model(const Job& job, Setup& setup, const RunSummary& summary, const Evaluation& evaluation);

struct ReportParts {
  const RunSummary& summary;
  const Evaluation& evaluation;
  const History& history;
  const std::map<std::string, double>& notes;
};
// The run report as JSON (docs/training.md).
std::string report_json(const Job& job, const Setup& setup, const ReportParts& parts);

}  // namespace radl::engine
