#include "runtime/serve/infrastructure.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/fd.h"
#include "common/files.h"
#include "common/guarded.h"
#include "compiler/diag/render.h"
#include "runtime/plan/ordinals.h"
#include "runtime/run/event_log.h"
#include "runtime/serve/machine_radl.h"
#include "runtime/serve/run_log.h"

namespace radl::serve {
namespace {

constexpr double kLockSeconds = 60;  // a terminal may hold the state meanwhile

// Accounts as a file that only this process can open, and that is gone with it: they are never on a disk.
class AccountsFile {
 public:
  explicit AccountsFile(const std::string& accounts)
      : file_(accounts.empty() ? -1 : ::memfd_create("accounts", MFD_CLOEXEC)) {
    if (accounts.empty()) return;
    status_ = file_.open() ? write_all(file_.get(), accounts, "the accounts of a request")
                           : errno_status(errno, "holding the accounts of a request");
  }
  const Status& status() const { return status_; }
  std::string path() const {
    return file_.open() ? "/proc/self/fd/" + std::to_string(file_.get()) : std::string();
  }

 private:
  Fd file_;
  Status status_;
};

std::string findings_of(const driver::Project& project) {
  std::string text = render_text(project.diagnostics, project.sources);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Status failure_of(const RunReport& report) {
  if (report.status.ok()) return {};
  std::string text;
  for (const ActionOutcome& action : report.actions)
    if (!action.status.ok()) text += (text.empty() ? "" : "\n") + action.told().text();
  return text.empty() ? report.status : Status(report.status.code(), std::move(text));
}

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

// What a change waits for, over all of its jobs.
struct Infrastructure::Job {
  struct Progress : EventSink {
    explicit Progress(std::vector<std::string> wanted) : waiting(wanted.begin(), wanted.end()) {}
    void emit(const Event& event) override {
      const bool made = event.kind == EventKind::ActionFinished;
      if ((!made && event.kind != EventKind::ActionFailed) || event.verb != "create") return;
      std::lock_guard lock(mutex);
      if (waiting.erase(event.id) == 0) return;
      if (made)
        ++exist;
      else
        failures += (failures.empty() ? "" : "\n") + event.id + ": " + event.message;
      if (waiting.empty()) set_launched({});
    }
    void job_ended(const Status& status) {
      std::lock_guard lock(mutex);
      if (!status.ok() && worst.ok()) worst = status;
      if (--jobs > 0) return;
      set_launched(worst);
      over.set_value(worst);
    }

    std::mutex mutex;
    std::set<std::string> waiting;
    size_t exist = 0, jobs = 0;
    std::string failures;
    Status worst;
    bool told = false;
    std::promise<Status> launched, over;

   private:
    void set_launched(const Status& otherwise) {
      if (std::exchange(told, true)) return;
      const bool none = exist == 0 && !failures.empty();
      launched.set_value(none ? Status(Code::Invalid, failures) : exist == 0 ? otherwise : Status());
    }
  };

  enum class Kind { Apply, Destroy } kind = Kind::Apply;
  std::string accounts;
  std::optional<driver::ScaleRequest> scale;
  std::shared_ptr<Progress> progress;
  std::vector<int> leaving = {};  // numbers of the machines that it removes
};

Infrastructure::Infrastructure(const Settings& settings, std::string folder, std::string id)
    : settings_(settings), folder_(std::move(folder)), id_(std::move(id)) {}

Infrastructure::~Infrastructure() { stop(); }

void Infrastructure::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    end_run_locked();
  }
  changed_.notify_all();
}

Result<std::shared_ptr<Infrastructure>> Infrastructure::create(const Settings& settings,
                                                               const std::string& folder,
                                                               const std::string& id) {
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  std::shared_ptr<Infrastructure> made(new Infrastructure(settings, folder, id));
  made->created_ = settings.host->world->clock.wall_seconds();
  std::lock_guard lock(made->mutex_);
  if (Status saved = made->save_locked(); !saved.ok()) return saved;
  return made;
}

Result<std::shared_ptr<Infrastructure>> Infrastructure::open(const Settings& settings,
                                                             const std::string& folder,
                                                             const std::string& id) {
  auto text = read_file(folder + "/infrastructure.json");
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  auto radl = read_file(folder + "/program.radl");
  if (!radl.ok()) return radl.status();
  auto document = Document::parse(*radl);
  if (!json.is_object() || !document.ok())
    return Status(Code::Corrupt, folder + ": not an infrastructure of radlc");
  std::shared_ptr<Infrastructure> found(new Infrastructure(settings, folder, id));
  found->document_ = std::move(*document);
  found->created_ = json.value("created", 0.0);
  found->failed_ = json.value("failed", "");
  for (const Json& one : json.value("machines", Json::array()))
    found->machines_.push_back({one.value("number", 0), one.value("address", ""), one.value("gone", false)});
  return found;
}

Status Infrastructure::save_locked() const {
  Json machines = Json::array();
  for (const Machine& machine : machines_)
    machines.push_back({{"number", machine.number}, {"address", machine.address}, {"gone", machine.gone}});
  const Json json = {
      {"version", 1}, {"id", id_}, {"created", created_}, {"failed", failed_}, {"machines", machines}};
  if (Status saved = write_file_atomic(folder_ + "/program.radl", document_.text(), 0600); !saved.ok())
    return saved;
  return write_file_atomic(folder_ + "/infrastructure.json", json.dump(1) + "\n", 0600);
}

driver::ProjectOptions Infrastructure::project_options() const {
  driver::ProjectOptions options;
  options.files = {folder_ + "/program.radl"};
  options.state = folder_ + "/state";
  options.name = "im-" + id_.substr(0, 8);
  return options;
}

// ---- what it is ----

std::vector<Machine> Infrastructure::machines() const {
  std::lock_guard lock(mutex_);
  std::vector<Machine> here;
  std::ranges::copy_if(machines_, std::back_inserter(here),
                       [](const Machine& m) { return !m.gone && !m.leaving; });
  return here;
}

std::string Infrastructure::text() const {
  std::lock_guard lock(mutex_);
  return document_.text();
}

Result<Snapshot> Infrastructure::snapshot() const {
  const driver::ProjectOptions options = project_options();
  return driver::read_snapshot(*settings_.host, options.state, options.name);
}

MachineState Infrastructure::state_of(const Machine& machine) const {
  auto now = snapshot();
  std::lock_guard lock(mutex_);
  if (!now.ok()) return MachineState::Unknown;
  return machine_state(*now, machine.address, at_work_ || !jobs_.empty(), deleting_);
}

MachineState Infrastructure::state() const {
  std::vector<MachineState> states;
  for (const Machine& machine : machines()) states.push_back(state_of(machine));
  std::lock_guard lock(mutex_);
  return infrastructure_state(states, at_work_ || !jobs_.empty(),
                              !failed_.empty() || document_.deploys().empty(), deleting_);
}

Json Infrastructure::outputs() const {
  Json out = Json::object();
  auto now = snapshot();
  if (!now.ok()) return out;
  for (const OutputRecord& output : now->outputs)
    if (!output.sensitive) out[output.name] = output.value;
  return out;
}

std::string Infrastructure::log() const {
  std::string text = run_log(project_options().state + "/" + project_options().name + "/runs", {});
  std::lock_guard lock(mutex_);
  if (!failed_.empty()) text += failed_ + "\n";
  return text;
}

std::string Infrastructure::log_of(const Machine& machine) const {
  return run_log(project_options().state + "/" + project_options().name + "/runs", machine.address);
}

Result<Json> Infrastructure::describe(const Machine& machine) const {
  auto now = snapshot();
  if (!now.ok()) return now.status();
  const std::string state(state_name(state_of(machine)));
  return machine_radl(text(), *now, machine.address, state);
}

// ---- what changes it ----

std::vector<int> Infrastructure::ordinals_of(const std::string& system) const {
  std::vector<int> ordinals;
  for (const Machine& machine : machines_) {
    std::string of, rest;
    int ordinal = 0;
    if (!machine.gone && !machine.leaving && split_ordinal(machine.address, of, ordinal, rest) &&
        of == system)
      ordinals.push_back(ordinal);
  }
  std::ranges::sort(ordinals);
  return ordinals;
}

// To the machines that stay.
std::vector<driver::ScaleRequest> Infrastructure::scales_of(const std::set<std::string>& systems) const {
  std::vector<driver::ScaleRequest> scales;
  for (const std::string& system : systems) {
    driver::ScaleRequest scale;
    scale.system = system;
    scale.exactly = ordinals_of(system);
    scales.push_back(std::move(scale));
  }
  return scales;
}

// The document is compiled before it takes the place of the other.
Result<Infrastructure::Change> Infrastructure::change_locked(Document next,
                                                             std::vector<driver::ScaleRequest> scales,
                                                             const std::string& accounts) {
  if (deleting_) return Status(Code::Conflict, "the infrastructure is being deleted");
  if (stopping_) return Status(Code::Cancelled, "the service stops");
  driver::ProjectOptions options = project_options();
  options.files = {folder_ + "/next.radl"};
  if (Status saved = write_file_atomic(options.files.front(), next.text(), 0600); !saved.ok()) return saved;
  driver::Project project;
  const Status loaded = driver::load_project(*settings_.host, options, {}, project);
  std::error_code ignored;
  std::filesystem::remove(options.files.front(), ignored);
  if (!loaded.ok()) return loaded.message().empty() ? Status(Code::Invalid, findings_of(project)) : loaded;

  Change change;
  std::set<std::string> known;
  for (const Machine& machine : machines_) known.insert(machine.address);
  std::vector<std::string> wanted;
  for (const ir::Node& node : project.compiled.program.nodes)
    if (!known.contains(node.address)) wanted.push_back(node.address);
  for (const driver::ScaleRequest& scale : scales)
    for (const int ordinal : *scale.exactly) {
      const std::string address = fmt::format("{}[{}]", scale.system, ordinal);
      if (!known.contains(address)) wanted.push_back(address);
    }
  // A scale run compiles and applies the whole document; it requires an existing state.
  const bool whole = scales.empty() || next.text() != document_.text() ||
                     !std::filesystem::exists(options.state + "/" + options.name, ignored);
  const std::vector<Machine> machines_before = machines_;
  Document document_before = std::exchange(document_, std::move(next));
  for (const std::string& address : wanted) {
    machines_.push_back({int(machines_.size()), address});
    change.made.push_back(machines_.back());
  }
  failed_.clear();
  if (Status saved = save_locked(); !saved.ok()) {
    machines_ = machines_before;
    document_ = std::move(document_before);
    return saved;
  }

  auto progress = std::make_shared<Job::Progress>(wanted);
  change.launched = progress->launched.get_future().share();
  change.over = progress->over.get_future().share();
  progress->jobs = (whole ? 1 : 0) + scales.size();
  change.before = std::move(document_before);
  // A machine leaves by the run that scales its system, or by the one of the document that has it no more.
  std::map<std::string, std::vector<int>> leaving;
  for (const Machine& machine : machines_) {
    if (!machine.leaving) continue;
    const std::string of = machine.address.substr(0, machine.address.rfind('['));
    leaving[std::ranges::find(scales, of, &driver::ScaleRequest::system) != scales.end() ? of : ""].push_back(
        machine.number);
  }
  if (whole) enqueue_locked({Job::Kind::Apply, accounts, {}, progress, leaving[""]});
  for (driver::ScaleRequest& scale : scales) {
    std::vector<int> its = leaving[scale.system];
    enqueue_locked({Job::Kind::Apply, accounts, std::move(scale), progress, std::move(its)});
  }
  adding_ = adding_ || !wanted.empty();
  return change;
}

Result<Infrastructure::Change> Infrastructure::start(const Document& document, const std::string& accounts) {
  std::lock_guard lock(mutex_);
  return change_locked(document, {}, accounts);
}

Result<Infrastructure::Change> Infrastructure::add(const Document& more, const std::string& accounts) {
  std::lock_guard lock(mutex_);
  Document next = document_;
  auto deploys = next.add(more);
  if (!deploys.ok()) return deploys.status();
  std::vector<driver::ScaleRequest> scales;
  for (const Document::Deploy& deploy : *deploys) {
    if (!document_.has_deploy(deploy.system)) {
      next.deploy(deploy);
      continue;
    }
    driver::ScaleRequest scale;
    scale.system = deploy.system;
    scale.exactly = ordinals_of(deploy.system);
    int first = 0;  // above all that there ever were
    for (const Machine& machine : machines_) {
      std::string of, rest;
      int ordinal = 0;
      if (split_ordinal(machine.address, of, ordinal, rest) && of == deploy.system)
        first = std::max(first, ordinal + 1);
    }
    for (int i = 0; i < deploy.count; ++i) scale.exactly->push_back(first + i);
    scales.push_back(std::move(scale));
  }
  return change_locked(std::move(next), std::move(scales), accounts);
}

Result<Infrastructure::Change> Infrastructure::remove(const std::vector<int>& numbers,
                                                      const std::string& accounts) {
  std::lock_guard lock(mutex_);
  const std::vector<Machine> before = machines_;
  std::set<std::string> systems;
  for (const int number : numbers) {
    Machine& machine = machines_[size_t(number)];
    std::string of, rest;
    int ordinal = 0;
    if (!split_ordinal(machine.address, of, ordinal, rest))
      return Status(Code::Internal, machine.address + ": not the address of a machine");
    machine.leaving = true;
    systems.insert(of);
  }
  auto change = change_locked(document_, scales_of(systems), accounts);
  if (!change.ok()) machines_ = before;
  return change;
}

Result<Infrastructure::Change> Infrastructure::undo(const Change& change, const std::string& accounts) {
  std::lock_guard lock(mutex_);
  const std::vector<Machine> before = machines_;
  std::set<std::string> systems;
  for (const Machine& machine : change.made) {
    machines_[size_t(machine.number)].leaving = true;
    const std::string of = machine.address.substr(0, machine.address.rfind('['));
    if (change.before.has_deploy(of)) systems.insert(of);
  }
  auto undone = change_locked(change.before, scales_of(systems), accounts);
  if (!undone.ok()) machines_ = before;
  return undone;
}

Result<Infrastructure::Change> Infrastructure::reconfigure(const Document* more,
                                                           const std::string& accounts) {
  std::lock_guard lock(mutex_);
  Document next = document_;
  if (more)
    if (Status redefined = next.reconfigure(*more); !redefined.ok()) return redefined;
  return change_locked(std::move(next), {}, accounts);
}

std::shared_future<Status> Infrastructure::destroy(const std::string& accounts) {
  std::lock_guard lock(mutex_);
  if (deleting_) return destroyed_;
  deleting_ = true;
  for (Machine& machine : machines_) machine.leaving = false;  // their jobs are dropped
  auto progress = std::make_shared<Job::Progress>(std::vector<std::string>());
  progress->jobs = 1;
  destroyed_ = progress->over.get_future().share();
  for (Job& waiting : jobs_)
    waiting.progress->job_ended(Status(Code::Cancelled, "the infrastructure is deleted"));
  jobs_.clear();
  end_run_locked();
  enqueue_locked({Job::Kind::Destroy, accounts, {}, progress});
  return destroyed_;
}

Status Infrastructure::may_be_destroyed() const {
  std::lock_guard lock(mutex_);
  return adding_ ? Status(Code::Conflict, "machines are being added") : Status();
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
      return job.kind == Job::Kind::Destroy ? run_destroy(job.accounts, cancellation)
                                            : run_apply(job, cancellation);
    });
    lock.lock();
    cancellation_ = nullptr;
    at_work_ = false;
    if (jobs_.empty()) adding_ = false;
    if (job.kind == Job::Kind::Destroy && !done.ok()) deleting_ = false;
    for (const int number : job.leaving) {
      machines_[size_t(number)].leaving = false;
      machines_[size_t(number)].gone |= done.ok();
    }
    failed_ = done.ok() || stopping_ ? std::string() : done.text();
    (void)save_locked();  // what is not written is found out anew by the next request
    lock.unlock();
    job.progress->job_ended(done);
    lock.lock();
  }
  for (Job& waiting : jobs_) waiting.progress->job_ended(Status(Code::Cancelled, "the service stops"));
  jobs_.clear();
}

