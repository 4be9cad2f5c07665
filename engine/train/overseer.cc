#include "engine/train/overseer.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/files.h"
#include "common/new_file.h"
#include "engine/export/events.h"
#include "engine/kernels/cpu.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/checkpoint_writer.h"
#include "engine/train/evaluate.h"
#include "engine/train/guard.h"
#include "engine/train/mistakes.h"
#include "engine/train/node_meter.h"
#include "engine/train/outputs.h"
#include "engine/train/state.h"
#include "engine/train/statistics.h"

namespace radl::engine {

TrainSums difference(const TrainSums& now, const TrainSums& before) {
  return {now.steps - before.steps, now.correct - before.correct, now.images - before.images,
          now.loss - before.loss, now.waited - before.waited};
}

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kLineSeconds = 0.5;  // between two step lines

double mean_loss(const TrainSums& s) { return s.steps == 0 ? 0 : s.loss / static_cast<double>(s.steps); }
double accuracy(const TrainSums& s) {
  return s.images == 0 ? 0 : static_cast<double>(s.correct) / static_cast<double>(s.images);
}

class JobOverseer : public Overseer {
 public:
  JobOverseer(const Job& job, Setup& setup, Progress& progress, const RunHooks& hooks)
      : job_(job),
        setup_(setup),
        progress_(progress),
        hooks_(hooks),
        keeper_(job.directories.checkpoint, job.checkpoint.keep, progress),
        guard_(largest_class_share(*setup.data.train),
               std::max<uint64_t>(20, setup.length.batches_per_epoch / 4)) {}

  Status open_events() {
    if (job_.directories.events.empty()) return {};
    Result<std::unique_ptr<exporter::EventWriter>> events =
        exporter::EventWriter::create(job_.directories.events);
    if (!events) return std::move(events).status().at("directories.events");
    events_ = std::move(*events);
    return events_->text("job", 0, "```json\n" + write_job(job_) + "```");
  }

  Result<std::optional<Checkpoint>> resume() override {
    if (job_.directories.checkpoint.empty()) return std::optional<Checkpoint>();
    if (job_.resume == Resume::Never) {
      Status anew = keeper_.begin_anew();
      return anew.ok() ? Result<std::optional<Checkpoint>>(std::nullopt) : std::move(anew);
    }
    Result<std::optional<Checkpoint>> found = load_latest(job_.directories.checkpoint, [&](const Status& s) {
      progress_.emit("warning", {{"message", s.text()}});
    });
    if (!found) return found;
    if (!*found) {
      if (job_.resume == Resume::Require)
        return not_found(job_.directories.checkpoint + ": holds no checkpoint to resume from");
      return found;
    }
    Checkpoint& c = **found;
    if (Status fits = check_fits(c, job_, setup_); !fits.ok())
      return std::move(fits).at(job_.directories.checkpoint);
    Result<History> history = read_history(c.numbers);
    if (!history) return std::move(history).status();
    history_ = std::move(*history);
    ++history_.runs;
    return found;
  }

  void begin(uint64_t from) override {
    begin_ = last_line_ = last_save_ = SteadyClock::now();
    from_ = last_done_ = last_evaluated_ = last_saved_ = from;
    if (!setup_.data.note.empty()) progress_.emit("dataset", {{"note", setup_.data.note}});
    if (!cpu().warning.empty()) progress_.emit("warning", {{"message", cpu().warning}});
    progress_.emit("started", {{"time", wall_seconds()},
                               {"step", from},
                               {"steps", setup_.length.total},
                               {"images", setup_.data.train->size()},
                               {"test_images", setup_.data.test->size()},
                               {"parameters", setup_.network->parameters().size()},
                               {"precision", setup_.precision == Precision::Bf16 ? "bf16" : "fp32"},
                               {"memory_bytes", setup_.network->memory_bytes()}});
  }

