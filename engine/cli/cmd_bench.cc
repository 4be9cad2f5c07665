// radl-train bench: how fast this machine trains a model, on synthetic images.
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "common/clock.h"
#include "common/human.h"
#include "engine/cli/bench_profile.h"
#include "engine/cli/command.h"
#include "engine/cli/machine_load.h"
#include "engine/data/random.h"
#include "engine/export/safetensors.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/parallel.h"
#include "engine/model/graph.h"
#include "engine/model/network.h"
#include "engine/optim/optimizer.h"
#include "engine/tensor/memory.h"

namespace radl::engine::cli::bench_command {
namespace {

constexpr int kWarmUp = 2;       // steps that are not counted
constexpr size_t kLosses = 3;    // losses that are reported
constexpr float kRate = 0.001f;  // of the updates, SGD with momentum 0.9

struct Flags {
  std::string model = "resnet20", shape = "32x32x3", precision = "auto";
  BuildOptions build;
  int classes = 10, steps = 0;
  double seconds = 10;
  bool forward = false, json = false, force = false, kernels = false, profile = false;
  std::string dump;
};

constexpr double kSlow = 0.9;  // of the steps, one that few are slower than

struct Timing {
  std::vector<double> steps;
  // The step that this share of all is not slower than.
  double quantile(double share) const {
    std::vector<double> sorted = steps;
    const auto at = std::min(static_cast<size_t>(share * double(sorted.size())), sorted.size() - 1);
    std::nth_element(sorted.begin(), sorted.begin() + long(at), sorted.end());
    return sorted[at];
  }
  double median() const { return quantile(0.5); }
};

// The weights as they are now and the batch, so that another program can do the same steps.
Status dump(const std::string& path, Network& network, const Batch& batch) {
  const auto size = [](int n) { return static_cast<int64_t>(n); };
  std::vector<exporter::TensorView> tensors;
  const auto add = [&](const std::vector<ParameterInfo>& layout, std::span<const float> values) {
    for (const ParameterInfo& p : layout)
      tensors.push_back({p.name, {p.shape.begin(), p.shape.end()}, values.subspan(p.offset, p.size)});
  };
  add(network.parameter_layout(), network.parameters());
  add(network.statistics_layout(), network.statistics());
  const InputShape in = network.input();
  const std::vector<float> labels(batch.labels.begin(), batch.labels.end());
  tensors.push_back(
      {"bench.images", {size(batch.size), size(in.height), size(in.width), size(in.channels)}, batch.images});
  tensors.push_back({"bench.labels", {size(batch.size)}, labels});
  return exporter::write_safetensors(path, tensors,
                                     {{"model", network.description()}, {"producer", kProducer}});
}

// True if the reader of standard output is gone. radlc measures on nodes; if it is killed, the SSH server
// closes this pipe, and nothing else stops the measurement. A file or terminal never counts.
bool reader_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

// Random images and labels of one step.
struct Synthetic {
  std::vector<float> images;
  std::vector<int32_t> labels;
  Batch batch() const { return {images, labels, static_cast<int>(labels.size())}; }
};

Result<Synthetic> synthetic(const InputShape& in, int size, int classes) {
  const size_t n = static_cast<size_t>(size),
               numbers = n * size_t(in.height) * size_t(in.width) * size_t(in.channels);
  if (Status enough = check_memory(sizeof(float) * numbers, "the batch"); !enough.ok()) return enough;
  Synthetic out{std::vector<float>(numbers), std::vector<int32_t>(n)};
  data::KeyedRandom random(1, 2, 3);
  for (auto& v : out.images) v = random.between(-2, 2);
  for (auto& l : out.labels) l = int32_t(random.below(uint32_t(classes)));
  return out;
}

struct Measured {
  Timing timing;
  std::vector<double> losses;                // of the first steps
  double update_seconds = 0, processor = 0;  // of the counted steps
  MachineLoad load;                          // of their time
};

// `optimizer`: null for forward alone.
Measured measure(const Flags& f, Network& network, Optimizer* optimizer, const Batch& batch,
                 const Context& context) {
  Measured out;
  const auto begin = SteadyClock::now();
  std::optional<LoadMeter> load;
  for (int step = 0; !context.stop.asked() && !reader_gone(); ++step) {
    if (f.profile && step == kWarmUp) network.set_profiling(true), out.update_seconds = 0;
    // Unlike time on the wall it hardly depends on what else the machine does.
    if (step == kWarmUp) load.emplace(), out.processor = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const auto at = SteadyClock::now();
    if (optimizer == nullptr) {
      network.evaluate(batch, {});
    } else {
      const StepResult result = network.forward_backward(batch);
      if (out.losses.size() < kLosses) out.losses.push_back(result.loss);
      const auto updating = SteadyClock::now();
      optimizer->step(network.parameters(), network.gradients(), kRate);
      network.parameters_changed();
      out.update_seconds += seconds_since(updating);
    }
    if (step >= kWarmUp) out.timing.steps.push_back(seconds_since(at));
    const double spent = seconds_since(begin);
    if (f.steps > 0 ? step + 1 >= f.steps + kWarmUp : spent >= f.seconds && out.timing.steps.size() >= 3)
      break;
  }
  out.processor = processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - out.processor;
  if (load) out.load = load->so_far();
  return out;
}

Profile profile_of(const Flags& f, Network& network, const Measured& measured, int threads) {
  const std::vector<double>& steps = measured.timing.steps;
  const int count = static_cast<int>(steps.size());
  Profile profile{network.profile(), count, std::accumulate(steps.begin(), steps.end(), 0.0) / count,
                  measure_peaks(f.build.precision == Precision::Bf16 ? Type::Bf16 : Type::F32, threads)};
  OperationTime update{"update", "optimizer"};
  update.backward_seconds = measured.update_seconds;
  if (!f.forward) profile.operations.push_back(std::move(update));
  return profile;
}

// As a line of JSON, or for people.
void print(const Flags& f, Network& network, const Measured& measured,
           const std::optional<Profile>& profile) {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const std::vector<double>& steps = measured.timing.steps;
  const int n = f.build.batch_size;
  const double median = measured.timing.median(), fastest = *std::min_element(steps.begin(), steps.end());
  const double flop = network.graph().forward_flop() * (f.forward ? 1 : 3) * n;
  const char* precision = f.build.precision == Precision::Bf16 ? "bf16" : "fp32";
  if (!f.json) {
    fmt::print(
        "{} {} batch {} {}: {:.0f} images/s (median of {} steps, {:.1f} ms; fastest {:.1f} ms), {:.0f} "
        "GFLOP/s, {} peak\n",
        f.model, f.forward ? "forward" : "training", n, precision, n / median, steps.size(), median * 1e3,
        fastest * 1e3, flop / median / 1e9, bytes_text(double(usage.ru_maxrss) * 1024));
    if (profile) fmt::print("{}", profile_text(*profile));
    return;
  }
  nlohmann::ordered_json line{{"model", f.model},
                              {"batch_size", n},
                              {"precision", precision},
                              {"mode", f.forward ? "forward" : "train"},
                              {"steps", steps.size()},
                              {"median_seconds", median},
                              {"fastest_seconds", fastest},
                              {"slow_seconds", measured.timing.quantile(kSlow)},
                              {"waited_share", measured.load.waited},
                              {"stolen_share", measured.load.stolen},
                              {"images_per_second", n / median},
                              {"gflops", flop / median / 1e9},
                              {"network_bytes", network.memory_bytes()},
                              {"peak_rss_kib", usage.ru_maxrss}};
  line["processor_seconds"] = measured.processor / static_cast<double>(steps.size());
  if (!f.forward) line["losses"] = measured.losses;
  if (profile) line["profile"] = profile_json(*profile);
  fmt::print("{}\n", line.dump());
}

int run(Flags& f, const Context& context) {
  auto shape = parse_shape(f.shape);
  if (!shape.ok()) return fail(shape.status());
  const InputShape in{(*shape)[0], (*shape)[1], (*shape)[2]};
  f.build.precision = f.precision == "bf16" || (f.precision == "auto" && cpu().avx512_bf16) ? Precision::Bf16
                                                                                            : Precision::Fp32;
  f.build.training = !f.forward;
  auto network = Network::build(f.model, in, f.classes, f.build);
  if (!network.ok()) return fail(network.status());
  const int threads = f.build.threads > 0 ? f.build.threads : usable_cores();
  OptimizerConfig config;
  config.threads = threads;
  auto optimizer = f.forward ? Result<std::unique_ptr<Optimizer>>(std::unique_ptr<Optimizer>())
                             : Optimizer::make(config, (*network)->parameter_layout());
  if (!optimizer.ok()) return fail(optimizer.status());
  auto made = synthetic(in, f.build.batch_size, f.classes);
  if (!made.ok()) return fail(made.status());
  const Batch batch = made->batch();
  if (!f.dump.empty()) {
    if (Status may = may_write(f.dump, {.ours = names_producer, .force = f.force}); !may.ok())
      return fail(may);
    if (Status s = dump(f.dump, **network, batch); !s.ok()) return fail(s);
  }
  const Measured measured = measure(f, **network, optimizer->get(), batch, context);
  if (measured.timing.steps.empty() || reader_gone()) return kInterrupted;
  std::optional<Profile> profile;
  if (f.profile) profile = profile_of(f, **network, measured, threads);
  print(f, **network, measured, profile);
  if (f.kernels) fmt::print("{}", (*network)->kernel_listing());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("bench", "Measure how fast this machine trains a model, on synthetic images");
  c->add_option("--model", f->model, "name of a built-in model, or text of a model (docs/models.md)")
      ->capture_default_str();
  c->add_option("--input", f->shape, "HEIGHTxWIDTHxCHANNELS")->capture_default_str();
  c->add_option("--classes", f->classes, "number of classes")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  c->add_option("--batch-size", f->build.batch_size, "images per step")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  c->add_option("--precision", f->precision, "auto, fp32, bf16")
      ->check(CLI::IsMember({"auto", "fp32", "bf16"}))
      ->capture_default_str();
  c->add_option("--threads", f->build.threads, "number of threads; 0: one per core")->capture_default_str();
  c->add_option("--kernels", f->build.kernels, "auto, accurate, ref, eigen, onednn, own, direct")
      ->capture_default_str();
  c->add_option("--seconds", f->seconds, "duration of the measurement, in seconds")->capture_default_str();
  c->add_option("--steps", f->steps, "measure this number of steps instead");
  c->add_flag("--forward", f->forward, "measure prediction instead of training");
  c->add_flag("--list-kernels", f->kernels, "print the kernel of each layer, and why it was selected");
  c->add_flag("--profile", f->profile,
              "print time, share and fraction of the measured peak for each kernel and operation");
  c->add_option("--dump", f->dump, "write the first weights and the batch to this safetensors file");
  c->add_flag("--force", f->force, kForce);
  c->add_flag("--json", f->json, "one line of JSON");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::bench_command
