// Converts a compiled program to questions for runtime/foresight: what is trained, on which machines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"
#include "runtime/catalog/catalog.h"
#include "runtime/foresight/forecast.h"

namespace radl::driver {

// The known facts of a dataset. For user data, only what the job says.
struct DatasetFacts {
  std::string name;   // "cifar10"; for user data the last part of its path
  std::string shape;  // "32x32x3"; empty: unknown
  int classes = 10;
  double images = 0, test_images = 0;  // 0: unknown
  double bytes = 0;                    // of a known dataset; 0: unknown
  std::string source;  // source URI; empty: it is local, or a known dataset with several sources
};
DatasetFacts dataset_facts(const Environment& environment, const ir::Step& training);
// The file sizes of local user data, else facts.bytes.
double dataset_bytes(const ir::Step& training, const DatasetFacts& facts);

std::vector<const ir::Step*> trainings_of(const ir::Program& program);
// The only training, or the named one. NotFound lists the existing ones.
Result<const ir::Step*> find_training(const ir::Program& program, const std::string& name);

// The only user program, or the named one. NotFound lists the existing
// ones.
Result<const ir::Step*> find_program(const ir::Program& program, const std::string& name);

// Queries this computer's engine for the model's computation (model_look.h).
foresight::TrainingFacts training_facts(const Environment& environment, const ir::Step& training,
                                        const Stop& stop = {});
// As in training_facts(), with images of this shape ("32x32x3"; "": the dataset's). Invalid or NotFound: the
// computation is unknown; says why.
Result<foresight::Work> work_of(const Environment& environment, const ir::Step& training,
                                const std::string& shape = "", const Stop& stop = {});
// "resnet20 on cifar10".
std::string family_of(const ir::Step& training);
// Addresses of the nodes that compute.
std::vector<std::string> worker_nodes(const ir::Step& training);
std::vector<std::string> server_nodes(const ir::Step& training);

// All `local` nodes share this computer.
foresight::MachineFacts this_computer();
foresight::MachineFacts machine_facts(const InstanceType& type);

}  // namespace radl::driver
