#include "runtime/driver/foresight_facts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/core_peak.h"
#include "common/dataset_files.h"
#include "common/default_batch.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/processors.h"
#include "common/text.h"
#include "runtime/catalog/burstable.h"
#include "runtime/steps/dataset_look.h"
#include "runtime/steps/model_look.h"

namespace radl::driver {
namespace {

using ir::Json;

// Images and labels as they are published; bytes of the archives.
const DatasetFacts kKnown[] = {{"cifar10", "32x32x3", 10, 50000, 10000, 170498071},
                               {"cifar100", "32x32x3", 100, 50000, 10000, 169001437},
                               {"mnist", "28x28x1", 10, 60000, 10000, 11594722}};
// Of CIFAR-10, as it comes with radlc (examples/cifar10/subset).
const DatasetFacts kSubset = {"cifar10", "32x32x3", 10, 2000, 500, 7682500};

constexpr double kFloatBytes = 4;
// A backward pass is two products for each one of the forward pass.
constexpr double kPasses = 3;
// fp32 operations a second of a cloud's virtual core, which most often is half of a core with AVX2 at 3 GHz.
// No catalogue has clocks and widths; bands of what was not measured are wide enough for a factor of it.
constexpr double kVirtualCorePeak = 4.8e10;
constexpr double kMinute = 60;

const Json& job_of(const ir::Step& training) { return training.training->at("job"); }

// The value, or `otherwise` where it is absent or known only after apply.
double number_of(const Json& object, const char* key, double otherwise) {
  auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text_of(const Json& object, const char* key, const std::string& otherwise) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

Json part_of(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

std::string dataset_name(const ir::Step& training) {
  const std::string path = text_of(part_of(training.training, "data"), "path", "");
  if (!path.empty()) return std::filesystem::path(path).filename().string();
  return text_of(part_of(job_of(training), "dataset"), "name", "auto");
}

std::vector<std::string> role(const ir::Step& training, const char* name) {
  std::vector<std::string> nodes;
  const Json cluster = part_of(training.training, "cluster");
  if (auto found = cluster.find(name); found != cluster.end() && found->is_array())
    for (const Json& node : *found) nodes.push_back(node.get<std::string>());
  return nodes;
}

foresight::Exchange exchange_of(const std::string& mode, size_t workers, size_t servers) {
  if (servers == 0 && workers < 2) return foresight::Exchange::Alone;
  if (mode == "allreduce" || mode == "auto") return foresight::Exchange::Ring;
  return mode == "sync" ? foresight::Exchange::SyncServer : foresight::Exchange::AsyncServer;
}

// Of the parameters' fp32 bytes, as far as a sum of all workers needs them.
double exchanged_share(const std::string& gradients, const Json& sync, int workers) {
  if (gradients == "fp32") return 1;
  if (gradients == "int8") return 0.25;
  // Each worker's share travels to all others, an index beside each number.
  if (gradients == "top_k") return std::min(1.0, number_of(sync, "density", 0.001) * workers);
  // About what the convolutions of the zoo become.
  if (gradients == "power_sgd") return std::min(1.0, 0.02 * number_of(sync, "rank", 2));
  return 0.5;
}

}  // namespace

DatasetFacts dataset_facts(const Environment& environment, const ir::Step& training) {
  const Json dataset = part_of(job_of(training), "dataset"), data = part_of(training.training, "data");
  DatasetFacts facts;
  facts.name = dataset_name(training);
  const std::string path = text_of(data, "path", ""), mirror = text_of(data, "mirror", "");
  for (const DatasetFacts& known : kKnown)
    if (facts.name == known.name && path.empty()) facts = known;
  if (facts.name == kSubset.name && text_of(data, "source", "") == "subset") facts = kSubset;
  for (const std::string& place : {path, mirror})
    if (is_remote_place(place)) facts.source = place;
  if (const auto size = dataset_size(training, environment)) {
    facts.images = static_cast<double>(size->train);
    facts.test_images = static_cast<double>(size->test);
    facts.classes = static_cast<int>(size->classes);
    facts.shape = size->shape;
  }
  facts.images = number_of(dataset, "train", facts.images);
  facts.test_images = number_of(dataset, "test", facts.test_images);
  if (auto shape = dataset.find("shape"); shape != dataset.end() && shape->is_array() && shape->size() == 3) {
    facts.shape.clear();
    for (const Json& side : *shape) facts.shape += (facts.shape.empty() ? "" : "x") + side.dump();
  }
  return facts;
}

double dataset_bytes(const ir::Step& training, const DatasetFacts& facts) {
  const std::string path = text_of(part_of(training.training, "data"), "path", "");
  if (facts.bytes > 0 || path.empty() || !facts.source.empty()) return facts.bytes;
  auto files = list_dataset(path_of_place(path));
  double bytes = 0;
  if (files.ok())
    for (const DatasetFile& file : files->files) bytes += static_cast<double>(file.size);
  return bytes;
}

std::vector<const ir::Step*> trainings_of(const ir::Program& program) {
  std::vector<const ir::Step*> trainings;
  for (const ir::Step& step : program.steps)
    if (step.kind == ir::StepKind::Training) trainings.push_back(&step);
  return trainings;
}

namespace {

// The only one of `steps`, or the one that is named; `what`: "training".
Result<const ir::Step*> find_job(const std::vector<const ir::Step*>& steps, const std::string& name,
                                 const std::string& what) {
  std::vector<std::string> ids;
  for (const ir::Step* step : steps) {
    if (step->id == name || step->recipe == name || (name.empty() && steps.size() == 1)) return step;
    ids.push_back(step->id);
  }
  if (ids.empty()) return Status(Code::NotFound, "the file has no " + what);
  return Status(Code::NotFound,
                name.empty() ? "the file has several " + what + "s" : "no " + what + " '" + name + "'")
      .with_hint("name one with --" + what + ": " + join(ids, ", "));
}

}  // namespace

Result<const ir::Step*> find_training(const ir::Program& program, const std::string& name) {
  return find_job(trainings_of(program), name, "training");
}

Result<const ir::Step*> find_program(const ir::Program& program, const std::string& name) {
  std::vector<const ir::Step*> programs;
  for (const ir::Step& step : program.steps)
    if (step.kind == ir::StepKind::Program) programs.push_back(&step);
  return find_job(programs, name, "program");
}

std::string family_of(const ir::Step& training) {
  const Json& job = job_of(training);
  const std::string precision = text_of(job, "precision", "auto");
  std::string family = text_of(job, "model", "?") + " on " + dataset_name(training);
  return precision == "auto" ? family : family + ", " + precision;
}

std::vector<std::string> worker_nodes(const ir::Step& training) { return role(training, "worker"); }
std::vector<std::string> server_nodes(const ir::Step& training) { return role(training, "ps"); }

foresight::TrainingFacts training_facts(const Environment& environment, const ir::Step& training,
                                        const Stop& stop) {
  const Json &job = job_of(training), sync = part_of(job, "sync"), checkpoint = part_of(job, "checkpoint");
  const DatasetFacts dataset = dataset_facts(environment, training);
  foresight::TrainingFacts facts;
  facts.name = training.id;
  facts.family = family_of(training);
  if (auto work = work_of(environment, training, "", stop); work.ok())
    facts.work = std::move(*work);
  else
    facts.work_unknown = work.status().message();
  facts.images = dataset.images;
  facts.test_images = dataset.test_images;
  facts.epochs = number_of(job, "epochs", 10);
  facts.batch = number_of(job, "batch_size", default_batch(static_cast<uint64_t>(dataset.images)));
  const auto workers = worker_nodes(training), servers = server_nodes(training);
  facts.workers = static_cast<int>(std::max<size_t>(workers.size(), 1));
  facts.servers = static_cast<int>(servers.size());
  facts.exchange = exchange_of(text_of(sync, "mode", "async"), workers.size(), servers.size());
  facts.local_steps = static_cast<int>(number_of(sync, "local_steps", 1));
  facts.delay = static_cast<int>(number_of(sync, "delay", 0));
  // What it chooses where an exchange takes long; where it takes a tenth of a step, both are alike.
  if (text_of(sync, "mode", "") == "auto") facts.local_steps = 16, facts.delay = 4;
  const std::string gradients = text_of(sync, "gradients", "fp32");
  facts.exchanged_share = exchanged_share(gradients, sync, facts.workers);
  facts.checkpoint_seconds = number_of(checkpoint, "every_seconds", 60);
  return facts;
}

Result<foresight::Work> work_of(const Environment& environment, const ir::Step& training,
                                const std::string& as_shape, const Stop& stop) {
  const Json& job = job_of(training);
  const DatasetFacts dataset = dataset_facts(environment, training);
  const std::string shape = as_shape.empty() ? dataset.shape : as_shape, model = text_of(job, "model", "");
  if (model.empty()) return invalid("its model is known only after apply");
  if (shape.empty())
    return invalid("the shape of the images of " + dataset.name + " is not known")
        .with_hint("say --image-shape HEIGHTxWIDTHxCHANNELS");
  auto graph = look_at_model(model, shape, dataset.classes, environment, stop);
  if (!graph.ok()) return std::move(graph).status();
  const Json key = {{"graph", graph->digest},
                    {"input", shape},
                    {"classes", dataset.classes},
                    {"precision", text_of(job, "precision", "auto")}};
  return foresight::Work{sha256_hex(key.dump()), kPasses * graph->forward_flop,
                         kFloatBytes * graph->parameters, graph->convolved, kFloatBytes * graph->activations};
}

foresight::MachineFacts this_computer() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return {"local",
          static_cast<double>(usable_cores()),
          pages > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 0,
          0,
          0,
          true,
          core_peak()};
}

foresight::CpuCredits cpu_credits(const InstanceType& type) {
  const Burstable* burst = burstable(type.cloud, type.name);
  if (burst == nullptr) return {};
  foresight::CpuCredits credits;
  credits.baseline = burst->baseline;
  credits.launch_seconds = burst->launch_credits * kMinute;
  credits.throttled = !burst->unlimited;
  credits.surplus_micros_per_hour =
      Money::of(burst->surplus_usd * burst->cores * (1 - burst->baseline)).micros;
  return credits;
}

foresight::MachineFacts machine_facts(const InstanceType& type) {
  const Burstable* burst = burstable(type.cloud, type.name);
  return {type.cloud + " " + type.name,
          burst == nullptr ? type.cpu : burst->cores,
          type.memory_bytes,
          type.network_sustained > 0 ? type.network_sustained : type.network_peak,
          0,
          false,
          kVirtualCorePeak,
          cpu_credits(type),
          type.gpu};
}

}  // namespace radl::driver
