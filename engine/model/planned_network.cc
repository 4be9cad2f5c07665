#include "engine/model/planned_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "common/clock.h"
#include "engine/kernels/cpu.h"
#include "engine/loss/softmax.h"
#include "engine/model/compile.h"
#include "engine/model/initialise.h"
#include "engine/model/memory_need.h"

namespace radl::engine {

namespace {

struct Timing {
  double forward = 0, backward = 0, flop = 0, backward_flop = 0, bytes = 0, backward_bytes = 0;
};

class PlannedNetwork : public Network {
 public:
  PlannedNetwork(Graph graph, const BuildOptions& options)
      : graph_(std::move(graph)), options_(options), plan_(options.batch_size) {}

  Status prepare() {
    settings_ = {options_.batch_size, options_.threads, options_.training, options_.kernels,
                 std::make_shared<Workspace>(options_.threads)};
    const Type type = options_.precision == Precision::Bf16 ? Type::Bf16 : Type::F32;
    Result<Compiled> compiled = compile(graph_, type, settings_, plan_);
    if (!compiled) return std::move(compiled).status();
    compiled_ = std::move(*compiled);
    plan_backward();
    arena_bytes_ = plan_.place();
    if (Status s = check_memory(); !s.ok()) return s;
    arena_ = Buffer(arena_bytes_);
    plan_.bind(arena_.data());
    parameters_ = Buffer(graph_.parameter_count * sizeof(float));
    statistics_ = Buffer(graph_.statistics_count * sizeof(float));
    if (options_.training) gradients_ = Buffer(graph_.parameter_count * sizeof(float));
    times_.resize(compiled_.ops.size());
    initialise(graph_, options_.seed, parameters(), statistics());
    return ok_status();
  }

  std::span<float> parameters() override { return {parameters_.as<float>(), graph_.parameter_count}; }
  std::span<float> gradients() override {
    return {gradients_.as<float>(), options_.training ? graph_.parameter_count : 0};
  }
  std::span<float> statistics() override { return {statistics_.as<float>(), graph_.statistics_count}; }
  const std::vector<ParameterInfo>& parameter_layout() const override { return graph_.parameters; }
  const std::vector<ParameterInfo>& statistics_layout() const override { return graph_.statistics; }
  void parameters_changed() override { stale_ = true; }

  StepResult forward_backward(const Batch& batch, const GradientsReady& ready) override {
    assert(options_.training && "the network was built for inference");
    const StepContext s = context(batch, true);
    run_forward(s);
    Tensor* logits = compiled_.logits;
    StepResult result;
    timed(loss_seconds_, [&] {
      result = softmax_cross_entropy(reinterpret_cast<float*>(logits->data), batch.labels.data(), batch.size,
                                     graph_.classes, options_.label_smoothing,
                                     reinterpret_cast<float*>(logits->gradient->data));
    });
    for (size_t i = compiled_.ops.size(); i-- > 0;) {
      Op& op = *compiled_.ops[i];
      timed(times_[i].backward, [&] { op.backward(s); });
      for (size_t p = 0; ready && p < op.parameters.size(); ++p) {
        const ParameterInfo& info = graph_.parameters[op.parameters[p]];
        ready(info.offset, info.offset + info.size);
      }
      if (!profiling_) continue;
      times_[i].backward_flop += op.backward_flop() * s.n;
      times_[i].backward_bytes += plan_.touched(backward_time(i)) * s.n / options_.batch_size;
    }
    ++step_;
    return result;
  }

  StepResult evaluate(const Batch& batch, std::span<float> logits) override {
    run_forward(context(batch, false));
    const float* out = reinterpret_cast<float*>(compiled_.logits->data);
    if (!logits.empty()) std::copy_n(out, static_cast<size_t>(batch.size) * graph_.classes, logits.begin());
    if (batch.labels.empty()) return {};
    return softmax_cross_entropy(out, batch.labels.data(), batch.size, graph_.classes,
                                 options_.label_smoothing, nullptr);
  }

  std::string description() const override { return to_text(graph_); }
  InputShape input() const override { return {graph_.input.h, graph_.input.w, graph_.input.c}; }
  int classes() const override { return graph_.classes; }
  size_t memory_bytes() const override {
    size_t total = arena_bytes_ + settings_.workspace->size();
    for (const auto& op : compiled_.ops) total += op->memory_bytes();
    return total +
           ((options_.training ? 2 : 1) * graph_.parameter_count + graph_.statistics_count) * sizeof(float);
  }
  const Graph& graph() const override { return graph_; }
  uint64_t step() const override { return step_; }
  void set_step(uint64_t step) override { step_ = step; }
  Status whiten(const Batch& batch) override {
    stale_ = true;
    return set_whitening(graph_, batch, parameters());
  }

