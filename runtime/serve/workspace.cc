#include "runtime/serve/workspace.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "common/files.h"
#include "common/guarded.h"
#include "common/json_values.h"
#include "common/shorten.h"
#include "runtime/base/world.h"
#include "runtime/run/event_log.h"
#include "runtime/serve/workspace_run.h"
#include "runtime/state/place.h"
#include "runtime/state/store.h"

namespace radl::serve {
namespace {

// All records of runs together stay far below kLargestAbout, so that a workspace can always be opened again.
constexpr size_t kMostRuns = 500, kRunsWithNotes = 50, kMostNotes = 50;
constexpr size_t kLongestNote = 2000, kLongestWhy = 8000, kMostLogs = 100;
constexpr size_t kLargestAbout = size_t{16} << 20;

using State = WorkspaceRun::State;
constexpr std::pair<State, std::string_view> kStates[] = {{State::Queued, "queued"},
                                                          {State::Running, "running"},
                                                          {State::Done, "done"},
                                                          {State::Failed, "failed"},
                                                          {State::Stopped, "stopped"}};

State state_of(const std::string& name) {
  for (const auto& [state, its] : kStates)
    if (its == name) return state;
  throw std::out_of_range("unknown state '" + name + "'");
}

// Throws Json::exception or std::out_of_range.
WorkspaceRun run_from(const Json& json) {
  WorkspaceRun run;
  run.id = json.at("id");
  run.command = json.at("command");
  run.plan = json.at("plan");
  run.by = json.at("by");
  run.state = state_of(json.at("state"));
  run.recovered = json.at("recovered");
  run.stop_asked = json.value("stop_asked", false);
  run.asked = json.at("asked");
  run.begun = json.at("begun");
  run.ended = json.at("ended");
  run.code = json.at("code");
  run.why = json.at("why");
  run.hint = json.at("hint");
  run.logs = json.at("logs").get<std::vector<std::string>>();
  run.notes = json.at("notes").get<std::vector<std::string>>();
  return run;
}

// A record that cannot be read hides neither the infrastructure nor its other runs.
WorkspaceRun readable_run(const Json& json, const std::string& id) {
  WorkspaceRun run;
  const Status read = guarded([&]() -> Status {
    run = run_from(json);
    return {};
  });
  if (read.ok()) return run;
  run = {};
  run.id = json::text_of(json, "id").empty() ? id : json::text_of(json, "id");
  run.command = "unknown";
  run.state = State::Failed;
  run.code = code_name(Code::Corrupt);
  run.why = "the record of this run cannot be read";
  return run;
}

size_t number_of_run(const WorkspaceRun& run) {
  size_t number = 0;
  const std::string_view digits = std::string_view(run.id).substr(run.id.rfind('-') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

std::string_view state_name(State state) {
  for (const auto& [its, name] : kStates)
    if (its == state) return name;
  return "failed";
}

Json to_json(const WorkspaceRun& run) {
  return {{"id", run.id},
          {"command", run.command},
          {"plan", run.plan},
          {"by", run.by},
          {"state", state_name(run.state)},
          {"recovered", run.recovered},
          {"stop_asked", run.stop_asked},
          {"asked", run.asked},
          {"begun", run.begun},
          {"ended", run.ended},
          {"code", run.code},
          {"why", run.why},
          {"hint", run.hint},
          {"logs", run.logs},
          {"notes", run.notes}};
}

Workspace::Workspace(Users& users, std::string folder, std::string id, std::string owner)
    : users_(users),
      settings_(users.of(owner)),
      folder_(std::move(folder)),
      id_(std::move(id)),
      owner_(std::move(owner)) {}

Workspace::~Workspace() {
  stop();
  std::unique_lock lock(mutex_);
  run_ended_.wait(lock, [this] { return active_.empty(); });
  ended_.clear();
}

Result<std::shared_ptr<Workspace>> Workspace::create(Users& users, const std::string& folder,
                                                     const std::string& id, const std::string& name,
                                                     const std::string& owner, bool temporary) {
  for (const char* part : {"", "/plans", "/files", "/runs"})
    if (Status made = make_directories(folder + part, 0700); !made.ok()) return made;
  std::shared_ptr<Workspace> one(new Workspace(users, folder, id, owner));
  one->name_ = name;
  one->created_ = one->settings_.host->world->clock.wall_seconds();
  one->last_used_ = one->created_;
  one->temporary_ = temporary;
  one->states_ = users.own().states;
  // A bucket is reached with the credentials of the service's own user.
  if (is_bucket_place(one->states_) && owner != users.owner()) one->states_.clear();
  std::lock_guard lock(one->mutex_);
  if (Status saved = one->save_locked(); !saved.ok()) return saved;
  return one;
}

Result<std::shared_ptr<Workspace>> Workspace::open(Users& users, const std::string& folder,
                                                   const std::string& id) {
  auto text = read_file(folder + "/about.json", kLargestAbout);
  if (!text.ok()) return text.status();
  std::shared_ptr<Workspace> one;
  const Status read = guarded([&]() -> Status {
    const Json about = Json::parse(*text);
    one.reset(new Workspace(users, folder, id, about.at("owner")));
    one->name_ = about.at("name");
    one->created_ = about.at("created");
    one->last_used_ = one->created_;
    one->temporary_ = about.value("temporary", false);
    one->states_ = about.value("states", "");
    one->sources_.files = about.value("files", std::vector<std::string>());
    one->sources_.module_path = about.value("module_path", std::vector<std::string>());
    for (const Json& run : about.at("runs"))
      one->runs_.push_back(readable_run(run, fmt::format("{}-{}", id, one->runs_.size() + 1)));
    return {};
  });
  if (!read.ok()) return Status(Code::Corrupt, folder + "/about.json: " + read.message());
  std::lock_guard lock(one->mutex_);
  for (WorkspaceRun& run : one->runs_) {
    if (run.over() || run.stop_asked) continue;
    run.recovered |= run.state == State::Running;
    run.state = State::Queued;
    // A scale that has had the lock is completed before the apply that it was beside: otherwise, the new
    // nodes would not be in the apply's plan.
    const bool first = run.recovered && run.command == "scale" && !run.logs.empty();
    one->queue_.insert(first ? one->queue_.begin() : one->queue_.end(), run.id);
  }
  return one;
}

void Workspace::recover() {
  std::lock_guard lock(mutex_);
  bool ended = false;
  for (WorkspaceRun& run : runs_) {
    if (run.over() || !run.stop_asked) continue;
    end_locked(run, State::Stopped,
               Status(Code::Cancelled, "the run was asked to stop, and the service ended meanwhile"));
    ended = true;
  }
  if (ended) (void)save_locked();
  if (!queue_.empty()) start_locked();
}

void Workspace::end_locked(WorkspaceRun& run, State state, const Status& why) {
  secrets_.erase(run.id);
  run.state = state;
  run.ended = settings_.host->world->clock.wall_seconds();
  if (!why.ok()) {
    run.code = code_name(why.code());
    run.why = shorten(why.message(), kLongestWhy);
    run.hint = shorten(why.hint(), kLongestNote);
  }
  tell(run, "run.finished");
}

Status Workspace::save_locked() const {
  Json runs = Json::array();
  for (const WorkspaceRun& run : runs_) runs.push_back(to_json(run));
  const Json about = {{"name", name_},
                      {"owner", owner_},
                      {"created", created_},
                      {"temporary", temporary_},
                      {"states", states_},
                      {"files", sources_.files},
                      {"module_path", sources_.module_path},
                      {"runs", std::move(runs)}};
  return write_file_atomic(folder_ + "/about.json", about.dump(1, ' ', false, Json::error_handler_t::replace),
                           0600);
}

// ---- what it is ----

std::vector<WorkspaceRun> Workspace::runs() const {
  std::lock_guard lock(mutex_);
  return runs_;
}

std::optional<WorkspaceRun> Workspace::find_run(const std::string& run) const {
  std::lock_guard lock(mutex_);
  const WorkspaceRun* found = find_locked(run);
  return found ? std::optional(*found) : std::nullopt;
}

const WorkspaceRun* Workspace::find_locked(const std::string& run) const {
  const auto found = std::ranges::find(runs_, run, &WorkspaceRun::id);
  return found == runs_.end() ? nullptr : &*found;
}

WorkspaceRun* Workspace::find_locked(const std::string& run) {
  return const_cast<WorkspaceRun*>(std::as_const(*this).find_locked(run));
}

bool Workspace::busy() const {
  std::lock_guard lock(mutex_);
  return !active_.empty() || !queue_.empty();
}

Status Workspace::takes_files(bool may_apply) const {
  last_used_ = settings_.host->world->clock.wall_seconds();
  std::lock_guard lock(mutex_);
  if (removed_) return not_found("there is no infrastructure " + id_);
  if (!active_.empty() || !queue_.empty())
    return Status(Code::Conflict, "a run of " + id_ + " is in progress, which may read its files")
        .with_hint("stop the run, or wait until it ends");
  std::error_code error;
  if (!may_apply && (planning_ || !std::filesystem::is_empty(folder_ + "/plans", error)))
    return Status(Code::Auth,
                  "a plan of " + id_ + " may name its files: to change them needs the scope apply");
  return {};
}

Status Workspace::close_for_removal(bool may_apply) {
  {
    std::lock_guard lock(mutex_);
    if (removed_) return not_found("there is no infrastructure " + id_);
    if (!may_apply && !runs_.empty())
      return Status(Code::Auth, id_ + " is not a draft: to remove it needs the scope apply");
    if (!active_.empty() || !queue_.empty())
      return Status(Code::Conflict, "a run of " + id_ + " is in progress").with_hint("stop it first");
    if (planning_) return Status(Code::Conflict, "a plan of " + id_ + " is being made");
    removed_ = true;  // no run begins while the state is read
  }
  auto now = snapshot();
  Status closed = now.status();
  if (now.ok() && !now->resources.empty())
    closed = Status(Code::Conflict, "resources of " + id_ + " exist")
                 .with_hint("destroy the infrastructure first");
  else if (now.ok() && now->interrupted())
    closed = Status(Code::Conflict, "a run of " + id_ + " was interrupted: what it created may exist")
                 .with_hint("destroy the infrastructure first");
  std::lock_guard lock(mutex_);
  removed_ = closed.ok();
  return closed;
}

bool Workspace::is_spare_draft() const {
  std::error_code error;
  if (!runs().empty() || temporary_) return runs().empty();
  return std::filesystem::is_empty(folder_ + "/files", error) && !error;
}

// ---- the queue ----

Result<WorkspaceRun> Workspace::run(const std::string& plan, const std::string& by,
                                    const std::vector<std::string>& secrets) {
  auto shown = read_plan(plan);
  if (!shown.ok()) return shown.status();
  if (shown->contains("above_budget"))
    return Status(Code::Invalid, shown->value("above_budget", ""))
        .with_hint("plan again with a higher max_cost");
  if (Status all = check_secrets(*shown, secrets); !all.ok()) return all;
  std::lock_guard lock(mutex_);
  if (stopping_) return Status(Code::Cancelled, "the service is shutting down");
  if (removed_) return not_found("there is no infrastructure " + id_);
  if (std::ranges::find(runs_, plan, &WorkspaceRun::plan) != runs_.end())
    return Status(Code::Conflict, "this plan was run already").with_hint("plan again");
  WorkspaceRun run;
  run.id = fmt::format("{}-{}", id_, runs_.empty() ? 1 : number_of_run(runs_.back()) + 1);
  run.command = shown->value("command", "apply");
  run.plan = plan;
  run.by = by;
  run.asked = settings_.host->world->clock.wall_seconds();
  runs_.push_back(run);
  tell(run, "run.queued");
  if (Status saved = save_locked(); !saved.ok()) {
    runs_.pop_back();
    return saved;
  }
  forget_old_runs_locked();
  if (!secrets.empty()) secrets_[run.id] = secrets;
  queue_.push_back(run.id);
  ended_.clear();
  start_locked();
  return run;
}

// The newest kMostRuns stay; of an older one its record and events go, and its plan with the next plan.
void Workspace::forget_old_runs_locked() {
  for (size_t i = 0; i + kRunsWithNotes < runs_.size(); ++i) runs_[i].notes.clear();
  if (runs_.size() <= kMostRuns) return;
  const auto kept = runs_.end() - long(kMostRuns);
  std::error_code ignored;  // a file that stays takes room alone
  for (auto run = runs_.begin(); run != kept; ++run) {
    if (!run->over()) return;  // an apply that supervises jobs
    for (const std::string& log : run->logs)
      std::filesystem::remove(folder_ + "/runs/" + log + ".jsonl", ignored);
  }
  runs_.erase(runs_.begin(), kept);
}

bool Workspace::stop_run(const std::string& id) {
  std::lock_guard lock(mutex_);
  WorkspaceRun* run = find_locked(id);
  if (!run || run->over()) return false;
  if (const auto active = active_.find(id); active != active_.end()) {
    run->stop_asked = true;
    (void)save_locked();
    active->second->cancellation.request();
    return true;
  }
  std::erase(queue_, id);
  end_locked(*run, State::Stopped, Status(Code::Cancelled, "the run was stopped before it started"));
  (void)save_locked();
  start_locked();  // a scale may have waited for it
  return true;
}

void Workspace::stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  if (planning_) planning_->request();
  for (const auto& [id, active] : active_)
    if (!active->cancellation.stop_starting()) active->cancellation.request();
}

bool Workspace::may_begin_locked(const WorkspaceRun& run) const {
  if (active_.empty()) return true;
  if (active_.size() > 1 || run.command != "scale") return false;
  const auto& [id, active] = *active_.begin();
  return active->had_lock && find_locked(id)->command == "apply";
}

void Workspace::start_locked() {
  while (!stopping_ && !queue_.empty()) {
    WorkspaceRun& run = *find_locked(queue_.front());
    if (!may_begin_locked(run)) return;
    queue_.pop_front();
    run.state = State::Running;
    if (run.begun == 0) {
      run.begun = settings_.host->world->clock.wall_seconds();
      tell(run, "run.started");
    }
    (void)save_locked();  // a run that is not recorded as begun is begun again
    auto active = std::make_unique<Active>();
    active->is_beside = !active_.empty();
    active->thread = std::jthread([this, job = run, its = active.get()] { work(job, *its); });
    active_[run.id] = std::move(active);
  }
}

void Workspace::work(const WorkspaceRun& job, Active& active) {
  const Status done = guarded([&] { return execute(job, active); });
  std::lock_guard lock(mutex_);
  WorkspaceRun& run = *find_locked(job.id);
  const bool asked = done.code() == Code::Cancelled;
  if (!asked || !stopping_ || run.stop_asked) {  // else the next service continues it
    end_locked(run, done.ok() ? State::Done : asked ? State::Stopped : State::Failed, done);
    (void)save_locked();
  }
  ended_.push_back(std::move(active.thread));
  active_.erase(job.id);
  start_locked();
  run_ended_.notify_all();
}

void Workspace::got_lock(const std::string& run, const std::string& log) {
  std::lock_guard lock(mutex_);
  WorkspaceRun* its = find_locked(run);
  if (its && its->logs.size() < kMostLogs) its->logs.push_back(log);
  (void)save_locked();
  active_.at(run)->had_lock = true;
  start_locked();
}

std::string Workspace::state_place() const {
  return states_.empty() ? folder_ + "/state" : states_ + "/" + id_;
}

std::string Workspace::work_directory() const {
  return work_directory_of(state_place(), name_, settings_.host->environment());
}

std::string Workspace::run_folder() const {
  return std::filesystem::path(work_directory()).parent_path().string() + "/runs/";
}

std::string Workspace::log_path(const std::string& log) const {
  std::string kept = folder_ + "/runs/" + log + ".jsonl";
  std::error_code error;
  if (std::filesystem::exists(kept, error)) return kept;
  return run_folder() + log + ".jsonl";
}

// Another name of the same file, or a copy on another file system, so that the events outlive the state.
void Workspace::keep_log(const std::string& log) const {
  const std::string from = run_folder() + log + ".jsonl", to = folder_ + "/runs/" + log + ".jsonl";
  std::error_code error;  // a run in which nothing happened has none
  std::filesystem::create_hard_link(from, to, error);
  if (error != std::errc::cross_device_link) return;
  // log_path() prefers the copy: it must never be a part of the log.
  std::filesystem::copy_file(from, to + ".part", std::filesystem::copy_options::overwrite_existing, error);
  if (!error) std::filesystem::rename(to + ".part", to, error);
}

driver::Tell Workspace::notes_of(const std::string& run) {
  return [this, run](const driver::Notice& notice) {
    if (notice.kind == driver::Notice::Kind::Progress) return;
    std::lock_guard lock(mutex_);
    WorkspaceRun* its = find_locked(run);
    if (its && its->notes.size() < kMostNotes) its->notes.push_back(shorten(notice.text, kLongestNote));
  };
}

}  // namespace radl::serve
