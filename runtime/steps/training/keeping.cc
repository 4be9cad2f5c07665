#include "runtime/steps/training/keeping.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/files.h"
#include "runtime/steps/training/result_folder.h"

namespace radl::training {
namespace {

using std::chrono::seconds;

// TensorBoard's events grow with every line; a checkpoint is news of its own.
constexpr seconds kBetweenLooks{20};
constexpr seconds kAfterFailure{5};
constexpr std::chrono::milliseconds kBetweenStops{50};  // looks whether to wait on
constexpr size_t kEngineKeeps = 2;  // checkpoint.keep of a job that does not say (docs/job.md)

}  // namespace

Result<std::unique_ptr<Keeping>> Keeping::open(const Json& training, std::function<Member&()> chief,
                                               const std::string& job, const std::string& scratch,
                                               const std::string& step, const Environment& environment,
                                               Say say) {
  ResultOwner owner{step, training.value("identity", "")};
  std::unique_ptr<Keeping> made(
      new Keeping(training, std::move(chief), scratch, std::move(owner), environment, std::move(say)));
  const std::string result = training.value("result", ""), checkpoints = training.value("checkpoints", "");
  if (is_bucket(result)) {
    auto folder = open_bucket_folder(made->http_, result);
    if (!folder) return std::move(folder).status().at("result");
    made->result_ = *folder;
    made->events_ = std::make_unique<KeptEvents>(*folder, scratch);
  }
  if (is_bucket(checkpoints)) {
    auto folder = open_bucket_folder(made->http_, checkpoints + "/" + job);
    if (!folder) return std::move(folder).status().at("checkpoints");
    const Json said = training.at("job").value("checkpoint", Json::object());
    made->kept_ = *folder;
    made->checkpoints_ =
        std::make_unique<KeptCheckpoints>(*folder, scratch, said.value("keep", kEngineKeeps), made->say_);
  }
  if (!made->any()) return made;
  std::error_code ignored;  // what a run that was killed has left there
  std::filesystem::remove_all(scratch, ignored);
  Status ready = make_directories(scratch, 0700);
  if (!ready.ok()) return ready;
  return made;
}

Keeping::~Keeping() {
  end_thread();
  std::error_code ignored;
  if (any()) std::filesystem::remove_all(scratch_, ignored);
}

Status Keeping::prepare(bool resume, const Stop& stop) {
  if (result_) {
    if (Status open = check_writable(*result_, stop); !open.ok()) return std::move(open).at("result");
  } else if (Status usable = check_training_folder(training_.value("result", "")); !usable.ok()) {
    return usable;
  }
  if (!kept_) return {};
  Status ready = check_writable(*kept_, stop);
  if (ready.ok())
    ready = resume ? checkpoints_->bring(chief_(), stop) : checkpoints_->begin_anew(chief_(), stop);
  return ready.ok() ? ready : std::move(ready).at("checkpoints");
}

Status Keeping::start() {
  if (!any()) return {};
  thread_ = std::make_unique<Threads>();
  idle_ = false;
  Status started = thread_->start([this] { send_as_it_comes(); });
  if (!started.ok()) idle_ = true;
  return started;
}

void Keeping::news() {
  std::lock_guard lock(mutex_);
  news_ = true;
  wake_.notify_all();
}

Status Keeping::send(const Stop& stop) {
  Status sent = checkpoints_ ? checkpoints_->send(chief_(), stop) : Status();
  if (sent.ok() && events_) sent = events_->send(chief_(), stop);
  return sent;
}

void Keeping::send_as_it_comes() {
  std::string said;
  std::unique_lock lock(mutex_);
  while (!over_) {
    news_ = false;
    lock.unlock();
    Status sent = guarded([&] { return send(stop_.token()); });
    if (!sent.ok() && sent.message() != said && !stop_.requested())
      say_(fmt::format("checkpoints and events are not sent, it is tried again: {}", sent.message()));
    said = sent.message();
    lock.lock();
    if (sent.ok())
      wake_.wait_for(lock, kBetweenLooks, [&] { return news_ || over_; });
    else
      wake_.wait_for(lock, kAfterFailure, [&] { return over_; });
  }
  idle_ = true;
  wake_.notify_all();
}

void Keeping::end_thread() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    wake_.notify_all();
  }
  stop_.request();
  thread_.reset();
}

Status Keeping::finish(const Stop& stop) {
  {
    std::unique_lock lock(mutex_);
    over_ = true;
    wake_.notify_all();
    while (!idle_ && stop.check().ok()) wake_.wait_for(lock, kBetweenStops, [&] { return idle_; });
  }
  end_thread();
  return any() ? send(stop) : Status();
}

Result<Json> Keeping::result(const RunFacts& facts, const Stop& stop) {
  if (!result_)
    return bring_result(training_.value("result", ""), training_.value("result", ""), owner_, chief_(), facts,
                        say_);
  const std::string local = scratch_ + "/result", shown = training_.value("result", "");
  auto output = bring_result(local, shown, owner_, chief_(), facts, say_);
  if (!output) return output;
  // The weights last: they are what the next apply looks for.
  const std::string weights = output->at("model_path").get<std::string>().substr(shown.size() + 1);
  Status sent = send_results(*result_, local, {owner_, weights, kEventsOfResult}, stop);
  if (!sent.ok()) return sent;
  return output;
}

}  // namespace radl::training
