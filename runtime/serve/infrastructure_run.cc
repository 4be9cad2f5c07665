// The runs of an infrastructure, one after another in a thread of its own.
#include <fmt/format.h>

#include <algorithm>

#include "common/guarded.h"
#include "runtime/serve/infrastructure_job.h"
#include "runtime/serve/memory_file.h"
#include "runtime/serve/records.h"
#include "runtime/serve/run_failure.h"
#include "runtime/state/place.h"

namespace radl::serve {
namespace {

constexpr double kLockSeconds = 60;  // a terminal may hold the state meanwhile
constexpr const char* kAccounts = "the accounts of a request";

// A client adds and changes; what exists is never destroyed for that. Machines that failed or were lost are
// made again.
Status replaces_nothing(const Plan& plan) {
  for (const Action& action : plan.actions)
    if (!action.is_step && action.verb == Verb::Replace && !action.changes.empty())
      return Status(Code::Conflict, action.id + " would be destroyed and created again: " + action.why)
          .with_hint("send its system as it was, or deploy the new one under another name");
  return {};
}

}  // namespace

std::string findings_of(const driver::Project& project, const std::string& folder) {
  return errors_text(project.diagnostics, project.sources, folder + "/");
}

// ---- the runs ----

// Once: asked again, a run would be cut off in the middle of what it does.
void Infrastructure::end_run_locked() {
  if (cancellation_ && !cancellation_->stop_starting()) cancellation_->request();
}

void Infrastructure::enqueue_locked(Job job) {
  if (stopping_) return job.progress->job_ended(Status(Code::Cancelled, "the service stops"));
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::jthread([this] { work(); });
  changed_.notify_all();
}

void Infrastructure::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) break;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    Cancellation cancellation;
    cancellation_ = &cancellation;
    at_work_ = true;
    lock.unlock();
    const Status done = guarded([&] {
      return job.kind == Job::Kind::Destroy ? run_destroy(job.order, cancellation)
             : job.kind == Job::Kind::Work  ? job.work(cancellation)
                                            : run_apply(job, cancellation);
    });
    // A run that fails later has nevertheless removed what it was to remove.
    const Result<Snapshot> now = job.leaving.empty() ? Snapshot() : snapshot();
    lock.lock();
    cancellation_ = nullptr;
    at_work_ = false;
    if (jobs_.empty()) adding_ = false;
    if (job.kind == Job::Kind::Destroy && !done.ok()) deleting_ = false;
    for (const int number : job.leaving) {
      Machine& machine = machines_[size_t(number)];
      machine.leaving = false;
      machine.gone |= done.ok() || (now.ok() && !now->resources.contains(machine.address));
    }
    if (job.kind != Job::Kind::Work) failed_ = done.ok() || stopping_ ? std::string() : done.text();
    (void)save_locked();  // the next request determines again what was not written
    lock.unlock();
    job.progress->job_ended(done);
    lock.lock();
  }
  for (Job& waiting : jobs_) waiting.progress->job_ended(Status(Code::Cancelled, "the service stops"));
  jobs_.clear();
}

// A service whose records another one has taken over begins nothing.
Status Infrastructure::keep_record(const Order& order, const Cancellation& cancellation) const {
  const bool in_bucket = order.by.records && is_bucket_place(states_);
  return in_bucket ? order.by.records->copy(cancellation.finishing(), true) : Status();
}

Status Infrastructure::run_apply(const Job& job, Cancellation& cancellation) {
  if (Status kept = keep_record(job.order, cancellation); !kept.ok()) return kept;
  const MemoryFile accounts(job.order.accounts, kAccounts);
  if (!accounts.status().ok()) return accounts.status();
  driver::ApplyRequest request;
  request.project = project_options();
  request.machinery.cloud = job.order.by.cloud;
  request.machinery.auth = job.order.accounts.empty() ? job.order.by.auth : accounts.path();
  request.scale = job.scale;
  request.lock_timeout = kLockSeconds;
  driver::Apply apply(*job.order.by.host, std::move(request), cancellation, [](const driver::Notice&) {});
  if (Status loaded = apply.load({}); !loaded.ok())
    return loaded.message().empty() ? Status(Code::Invalid, findings_of(apply.project(), folder_)) : loaded;
  if (Status begun = apply.begin(); !begun.ok()) return begun;
  auto listens = apply.run().events().listen(job.progress, {.name = "the service"});
  if (!listens.ok()) return listens.status();
  if (Status planned = apply.make_plan(); !planned.ok()) return planned;
  if (!apply.within_budget().ok()) return apply.within_budget();
  if (Status kept = replaces_nothing(apply.plan()); !kept.ok()) return kept;
  if (Status open = apply.check_buckets(); !open.ok()) return open;
  Status done;
  if (apply.plan().changes_anything()) {
    while (true) {
      const driver::ApplyRound round = apply.run_round();
      done = round.goes_on ? Status() : failure_of(round.report);
      if (!round.goes_on) break;
      if (done = apply.plan_next_round(); !done.ok()) break;
      if (done = replaces_nothing(apply.plan()); !done.ok()) break;
    }
  }
  apply.run().close(cancellation.now());
  return done;
}

