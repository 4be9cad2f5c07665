#include "engine/train/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/processors.h"
#include "engine/kernels/cpu.h"
#include "engine/model/graph.h"
#include "engine/model/sized_network.h"
#include "engine/tensor/memory.h"
#include "engine/train/defaults.h"
#include "engine/train/step.h"

namespace radl::engine {
namespace {

constexpr int kEvaluationBatch = 256;
constexpr size_t kWhiteningImages = 1000;

ScheduleConfig schedule_config(const ScheduleSpec& spec) {
  ScheduleConfig out;
  out.name = spec.name;
  out.peak = static_cast<float>(spec.peak);
  out.warmup = static_cast<float>(spec.warmup);
  out.final = static_cast<float>(spec.final);
  out.milestones.assign(spec.milestones.begin(), spec.milestones.end());
  out.gamma = static_cast<float>(spec.gamma);
  return out;
}

Result<data::Parts> open_data(const Job& job) {
  data::OpenOptions options;
  options.name = job.dataset.name;
  options.directory = job.dataset.directory;
  options.train = static_cast<size_t>(job.dataset.train);
  options.test = static_cast<size_t>(job.dataset.test);
  options.validation = static_cast<size_t>(job.dataset.validation);
  options.skip_corrupt = job.dataset.skip_corrupt;
  if (job.dataset.shape.size() == 3)
    options.shape = {job.dataset.shape[0], job.dataset.shape[1], job.dataset.shape[2]};
  return data::open_dataset(options);
}

// What the job leaves open, by its model.
Status fill_in(Job& job, const data::Parts& parts) {
  const InputShape shape = parts.train->shape();
  Result<Graph> graph =
      parse_model(job.model, {shape.height, shape.width, shape.channels}, parts.train->classes());
  if (!graph) return std::move(graph).status().at("model");
  if (Status images = takes_images(*graph); !images.ok()) return std::move(images).at("model");
  return choose_defaults(job, *graph, parts.train->size());
}

}  // namespace

Precision resolve_precision(const std::string& name) {
  if (name == "fp32") return Precision::Fp32;
  if (name == "bf16") return Precision::Bf16;
  return cpu().avx512_bf16 ? Precision::Bf16 : Precision::Fp32;
}

int threads_of(const Job& job) { return job.threads > 0 ? job.threads : usable_cores(); }

OptimizerConfig optimizer_config(const Job& job) {
  OptimizerConfig out = job.optimizer;
  out.threads = threads_of(job);
  if (job.sync.gradients == Encoding::TopK && !job.cluster.empty()) {
    // Each member's codec has the momentum. Decay goes past it, and is as strong as with it in the long run.
    const double sum = 1 / (1 - out.momentum);
    out.weight_decay = std::min(1.0, out.weight_decay * sum);  // rounding, as check_job() sees to it
    out.bias_decay = std::min(1.0, out.bias_decay * sum);
    out.momentum = 0;
    out.nesterov = false;
  }
  return out;
}

AverageConfig average_config(const Job& job, const RunLength& length) {
  AverageConfig out;
  out.kind = job.average.kind == "ema"   ? AverageConfig::Kind::Ema
             : job.average.kind == "swa" ? AverageConfig::Kind::Mean
                                         : AverageConfig::Kind::None;
  out.decay = static_cast<float>(job.average.decay);
  out.from = static_cast<uint64_t>(job.average.from * static_cast<double>(length.total));
  return out;
}

Result<std::unique_ptr<data::Loader>> make_loader(const Setup& setup, const Job& job) {
  data::LoaderOptions options;
  options.batch_size = job.batch_size;
  options.seed = job.seed;
  options.threads = threads_of(job);
  options.skip_corrupt = job.dataset.skip_corrupt;
  options.augment = augment_config(job.augment);
  options.normalization = setup.data.normalization;
  options.stages = size_stages(job, setup.length, setup.data.train->shape());
  return data::Loader::create(setup.data.train, options);
}

std::vector<data::LoaderOptions::Stage> size_stages(const Job& job, const RunLength& length,
                                                    InputShape whole) {
  const auto scaled = [](int side, double scale) {
    return std::max(1, static_cast<int>(std::lround(side * scale)));
  };
  std::vector<data::LoaderOptions::Stage> out;
  for (const ResizeSpec& r : job.resize) {
    const auto before = static_cast<uint64_t>(std::llround(r.until * static_cast<double>(length.total)));
    out.push_back({before, {scaled(whole.height, r.scale), scaled(whole.width, r.scale), whole.channels}});
  }
  return out;
}

data::Augment augment_config(const AugmentSpec& spec) {
  data::Augment out;
  out.flip = spec.flip == "random"      ? data::Augment::Flip::Random
             : spec.flip == "alternate" ? data::Augment::Flip::Alternate
                                        : data::Augment::Flip::None;
  out.translate = spec.translate;
  out.padding = spec.padding == "zero" ? data::Augment::Padding::Zero : data::Augment::Padding::Reflect;
  out.cutout = spec.cutout;
  out.crop_area = static_cast<float>(spec.crop_area);
  out.brightness = static_cast<float>(spec.brightness);
  out.contrast = static_cast<float>(spec.contrast);
  out.saturation = static_cast<float>(spec.saturation);
  return out;
}

Result<std::unique_ptr<Setup>> Setup::make(Job& job, bool training) {
  std::string digest = job_digest(job);
  Result<data::Parts> parts = open_data(job);
  if (!parts) return std::move(parts).status().at("dataset");
  if (Status chosen = fill_in(job, *parts); !chosen.ok()) return chosen;
  Result<Schedule> schedule = Schedule::make(schedule_config(job.schedule));
  if (!schedule) return std::move(schedule).status().at("schedule");
  std::unique_ptr<Setup> out(new Setup(std::move(*schedule)));
  out->digest = std::move(digest);
  out->data = std::move(*parts);
  size_t images = out->data.train->size();
  out->length.batches_per_epoch = images / static_cast<size_t>(job.batch_size);
  if (out->length.batches_per_epoch == 0) {
    return invalid(fmt::format("batch_size: {} is more than the {} training images", job.batch_size, images));
  }
  double total = job.epochs * static_cast<double>(out->length.batches_per_epoch);
  out->length.total = static_cast<uint64_t>(std::max(1.0, std::round(total)));
  out->precision = resolve_precision(job.precision);
  BuildOptions options;
  out->batch = options.batch_size = training ? piece_size(job) : kEvaluationBatch;
  options.threads = job.threads;
  options.precision = out->precision;
  options.seed = job.seed;
  options.training = training;
  options.kernels = job.kernels;
  options.label_smoothing = static_cast<float>(job.label_smoothing);
  InputShape shape = out->data.train->shape();
  if (Status fits = data::Transform::check(shape, augment_config(job.augment), out->data.normalization);
      !fits.ok())
    return fits;
  std::vector<InputShape> smaller;
  for (const data::LoaderOptions::Stage& stage : size_stages(job, out->length, shape))
    if (training) smaller.push_back(stage.shape);
  Result<std::unique_ptr<Network>> network =
      build_sized_network(job.model, shape, smaller, out->data.train->classes(), options);
  if (!network) return std::move(network).status().at("model");
  out->network = std::move(*network);
  // The loader holds the batch that is computed and the next one.
  const size_t batches = training ? 2 * sizeof(float) * static_cast<size_t>(job.batch_size) : 0;
  if (Status enough = check_memory(batches * data::pixel_count(shape),
                                   fmt::format("two batches of {} images", job.batch_size));
      !enough.ok())
    return enough;
  return out;
}

double largest_class_share(const data::Dataset& dataset) {
  std::map<int32_t, size_t> images;
  size_t most = 0;
  for (size_t i = 0; i < dataset.size(); ++i) most = std::max(most, ++images[dataset.label(i)]);
  return dataset.size() == 0 ? 1 : static_cast<double>(most) / static_cast<double>(dataset.size());
}

Status whiten_from_data(Setup& setup, const Job& job) {
  const data::Dataset& train = *setup.data.train;
  size_t count = std::min(kWhiteningImages, train.size()), pixels = data::pixel_count(train.shape());
  data::Transform transform(train.shape(), data::Augment(), setup.data.normalization);
  data::Transform::Scratch scratch;
  std::vector<float> images(count * pixels);
  std::vector<uint8_t> stored(pixels);
  std::vector<int32_t> labels(count);
  size_t whole = 0;  // images that could be read
  for (size_t i = 0; i < count; ++i) {
    if (Status read = train.read(i, stored); !read.ok()) {
      if (job.dataset.skip_corrupt) continue;
      return read;
    }
    labels[whole] = train.label(i);
    transform.evaluate(stored.data(), scratch, std::span(images).subspan(whole * pixels, pixels));
    ++whole;
  }
  return setup.network->whiten({std::span<const float>(images).first(whole * pixels),
                                std::span<const int32_t>(labels).first(whole), static_cast<int>(whole)});
}

}  // namespace radl::engine