  Status take_over(uint64_t from, const std::string& history) override {
    Result<History> known = history.empty() ? Result<History>(History()) : read_history(history);
    if (!known) return std::move(known).status();
    if (job_.resume == Resume::Never && !job_.directories.checkpoint.empty()) {
      if (Status anew = keeper_.begin_anew(); !anew.ok()) return anew;
    }
    history_ = std::move(*known);
    // A step that the lost chief has evaluated is taken again if no other member had it.
    std::erase_if(history_.curve, [from](const CurvePoint& point) { return point.step > from; });
    begin_ = last_line_ = last_save_ = SteadyClock::now();
    from_ = last_done_ = from;
    last_evaluated_ = history_.curve.empty() ? 0 : history_.curve.back().step;
    progress_.emit("chief", {{"step", from},
                             {"steps", setup_.length.total},
                             {"message", job_.task.name() + " takes over the chief's duties"}});
    return {};
  }

  std::string record() const override { return write_history(history_now()); }

  Status step(uint64_t done, const TrainSums& sums) override {
    TrainSums fresh = difference(sums, guarded_);
    guarded_ = sums_ = sums;
    if (fresh.steps > 0) {
      if (Status bad = guard_.add(done, fresh.steps, fresh.loss, fresh.correct, fresh.images); !bad.ok())
        return bad;
    }
    bool first = sums.steps > 0 && line_sums_.steps == 0;
    if (first || (sums.steps > line_sums_.steps &&
                  (seconds_since(last_line_) >= kLineSeconds || done == setup_.length.total)))
      write_line(done);
    return {};
  }

  bool evaluation_due(uint64_t done) const override {
    return done < setup_.length.total && crossed(last_evaluated_, done, job_.evaluate.every_epochs);
  }

  Status evaluate(uint64_t done, const EvaluatedWeights& weights) override {
    auto begin = SteadyClock::now();
    Result<Evaluation> result = run_evaluation(weights, false);
    if (!result) return std::move(result).status();
    evaluation_seconds_ += seconds_since(begin);
    return record(done, *result);
  }

  bool checkpoint_due(uint64_t done) const override {
    if (job_.directories.checkpoint.empty() || done == last_saved_ || done == setup_.length.total)
      return false;
    // Whatever it costs, and once: two minutes are left.
    if (hooks_.interrupted() && !saved_for_notice_) return true;
    const CheckpointSpec& c = job_.checkpoint;
    return (crossed(last_saved_, done, c.every_epochs) ||
            (c.every_seconds > 0 && seconds_since(last_save_) >= c.every_seconds)) &&
           writer_.affordable(job_.checkpoint.share, seconds_since(last_save_));
  }

  Status save(TrainingState state, double stalled) override {
    if (job_.directories.checkpoint.empty()) return {};
    saved_for_notice_ = hooks_.interrupted();
    last_saved_ = state.done();
    last_save_ = SteadyClock::now();
    // A full disk does not end the training: the last checkpoint is still there, and the next may fit.
    if (Status before = settle(); !before.ok() && before.code() != Code::Quota) return before;
    writer_.write({std::move(state), resume_settings(job_), setup_.network->description(), record()},
                  stalled + seconds_since(last_save_));
    return {};
  }

  Status settle() override { return writer_.settle(); }

  void peer(const char* kind, const std::string& name, const std::string& text, double silent) override {
    history_.peers.push_back({history_.seconds + seconds_since(begin_), kind, name, text});
    OrderedJson fields = {{"peer", name}};
    if (silent > 0) fields["after_seconds"] = silent;
    if (!text.empty()) fields["message"] = text;
    progress_.emit((std::string("peer_") + kind).c_str(), fields);
  }

  void note(const char* key, double value) override { notes_[key] = value; }

