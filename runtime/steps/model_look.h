// What a plan finds out about the models of trainings, before anything is made.
#pragma once

#include <set>
#include <string>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl {

// Asks this computer's engine whether it can train the models of the trainings with these ids: it has each
// that is named, and a dataset can feed each that is written out. Asks nothing where this computer has no
// engine. The answers are kept in the user's cache, for this engine. Invalid: it cannot. Cancelled: `stop`.
Status look_at_models(const ir::Program& program, const std::set<std::string>& steps,
                      const Environment& environment, const Stop& stop);

// What this computer's engine says that a model is, on images of that shape.
struct ModelFacts {
  std::string digest;                       // of the graph: SHA-256 of its canonical text
  double parameters = 0, forward_flop = 0;  // flop of one image
  double convolved = 0;                     // share of the parameters that convolutions have
  double activations = 0;                   // numbers that its layers give for one image
};
// `model`: a name or a text; `shape`: "32x32x3". Kept in the user's cache, for this engine. NotFound: this
// computer has no engine; Invalid: no such model, or not for such images, or it has an input that no dataset
// can feed. Cancelled: `stop`.
Result<ModelFacts> look_at_model(const std::string& model, const std::string& shape, int classes,
                                 const Environment& environment, const Stop& stop = {});

}  // namespace radl
