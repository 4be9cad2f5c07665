// radl-train eval: how good a trained model is on a dataset.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/data/open.h"
#include "engine/export/bundle.h"
#include "engine/train/evaluate.h"

namespace radl::engine::cli::eval_command {
namespace {

struct Flags {
  std::string model, part = "test";
  data::OpenOptions open;
  BuildOptions build{.batch_size = 256, .training = false};
  int translate = 0;
  bool flip = false, json = false, confusion = false;
  size_t mistakes = 0;
};

nlohmann::ordered_json mistakes_json(const data::Dataset& d, const Evaluation& e) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Mistake& m : e.mistakes) {
    out.push_back({{"from", d.origin(m.index)},
                   {"is", m.label},
                   {"taken_for", m.predicted},
                   {"probability", m.probability}});
  }
  return out;
}

void print_mistakes(const exporter::Bundle& b, const data::Dataset& d, const Evaluation& e) {
  for (const Mistake& m : e.mistakes) {
    fmt::print("{}: {}, taken for {} ({:.1f}%)\n", d.origin(m.index), exporter::class_label(b, m.label),
               exporter::class_label(b, m.predicted), 100 * m.probability);
  }
}

void print_confusion(const exporter::Bundle& b, const Evaluation& e) {
  const size_t n = size_t(b.classes);
  fmt::print("\n{:>14}  predicted class, a row for each true class\n", "");
  for (size_t r = 0; r < n; ++r) {
    fmt::print("{:>14}", exporter::class_label(b, int(r)));
    for (size_t c = 0; c < n; ++c) fmt::print(" {:>6}", e.confusion[r * n + c]);
    fmt::print("\n");
  }
}

int run(Flags& f, const Context& context) {
  auto bundle = exporter::read_bundle(f.model);
  if (!bundle.ok()) return fail(bundle.status());
  f.open.shape = bundle->input;
  auto parts = data::open_dataset(f.open);
  if (!parts.ok()) return fail(parts.status());
  const auto& dataset = f.part == "train" ? *parts->train : *parts->test;
  const InputShape s = dataset.shape();
  if (s.height != bundle->input.height || s.width != bundle->input.width ||
      s.channels != bundle->input.channels || dataset.classes() != bundle->classes) {
    return fail(invalid(
        fmt::format("the dataset has images of {}x{}x{} in {} classes, the model takes {}x{}x{} in {}",
                    s.height, s.width, s.channels, dataset.classes(), bundle->input.height,
                    bundle->input.width, bundle->input.channels, bundle->classes)));
  }
  auto network = exporter::load_network(*bundle, f.build);
  if (!network.ok()) return fail(network.status());
  auto e = evaluate(**network, dataset, {bundle->mean, bundle->deviation},
                    {f.build.batch_size, f.flip, f.translate, f.open.skip_corrupt, context.stop, f.mistakes});
  if (!e.ok()) return fail(e.status());
  const bool augmented = f.flip || f.translate > 0;
  if (f.json) {
    nlohmann::ordered_json out = {{"part", f.part},
                                  {"images", e->images},
                                  {"skipped", e->skipped},
                                  {"loss", e->loss},
                                  {"accuracy", e->accuracy}};
    if (augmented) out["accuracy_tta"] = e->accuracy_tta;
    out["confusion"] = e->confusion;
    if (f.mistakes > 0) out["mistakes"] = mistakes_json(dataset, *e);
    fmt::print("{}\n", out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return kDone;
  }
  fmt::print("{} images: accuracy {:.2f}%, loss {:.4f}\n", e->images, 100 * e->accuracy, e->loss);
  if (augmented) fmt::print("with test-time augmentation: accuracy {:.2f}%\n", 100 * e->accuracy_tta);
  if (e->skipped > 0) fmt::print("{} corrupt images left out\n", e->skipped);
  if (f.confusion) print_confusion(*bundle, *e);
  print_mistakes(*bundle, dataset, *e);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("eval", "Measure the accuracy of a trained model on a dataset");
  c->add_option("model", f->model, "folder of the trained model")->required();
  c->add_option("--data", f->open.directory, "folder of the dataset")->required();
  c->add_option("--dataset", f->open.name, "format of the dataset; auto detects it")->capture_default_str();
  c->add_option("--part", f->part, "test or train")
      ->check(CLI::IsMember({"test", "train"}))
      ->capture_default_str();
  c->add_option("--batch-size", f->build.batch_size, "images per batch")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  c->add_option("--threads", f->build.threads, "number of threads; 0: one per core")->capture_default_str();
  c->add_option("--kernels", f->build.kernels, "auto, accurate, ref, eigen, onednn")->capture_default_str();
  c->add_flag("--flip", f->flip, "also average with the mirrored image, reported separately");
  c->add_option("--translate", f->translate, "also average with images shifted by this number of pixels")
      ->check(CLI::Range(0, 1024));
  c->add_flag("--confusion", f->confusion, "print the confusion matrix");
  c->add_option("--mistakes", f->mistakes,
                "list this number of misclassified images, the most confident first");
  c->add_flag("--skip-corrupt", f->open.skip_corrupt, "skip and count corrupt images");
  c->add_flag("--json", f->json, "one line of JSON");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::eval_command