  std::string kernel_listing() const override {
    const Type type = options_.precision == Precision::Bf16 ? Type::Bf16 : Type::F32;
    std::string text = fmt::format("processor: {}; element-wise: {}; {} threads\n", cpu_text(),
                                   elementwise(type).isa, options_.threads);
    for (const auto& op : compiled_.ops)
      if (const std::string kernel = op->kernel(); !kernel.empty())
        text += fmt::format("{}: {}\n", op->name, kernel);
    return text;
  }

  void set_profiling(bool on) override {
    profiling_ = on;
    pack_seconds_ = loss_seconds_ = 0;
    std::fill(times_.begin(), times_.end(), Timing{});
  }
  std::vector<OperationTime> profile() const override {
    std::vector<OperationTime> out;
    for (size_t i = 0; i < times_.size(); ++i) {
      const Timing& t = times_[i];
      out.push_back({compiled_.ops[i]->name, compiled_.ops[i]->kernel(), t.forward, t.backward, t.flop,
                     t.backward_flop, t.bytes, t.backward_bytes});
    }
    out.push_back({"loss", "", loss_seconds_});
    out.push_back({"weights", "packing", pack_seconds_});
    return out;
  }

 private:
  void plan_backward() {
    const int count = static_cast<int>(compiled_.ops.size());
    plan_.set_time(count);
    plan_.use(compiled_.logits);
    if (!options_.training) return;
    plan_.gradient(compiled_.logits);
    for (int i = count - 1; i >= 0; --i) {
      plan_.set_time(backward_time(static_cast<size_t>(i)));
      compiled_.ops[i]->plan_backward(plan_);
    }
  }

  int backward_time(size_t op) const { return static_cast<int>(2 * compiled_.ops.size() - op); }

  Status check_memory() const {
    size_t parameters = graph_.parameter_count * sizeof(float) * (options_.training ? 2 : 1);
    const size_t needed = arena_bytes_ + parameters, available = available_memory();
    if (needed <= available) return ok_status();
    return too_little_memory(graph_, options_.batch_size, "", needed, available);
  }

  StepContext context(const Batch& batch, bool training) {
    assert(batch.size >= 1 && batch.size <= options_.batch_size);
    assert(batch.images.size() >= batch.size * graph_.input.size());
    return {batch.size,
            training,
            options_.seed,
            step_,
            batch.images.data(),
            parameters_.as<float>(),
            training ? gradients_.as<float>() : nullptr,
            statistics_.as<float>()};
  }

  void run_forward(const StepContext& s) {
    if (stale_) {
      timed(pack_seconds_, [&] {
        for (const auto& op : compiled_.ops) op->refresh(s);
      });
      stale_ = false;
    }
    for (size_t i = 0; i < compiled_.ops.size(); ++i) {
      timed(times_[i].forward, [&] { compiled_.ops[i]->forward(s); });
      if (!profiling_) continue;
      times_[i].flop += compiled_.ops[i]->flop() * s.n;
      times_[i].bytes += plan_.touched(static_cast<int>(i)) * s.n / options_.batch_size;
    }
  }

  template <class F>
  void timed(double& seconds, F&& f) {
    if (!profiling_) return f();
    const auto begin = SteadyClock::now();
    f();
    seconds += seconds_since(begin);
  }

  Graph graph_;
  BuildOptions options_;
  OpSettings settings_;
  MemoryPlan plan_;
  Compiled compiled_;
  size_t arena_bytes_ = 0;
  Buffer arena_, parameters_, gradients_, statistics_;
  bool stale_ = true, profiling_ = false;
  uint64_t step_ = 0;
  std::vector<Timing> times_;
  double pack_seconds_ = 0, loss_seconds_ = 0;
};

}  // namespace

Result<std::unique_ptr<Network>> make_planned_network(Graph graph, const BuildOptions& options) {
  auto network = std::make_unique<PlannedNetwork>(std::move(graph), options);
  try {
    if (Status s = network->prepare(); !s.ok()) return s;
  } catch (const std::bad_alloc&) {
    const size_t available = available_memory();
    return too_little_memory(network->graph(), options.batch_size, "more than ",
                             std::max(available, least_memory(network->graph(), options)), available);
  }
  return std::unique_ptr<Network>(std::move(network));
}

}  // namespace radl::engine
