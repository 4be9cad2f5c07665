#include "engine/train/run.h"

#include <nlohmann/json.hpp>

#include "engine/train/interruption.h"
#include "engine/train/progress.h"
#include "engine/train/training.h"

namespace radl::engine {
namespace {

Result<RunSummary> dispatch(const Job& job, const RunHooks& hooks, Progress& progress) {
  if (job.task.type == "ps") return run_server(job, hooks, progress);
  if (job.task.type == "chief") return run_chief(job, hooks, progress);
  return run_training(job, hooks, progress);
}

}  // namespace

Result<RunSummary> run_job(const Job& job, const RunHooks& hooks) {
  if (Status wrong = check_job(job); !wrong.ok()) return wrong;
  Result<std::unique_ptr<Progress>> progress = Progress::open(job, hooks);
  if (!progress) return std::move(progress).status();
  std::unique_ptr<InterruptionWatch> watch = InterruptionWatch::start(job, **progress);
  RunHooks with_watch = hooks;
  if (watch) with_watch.taken_back = &watch->noticed();
  Result<RunSummary> out = dispatch(job, with_watch, **progress);
  watch.reset();
  if (!out.ok()) {
    const Status& s = out.status();
    const char* kind = s.code() == Code::Cancelled ? "interrupted" : "failed";
    (*progress)->emit(kind, {{"code", code_name(s.code())}, {"message", s.text()}});
  }
  return out;
}

int exit_code(const Status& status) {
  switch (status.code()) {
    case Code::Ok:
      return 0;
    case Code::Cancelled:
      return 130;
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
    case Code::Corrupt:
    case Code::Unsupported:
      return 1;
    default:
      return 2;
  }
}

}  // namespace radl::engine