Status Infrastructure::run_apply(const Job& job, Cancellation& cancellation) {
  const AccountsFile accounts(job.accounts);
  if (!accounts.status().ok()) return accounts.status();
  driver::ApplyRequest request;
  request.project = project_options();
  request.machinery.cloud = settings_.cloud;
  request.machinery.auth = job.accounts.empty() ? settings_.auth : accounts.path();
  request.scale = job.scale;
  request.lock_timeout = kLockSeconds;
  driver::Apply apply(*settings_.host, std::move(request), cancellation, [](const driver::Notice&) {});
  if (Status loaded = apply.load({}); !loaded.ok())
    return loaded.message().empty() ? Status(Code::Invalid, findings_of(apply.project())) : loaded;
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

Status Infrastructure::run_destroy(const std::string& with, Cancellation& cancellation) {
  const AccountsFile accounts(with);
  if (!accounts.status().ok()) return accounts.status();
  driver::DestroyRequest request;
  request.project = project_options();
  request.project.files.clear();
  request.machinery.cloud = settings_.cloud;
  request.machinery.auth = with.empty() ? settings_.auth : accounts.path();
  request.lock_timeout = kLockSeconds;
  driver::Destroy destroy(*settings_.host, std::move(request), cancellation, [](const driver::Notice&) {});
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

}  // namespace radl::serve
