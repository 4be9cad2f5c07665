// Checks the models of trainings at plan time, before anything is created.
#pragma once

#include <set>
#include <string>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl {

// Checks with this computer's engine that it can train the models of the trainings with these IDs: named
// models must exist, and described ones must accept a dataset. Skipped without an engine. Caches results per
// engine in the user's cache. Invalid: it cannot train one. Cancelled: `stop`.
Status look_at_models(const ir::Program& program, const std::set<std::string>& steps,
                      const Environment& environment, const Stop& stop);

// The engine's description of a model for images of that shape.
struct ModelFacts {
  std::string digest;                       // of the graph: SHA-256 of its canonical text
  double parameters = 0, forward_flop = 0;  // flop per image
  double convolved = 0;                     // share of the parameters in convolutions
  double activations = 0;                   // number of layer outputs per image
};
// `model`: a name or a text; `shape`: "32x32x3". Caches results per engine in the user's cache. NotFound:
// this computer has no engine. Invalid: no such model, unsuitable for such images, or with an input that no
// dataset can feed. Cancelled: `stop`.
Result<ModelFacts> look_at_model(const std::string& model, const std::string& shape, int classes,
                                 const Environment& environment, const Stop& stop = {});

}  // namespace radl