  Result<RunSummary> finish(uint64_t done, const EvaluatedWeights& weights,
                            const std::function<Result<TrainingState>()>& last) override {
    double train_seconds = seconds_since(begin_);
    if (sums_.steps > line_sums_.steps) write_line(done);
    Result<Evaluation> result = run_evaluation(weights, true);
    if (Status kept = keep_last(done, result, last); !kept.ok()) return kept;
    RunSummary summary = summarise(done, *result, train_seconds);
    if (!weights.instead.empty()) {
      std::copy(weights.instead.begin(), weights.instead.end(), setup_.network->parameters().begin());
      setup_.network->parameters_changed();
    }
    Status saved = settle();
    if (!saved.ok() && saved.code() != Code::Quota) return saved;
    summary.checkpoint_stall_seconds = writer_.stall_seconds();
    summary.checkpoint_writing_seconds = writer_.writing_seconds();
    if (Status written = hand_over(summary, *result); !written.ok()) return lost(std::move(written), saved);
    Status rest = write_report(summary, *result);
    if (rest.ok() && events_) rest = events_->flush();
    if (rest.ok()) rest = progress_.status();
    if (!rest.ok()) return beside_model(std::move(rest));
    OrderedJson fields = {{"test_loss", summary.test_loss}, {"test_accuracy", summary.test_accuracy}};
    if (summary.test_accuracy_tta > 0) fields["test_accuracy_tta"] = summary.test_accuracy_tta;
    fields.update(OrderedJson{{"step", done},
                              {"seconds", summary.seconds},
                              {"images_per_second", summary.images_per_second},
                              {"model", summary.model},
                              {"report", summary.report}});
    progress_.emit("finished", fields);
    return summary;
  }

 private:
  History history_now() const {
    History history = history_;
    history.seconds += seconds_since(begin_);
    history.images += sums_.images;
    if (TrainSums window = difference(sums_, evaluated_sums_); window.steps > 0) {
      history.train_loss = mean_loss(window);
      history.train_accuracy = accuracy(window);
    }
    return history;
  }

  // Records the last evaluation and writes the last checkpoint with it. If the evaluation was interrupted,
  // only the checkpoint is written.
  Status keep_last(uint64_t done, const Result<Evaluation>& result,
                   const std::function<Result<TrainingState>()>& last) {
    const bool interrupted = result.status().code() == Code::Cancelled;
    Status recorded = result ? record(done, *result) : result.status();
    if (!recorded.ok() && !interrupted) return recorded;
    if (!job_.directories.checkpoint.empty() && done != last_saved_) {
      Result<TrainingState> state = last();
      if (!state) return std::move(state).status();
      if (Status saved = save(std::move(*state), 0); !saved.ok()) return saved;
    }
    if (!interrupted) return {};
    Status settled = settle();
    return settled.ok() ? result.status() : settled;
  }

  Status hand_over(const RunSummary& summary, const Evaluation& e) {
    if (job_.directories.model.empty()) return {};
    Status written = write_model(job_, setup_, summary, e);
    if (written.code() == Code::Quota && keeper_.make_room()) written = write_model(job_, setup_, summary, e);
    return written;
  }

  // The model could not be written; `saved`: whether the last checkpoint could.
  Status lost(Status why, const Status& saved) const {
    std::string hint = keeper_.kept();
    if (saved.ok() && !job_.directories.checkpoint.empty())
      hint += " and holds the trained weights: make room, and the same job writes the model";
    return std::move(why).at("directories.model").with_hint(std::move(hint));
  }

  Status beside_model(Status why) const {
    if (job_.directories.model.empty()) return why;
    return std::move(why).with_hint("the trained model is in " + job_.directories.model);
  }

  bool crossed(uint64_t before, uint64_t now, double every_epochs) const {
    if (every_epochs <= 0) return false;
    auto mark = [&](uint64_t done) { return std::floor(setup_.length.epoch_of(done) / every_epochs + 1e-9); };
    return mark(now) > mark(before);
  }