Status Infrastructure::run_destroy(const Order& order, Cancellation& cancellation) {
  if (Status kept = keep_record(order, cancellation); !kept.ok()) return kept;
  const MemoryFile accounts(order.accounts, kAccounts);
  if (!accounts.status().ok()) return accounts.status();
  driver::DestroyRequest request;
  request.project = project_options();
  request.project.files.clear();
  request.machinery.cloud = order.by.cloud;
  request.machinery.auth = order.accounts.empty() ? order.by.auth : accounts.path();
  request.lock_timeout = kLockSeconds;
  driver::Destroy destroy(*order.by.host, std::move(request), cancellation, [](const driver::Notice&) {});
  if (Status found = destroy.find(); !found.ok()) return found.code() == Code::NotFound ? Status() : found;
  if (Status made = destroy.make_machinery(); !made.ok()) return made;
  if (Status begun = destroy.begin({}); !begun.ok()) return begun;
  if (Status planned = destroy.make_plan(); !planned.ok()) return planned;
  const driver::Destroyed done = destroy.execute();
  destroy.run().close(cancellation.now());
  if (Status failed = failure_of(done.report); !failed.ok()) return failed;
  auto left = destroy.finish();
  if (!left.ok()) return left.status();
  if (!left->exists.empty()) return Status(Code::Exists, fmt::format("{}", fmt::join(left->exists, "\n")));
  return {};
}

std::shared_future<Status> Infrastructure::enqueue_work(std::function<Status(Cancellation&)> work) {
  std::lock_guard lock(mutex_);
  auto progress = std::make_shared<Job::Progress>(std::vector<std::string>());
  progress->jobs = 1;
  auto over = progress->over.get_future().share();
  if (deleting_)
    progress->job_ended(Status(Code::Conflict, "the infrastructure is being deleted"));
  else
    enqueue_locked({Job::Kind::Work, {}, {}, progress, {}, std::move(work)});
  return over;
}

std::shared_future<Status> Infrastructure::change_power(const std::vector<Machine>& machines,
                                                        PowerChange change, const Order& order,
                                                        bool existing_only) {
  std::vector<std::string> addresses;
  for (const Machine& machine : machines) addresses.push_back(machine.address);
  return enqueue_work([=, this](Cancellation& cancellation) mutable -> Status {
    if (existing_only) {  // now: earlier requests are done
      auto now = snapshot();
      if (!now.ok()) return now.status();
      std::erase_if(addresses, [&](const std::string& one) { return !now->resources.contains(one); });
    }
    const MemoryFile file(order.accounts, kAccounts);
    if (!file.status().ok()) return file.status();
    auto outcomes = driver::change_power(*order.by.host, power_request(order, file.path()), addresses, change,
                                         cancellation, [](const driver::Notice&) {});
    if (!outcomes.ok()) return outcomes.status();
    Status worst;
    for (const PowerOutcome& one : *outcomes)
      if (!one.status.ok())
        worst = Status(one.status.code(),
                       (worst.ok() ? "" : worst.message() + "\n") + one.address + ": " + one.status.text());
    return worst;
  });
}

std::shared_future<Status> Infrastructure::make_image(const Machine& machine, const std::string& name,
                                                      const Order& order,
                                                      std::shared_ptr<std::string> address) {
  return enqueue_work([this, machine, name, order, address](Cancellation& cancellation) -> Status {
    const MemoryFile file(order.accounts, kAccounts);
    if (!file.status().ok()) return file.status();
    auto made = driver::make_image(*order.by.host, power_request(order, file.path()), machine.address, name,
                                   cancellation, [](const driver::Notice&) {});
    if (made.ok()) *address = *made;
    return made.status();
  });
}

driver::PowerRequest Infrastructure::power_request(const Order& order, const std::string& file) const {
  driver::PowerRequest request;
  request.project = project_options();
  request.project.files.clear();
  request.machinery.cloud = order.by.cloud;
  request.machinery.auth = order.accounts.empty() ? order.by.auth : file;
  request.lock_timeout = kLockSeconds;
  return request;
}

}  // namespace radl::serve
