// radl-train train: runs a job file, or a job given by options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/human.h"
#include "engine/cli/command.h"
#include "engine/cli/progress_view.h"
#include "engine/train/run.h"

namespace radl::engine::cli::train_command {
namespace {

struct Flags {
  std::string file, data, dataset, output;
  std::optional<std::string> model, precision;
  std::optional<double> epochs, peak;
  std::optional<int> batch, threads;
  std::optional<uint64_t> seed;
  bool json = false, quiet = false, fresh = false, print_job = false;
};

Result<Job> job_of(const Flags& f) {
  Job job;
  if (!f.file.empty()) {
    auto read = read_job(f.file);
    if (!read.ok()) return read.status();
    job = std::move(*read);
  } else if (f.data.empty()) {
    return Status(Code::Invalid, "a job file or --data is needed").with_hint("radl-train train --help");
  }
  job.model = f.model.value_or(job.model);
  if (!f.data.empty()) job.dataset.directory = f.data;
  if (!f.dataset.empty()) job.dataset.name = f.dataset;
  job.precision = f.precision.value_or(job.precision);
  job.epochs = f.epochs.value_or(job.epochs);
  job.schedule.peak = f.peak.value_or(job.schedule.peak);
  job.batch_size = f.batch.value_or(job.batch_size);
  job.threads = f.threads.value_or(job.threads);
  job.seed = f.seed.value_or(job.seed);
  if (f.fresh) job.resume = Resume::Never;
  if (!f.output.empty()) {
    job.directories = {f.output + "/checkpoint", f.output + "/events", f.output + "/model"};
    if (job.progress.empty()) job.progress = f.output + "/progress.jsonl";
  }
  if (const char* config = std::getenv("TF_CONFIG"); config && *config) {
    if (Status s = apply_tf_config(job, config); !s.ok()) return Status(s).at("TF_CONFIG");
  }
  return parse_job(write_job(job), "the job");  // options are held to what holds for a file
}

void print_summary(const RunSummary& s) {
  fmt::print("{}: {:g} epochs, {} steps in {}; {:.0f} images/s\n", s.task, s.epochs, s.steps,
             duration_text(s.seconds), s.images_per_second);
  if (s.train_seconds > 0 && s.data_wait_seconds > 0)
    fmt::print("waited for data {:.1f}% of the time\n", 100 * s.data_wait_seconds / s.train_seconds);
  if (s.train_seconds > 0 && s.checkpoint_writing_seconds > 0)
    fmt::print(
        "stood still for checkpoints {:.2f}% of the time, wrote them beside the training for {:.1f}%\n",
        100 * s.checkpoint_stall_seconds / s.train_seconds,
        100 * s.checkpoint_writing_seconds / s.train_seconds);
  if (s.skipped > 0) fmt::print("{} corrupt images left out\n", s.skipped);
  if (s.model.empty()) return;
  fmt::print("test accuracy {:.2f}%, test loss {:.4f}\n", 100 * s.test_accuracy, s.test_loss);
  if (s.test_accuracy_tta > 0)
    fmt::print("test accuracy with test-time augmentation {:.2f}%\n", 100 * s.test_accuracy_tta);
  fmt::print("model in {}\n", s.model);
}

int run(const Flags& f, const Context& context) {
  auto job = job_of(f);
  if (!job.ok()) return fail(job.status());
  if (f.print_job) {
    fmt::print("{}", write_job(*job));
    return kDone;
  }
  ProgressView view(context.terminal);
  RunHooks hooks;
  hooks.stop = context.stop;
  hooks.progress = [&](std::string_view line) {
    if (f.json) {
      fmt::print("{}\n", line);
      std::fflush(stdout);
    } else if (!f.quiet) {
      view.line(line);
    }
  };
  auto summary = run_job(*job, hooks);
  view.done();
  if (!summary.ok()) {
    fail(summary.status());
    return exit_code(summary.status());
  }
  if (!f.json && !f.quiet) print_summary(*summary);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("train", "Train a model as a job file or the options describe");
  c->add_option("job", f->file, "job file (docs/job.md)");
  c->add_option("--model", f->model, "name of a built-in model, or text of a model (docs/models.md)");
  c->add_option("--data", f->data, "folder of the dataset");
  c->add_option("--dataset", f->dataset,
                "format of the dataset: cifar10, cifar100, idx, folder, csv, packed or auto");
  c->add_option("--epochs", f->epochs, "number of passes over the training part");
  c->add_option("--batch-size", f->batch, "images per step");
  c->add_option("--learning-rate", f->peak, "peak learning rate of the schedule");
  c->add_option("--precision", f->precision, "auto, fp32, bf16");
  c->add_option("--seed", f->seed, "seed; with the same threads and machine type, results are bit-identical");
  c->add_option("--threads", f->threads, "number of threads; 0: one per core");
  c->add_option("-o,--output", f->output, "folder for checkpoints, events, model and progress");
  c->add_flag("--fresh", f->fresh, "do not resume from a checkpoint");
  c->add_flag("--print-job", f->print_job, "print the complete job as JSON and exit");
  c->add_flag("--json", f->json, "progress as JSON lines on standard output");
  c->add_flag("-q,--quiet", f->quiet, "print only errors");
  c->footer("Options override the job file. If TF_CONFIG is set, it defines cluster and task.");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::train_command