  void write_line(uint64_t done) {
    TrainSums window = difference(sums_, line_sums_);
    double seconds = seconds_since(last_line_), elapsed = seconds_since(begin_);
    double rate = seconds > 0 ? static_cast<double>(window.images) / seconds : 0;
    uint64_t here = done - from_;
    double eta =
        here > 0 ? elapsed * static_cast<double>(setup_.length.total - done) / static_cast<double>(here) : 0;
    const NodeUse use = meter_.take(sums_.waited);
    progress_.emit("step", {{"step", done},
                            {"steps", setup_.length.total},
                            {"epoch", setup_.length.epoch_of(done)},
                            {"epochs", job_.epochs},
                            {"loss", mean_loss(window)},
                            {"accuracy", accuracy(window)},
                            {"rate", setup_.rate(done)},
                            {"images_per_second", rate},
                            {"waiting_share", use.waiting_share},
                            {"cores", use.cores},
                            {"memory_bytes", use.memory_bytes},
                            {"eta_seconds", eta}});
    if (events_) {
      int64_t at = static_cast<int64_t>(done);
      (void)events_->scalar("train/loss", at, static_cast<float>(mean_loss(window)));
      (void)events_->scalar("train/accuracy", at, static_cast<float>(accuracy(window)));
      (void)events_->scalar("train/rate", at, setup_.rate(done));
      (void)events_->scalar("train/images_per_second", at, static_cast<float>(rate));
      (void)events_->scalar("node/waiting_share", at, static_cast<float>(use.waiting_share));
      (void)events_->scalar("node/cores", at, static_cast<float>(use.cores));
      (void)events_->scalar("node/memory_bytes", at, static_cast<float>(use.memory_bytes));
    }
    line_sums_ = sums_;
    last_line_ = SteadyClock::now();
  }

  Result<Evaluation> run_evaluation(const EvaluatedWeights& weights, bool last) {
    Network& network = *setup_.network;
    std::vector<float> kept;
    if (!weights.instead.empty()) {
      kept.assign(network.parameters().begin(), network.parameters().end());
      std::copy(weights.instead.begin(), weights.instead.end(), network.parameters().begin());
      network.parameters_changed();
    }
    const std::span<float> statistics = network.statistics();
    const std::vector<float> running(statistics.begin(), statistics.end());
    const bool recomputes = weights.mean && !job_.pace.given();
    const Status made = recomputes ? recompute_statistics(setup_, job_, hooks_.stop) : Status();
    EvaluateOptions options;
    options.batch_size = setup_.batch;
    if (last) {
      options.flip = job_.evaluate.flip;
      options.translate = job_.evaluate.translate;
    }
    options.skip_corrupt = job_.dataset.skip_corrupt;
    options.stop = hooks_.stop;
    options.mistakes = events_ ? kMistakesShown : 0;
    Result<Evaluation> out =
        made.ok() ? engine::evaluate(network, *setup_.data.test, setup_.data.normalization, options) : made;
    // The final model keeps the statistics with which it was evaluated.
    if (!last || !out.ok()) std::copy(running.begin(), running.end(), statistics.begin());
    if (!kept.empty()) {
      std::copy(kept.begin(), kept.end(), network.parameters().begin());
      network.parameters_changed();
    }
    return out;
  }

  // Invalid, once all is recorded, if the loss is not finite.
  Status record(uint64_t done, const Evaluation& e) {
    TrainSums window = difference(sums_, evaluated_sums_);
    if (window.steps == 0) window = sums_;
    CurvePoint point{setup_.length.epoch_of(done),
                     done,
                     history_.seconds + seconds_since(begin_),
                     mean_loss(window),
                     accuracy(window),
                     e.loss,
                     e.accuracy,
                     setup_.rate(done)};
    if (window.steps == 0) {  // nothing was left to train: what the run before said of it holds
      point.train_loss = history_.train_loss;
      point.train_accuracy = history_.train_accuracy;
    }
    if (!history_.curve.empty() && history_.curve.back().step == done) history_.curve.pop_back();
    history_.curve.push_back(point);
    history_.train_loss = point.train_loss;
    history_.train_accuracy = point.train_accuracy;
    evaluated_sums_ = sums_;
    last_evaluated_ = done;
    progress_.emit("evaluated", {{"epoch", point.epoch},
                                 {"step", done},
                                 {"train_loss", point.train_loss},
                                 {"train_accuracy", point.train_accuracy},
                                 {"test_loss", e.loss},
                                 {"test_accuracy", e.accuracy}});
    if (events_) record_events(done, e);
    if (std::isfinite(e.loss)) return {};
    return diverged(fmt::format("the test loss became {} by batch {}", std::fabs(e.loss), done));
  }

