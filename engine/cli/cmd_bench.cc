// radl-train bench: how fast this machine trains a model, on synthetic pictures.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/data/random.h"
#include "engine/model/graph.h"
#include "engine/model/network.h"
#include "engine/optim/optimizer.h"

namespace radl::engine::cli::bench_command {
namespace {

using Clock = std::chrono::steady_clock;

struct Flags {
  std::string model = "resnet20", shape = "32x32x3", precision = "auto";
  BuildOptions build;
  int classes = 10, steps = 0;
  double seconds = 10;
  bool forward = false, json = false, kernels = false;
};

struct Timing {
  std::vector<double> steps;
  double median() const {
    std::vector<double> sorted = steps;
    std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

int run(Flags& f, const Context& context) {
  auto shape = parse_shape(f.shape);
  if (!shape.ok()) return fail(shape.status());
  const InputShape in{(*shape)[0], (*shape)[1], (*shape)[2]};
  f.build.precision = f.precision == "bf16" || (f.precision == "auto" && __builtin_cpu_supports("avx512bf16"))
                          ? Precision::Bf16
                          : Precision::Fp32;
  f.build.training = !f.forward;
  auto network = Network::build(f.model, in, f.classes, f.build);
  if (!network.ok()) return fail(network.status());
  OptimizerConfig config;
  auto optimizer = f.forward ? Result<std::unique_ptr<Optimizer>>(std::unique_ptr<Optimizer>())
                             : Optimizer::make(config, (*network)->parameter_layout());
  if (!optimizer.ok()) return fail(optimizer.status());
  const int n = f.build.batch_size;
  std::vector<float> images(size_t(n) * size_t(in.height) * size_t(in.width) * size_t(in.channels));
  std::vector<int32_t> labels(static_cast<size_t>(n));
  data::KeyedRandom random(1, 2, 3);
  for (auto& v : images) v = random.between(-2, 2);
  for (auto& l : labels) l = int32_t(random.below(uint32_t(f.classes)));
  const Batch batch{images, labels, n};
  Timing timing;
  const auto begin = Clock::now();
  for (int step = 0; !context.cancelled->load(); ++step) {
    const auto at = Clock::now();
    if (f.forward) {
      (*network)->evaluate(batch, {});
    } else {
      (*network)->forward_backward(batch);
      (*optimizer)->step((*network)->parameters(), (*network)->gradients(), 0.001f);
      (*network)->parameters_changed();
    }
    const auto now = Clock::now();
    if (step >= 2)
      timing.steps.push_back(std::chrono::duration<double>(now - at).count());  // the first two warm up
    const double spent = std::chrono::duration<double>(now - begin).count();
    if (f.steps > 0 ? step + 1 >= f.steps + 2 : spent >= f.seconds && timing.steps.size() >= 3) break;
  }
  if (timing.steps.empty()) return kInterrupted;
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const double median = timing.median(),
               fastest = *std::min_element(timing.steps.begin(), timing.steps.end());
  const double flop = (*network)->graph().forward_flop() * (f.forward ? 1 : 3) * n;
  const char* precision = f.build.precision == Precision::Bf16 ? "bf16" : "fp32";
  if (f.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"model", f.model},
                                              {"batch_size", n},
                                              {"precision", precision},
                                              {"mode", f.forward ? "forward" : "train"},
                                              {"steps", timing.steps.size()},
                                              {"median_seconds", median},
                                              {"fastest_seconds", fastest},
                                              {"pictures_per_second", n / median},
                                              {"gflops", flop / median / 1e9},
                                              {"network_bytes", (*network)->memory_bytes()},
                                              {"peak_rss_kib", usage.ru_maxrss}}
                           .dump());
  } else {
    fmt::print(
        "{} {} batch {} {}: {:.0f} pictures/s (median of {} steps, {:.1f} ms; fastest {:.1f} ms), {:.0f} "
        "GFLOP/s, {} peak\n",
        f.model, f.forward ? "forward" : "training", n, precision, n / median, timing.steps.size(),
        median * 1e3, fastest * 1e3, flop / median / 1e9, human_bytes(uint64_t(usage.ru_maxrss) * 1024));
  }
  if (f.kernels) fmt::print("{}", (*network)->kernel_listing());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("bench", "how fast this machine trains a model, on synthetic pictures");
  c->add_option("--model", f->model, "name in the zoo, or text of a model")->capture_default_str();
  c->add_option("--input", f->shape, "HEIGHTxWIDTHxCHANNELS")->capture_default_str();
  c->add_option("--classes", f->classes, "number of classes")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  c->add_option("--batch-size", f->build.batch_size, "pictures in a step")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  c->add_option("--precision", f->precision, "auto, fp32, bf16")
      ->check(CLI::IsMember({"auto", "fp32", "bf16"}))
      ->capture_default_str();
  c->add_option("--threads", f->build.threads, "0: all cores")->capture_default_str();
  c->add_option("--kernels", f->build.kernels, "auto, ref, eigen, onednn")->capture_default_str();
  c->add_option("--seconds", f->seconds, "how long to measure")->capture_default_str();
  c->add_option("--steps", f->steps, "measure so many steps instead");
  c->add_flag("--forward", f->forward, "prediction instead of training");
  c->add_flag("--list-kernels", f->kernels, "the kernel of each layer and why it was chosen");
  c->add_flag("--json", f->json, "one line of JSON");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::bench_command
