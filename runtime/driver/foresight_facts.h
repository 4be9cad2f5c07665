// From a compiled program to what runtime/foresight asks: what is trained, and on what kinds of machine.
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

// What is known of a dataset by its name; of one's own data nothing but what the job says.
struct DatasetFacts {
  std::string name;   // "cifar10"; of one's own data the last part of its path
  std::string shape;  // "32x32x3"; empty: not known
  int classes = 10;
  double images = 0, test_images = 0;  // 0: not known
  double bytes = 0;                    // of a known one; 0: not known
  std::string source;  // where it is fetched from, a URI; empty: it lies here, or a known one has several
};
DatasetFacts dataset_facts(const Environment& environment, const ir::Step& training);
// Of one's own data that lies on this computer its files' sizes, else facts.bytes.
double dataset_bytes(const ir::Step& training, const DatasetFacts& facts);

std::vector<const ir::Step*> trainings_of(const ir::Program& program);
// Of the only training, or of the one that is named. NotFound: there is none of it; names those there are.
Result<const ir::Step*> find_training(const ir::Program& program, const std::string& name);

// Of the only program of the user's own, or of the one that is named. NotFound: there is none of it; names
// those there are.
Result<const ir::Step*> find_program(const ir::Program& program, const std::string& name);

// Asks this computer's engine what the model computes (model_look.h).
foresight::TrainingFacts training_facts(const Environment& environment, const ir::Step& training,
                                        const Stop& stop = {});
// As training_facts() gives it, with images of this shape ("32x32x3"; "": as the dataset says). Invalid or
// NotFound: it is not known what it computes, and why.
Result<foresight::Work> work_of(const Environment& environment, const ir::Step& training,
                                const std::string& shape = "", const Stop& stop = {});
// "resnet20 on cifar10".
std::string family_of(const ir::Step& training);
// Addresses of the nodes that compute.
std::vector<std::string> worker_nodes(const ir::Step& training);
std::vector<std::string> server_nodes(const ir::Step& training);

// All nodes of `local` share this computer.
foresight::MachineFacts this_computer();
foresight::MachineFacts machine_facts(const InstanceType& type);

}  // namespace radl::driver