  void record_events(uint64_t done, const Evaluation& e) {
    int64_t at = static_cast<int64_t>(done);
    (void)events_->scalar("test/loss", at, static_cast<float>(e.loss));
    (void)events_->scalar("test/accuracy", at, static_cast<float>(e.accuracy));
    (void)events_->histogram("weights", at, setup_.network->parameters());
    (void)write_mistakes(*events_, at, *setup_.data.test, e.mistakes);
    (void)events_->flush();
  }

  RunSummary summarise(uint64_t done, const Evaluation& e, double train_seconds) const {
    RunSummary s;
    s.task = job_.task.name();
    s.steps = done;
    s.epochs = setup_.length.epoch_of(done);
    s.train_loss = history_.curve.back().train_loss;
    s.train_accuracy = history_.curve.back().train_accuracy;
    s.test_loss = e.loss;
    s.test_accuracy = e.accuracy;
    s.test_accuracy_tta = e.accuracy_tta;
    s.train_seconds = train_seconds;
    s.seconds = seconds_since(made_);
    s.images_per_second = train_seconds > 0 ? static_cast<double>(sums_.images) / train_seconds : 0;
    if (auto at = notes_.find("data_wait_seconds"); at != notes_.end()) s.data_wait_seconds = at->second;
    if (auto at = notes_.find("skipped_images"); at != notes_.end())
      s.skipped = static_cast<uint64_t>(at->second);
    s.resumed_from = from_;
    s.model = job_.directories.model;
    s.report = !job_.report.empty()             ? job_.report
               : job_.directories.model.empty() ? ""
                                                : job_.directories.model + "/report.json";
    return s;
  }

  Status write_report(const RunSummary& summary, const Evaluation& e) {
    if (summary.report.empty()) return {};
    notes_["evaluation_seconds"] = evaluation_seconds_;
    std::string folder = std::filesystem::path(summary.report).parent_path();
    if (Status made = make_directories(folder); !made.ok()) return made;
    return write_file_atomic(summary.report, report_json(job_, setup_, {summary, e, history_, notes_}));
  }

  const Job& job_;
  Setup& setup_;
  Progress& progress_;
  RunHooks hooks_;
  bool saved_for_notice_ = false;
  CheckpointKeeper keeper_;
  DivergenceGuard guard_;
  NodeMeter meter_;
  std::unique_ptr<exporter::EventWriter> events_;
  History history_;
  std::map<std::string, double> notes_;
  TrainSums sums_, line_sums_, guarded_, evaluated_sums_;
  uint64_t from_ = 0, last_done_ = 0, last_evaluated_ = 0, last_saved_ = 0;
  SteadyClock::time_point made_ = SteadyClock::now(), begin_ = made_, last_line_ = made_, last_save_ = made_;
  double evaluation_seconds_ = 0;
  CheckpointWriter writer_{keeper_, progress_};  // last: its thread uses what is above
};

}  // namespace

Result<std::unique_ptr<Overseer>> Overseer::make(const Job& job, Setup& setup, Progress& progress,
                                                 const RunHooks& hooks) {
  auto out = std::make_unique<JobOverseer>(job, setup, progress, hooks);
  if (Status opened = out->open_events(); !opened.ok()) return opened;
  return std::unique_ptr<Overseer>(std::move(out));
}

}  // namespace radl::engine
