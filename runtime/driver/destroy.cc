#include "runtime/driver/destroy.h"

#include <algorithm>
#include <set>

#include "compiler/resources/resource_schema.h"
#include "runtime/base/sudo_secret.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/others.h"
#include "runtime/driver/protection.h"
#include "runtime/driver/states.h"
#include "runtime/plan/step_facts.h"
#include "runtime/state/index.h"

namespace radl::driver {
namespace {

// Without what --also destroys: that keeps nothing any more.
Snapshot without(Snapshot snapshot, const std::vector<std::string>& also) {
  std::erase_if(snapshot.released, [&](const Released& one) {
    return std::find(also.begin(), also.end(), one.id) != also.end();
  });
  return snapshot;
}

}  // namespace

Destroy::Destroy(const Host& host, DestroyRequest request, Cancellation& cancellation, Tell tell)
    : host_(host), request_(std::move(request)), cancellation_(cancellation), tell_(std::move(tell)) {}

Destroy::~Destroy() = default;

Status Destroy::find() {
  auto directory = state_directory(host_, request_.project);
  if (!directory.ok()) return std::move(directory).status();
  if (Status swept = sweep_unmade_states(*directory); !swept.ok()) return swept;
  auto place = find_state(host_, request_.project);
  if (!place.ok()) return std::move(place).status();
  place_ = std::move(*place);
  return {};
}

Status Destroy::make_machinery() {
  auto machinery = driver::make_machinery(host_, request_.machinery);
  if (!machinery.ok()) return std::move(machinery).status();
  machinery_ = std::move(*machinery);
  return {};
}

Status Destroy::begin(const std::string& sudo_password) {
  // It needs none of the file's secrets: what it removes is in the state.
  if (!sudo_password.empty()) secrets_[kSudoSecret] = sudo_password;
  Run parts = machinery_->run();
  parts.secrets = &secrets_;
  auto run = begin_run(host_, parts, place_.directory, place_.name, OpenMode::Write, "destroy",
                       request_.lock_timeout, cancellation_, tell_);
  if (!run.ok()) return std::move(run).status();
  run_ = std::move(*run);
  return recover_left(*run_, tell_);
}

// What carries the tag and is not this state's: the plan shows it, and names what --also asks for as well.
Status Destroy::add_others(const Others& others) {
  const std::vector<Released>& released = before_.released;
  std::set<std::string> also(request_.also.begin(), request_.also.end()), known;
  for (const Released& one : released) known.insert(one.id);
  for (const Unowned& one : others.unowned) known.insert(one.id);
  note_others(others, also, plan_);
  for (const Released& one : released)
    if (also.count(one.id)) plan_.notes.push_back("destroyed as well: " + one.address + " (" + one.id + ")");
  for (const std::string& id : also)
    if (!known.count(id))
      return not_found("--also " + id +
                       ": nothing that was seen with that id carries this infrastructure's tag");
  run_->destroy_also(std::move(also));
  return {};
}

Status Destroy::make_plan() {
  Result<Others> others = Others();
  if (request_.targets.empty()) {
    others = run_->others();
    if (!others.ok()) return std::move(others).status();
  }
  auto snapshot = run_->snapshot();
  if (!snapshot.ok()) return std::move(snapshot).status();
  before_ = std::move(*snapshot);
  auto plan =
      make_destroy_plan(without(before_, request_.also), {request_.targets.begin(), request_.targets.end()});
  if (!plan.ok()) return std::move(plan).status();
  plan_ = std::move(*plan);
  if (Status added = add_others(*others); !added.ok()) return added;
  tell_what_stays(plan_, before_);
  std::vector<std::string> files = before_.source_paths;
  files.insert(files.end(), request_.project.files.begin(), request_.project.files.end());
  return check_files_allow(plan_, before_, files);
}

std::vector<std::string> Destroy::ended_jobs() const {
  std::vector<std::string> jobs;
  for (const auto& [id, record] : before_.steps) {
    if (!ir::is_job_type(record.kind) || (!has_not_ended(record.status) && !before_.supervised.count(id)))
      continue;
    const auto goes = [&](const std::string& node) { return plan_.find(node) != nullptr; };
    if (std::any_of(record.nodes.begin(), record.nodes.end(), goes)) jobs.push_back(id);
  }
  return jobs;
}

Destroyed Destroy::execute() {
  Destroyed done;
  done.report = run_->destroy(plan_);
  run_->store().unlock();  // a slow listener must not block other runs
  RunFigures figures = run_->figures(plan_, done.report);
  if (!plan_.partial) figures.life_cost = cost_of_life(before_, run_->ended());
  done.figures_kept = keep_figures(host_, std::move(figures), place_.directory);
  report_ = done.report;
  return done;
}

// What uses the rest goes by --also, or by hand: the next destroy then removes that rest.
std::vector<std::string> Destroy::still_exists(const Snapshot& after, bool& needs_state) const {
  std::vector<std::string> lines;
  for (const Unowned& one : report_.unowned) lines.push_back("left alone: " + one.text());
  for (const auto& [address, record] : after.resources)
    lines.push_back("still there: " + address + " (" + record.id + " in " + record.cloud +
                    "), which something uses that `radlc state rm` released");
  needs_state = !lines.empty();
  for (const Released& one : after.released) {
    lines.push_back("still there: " + one.address + " (" + one.id + " in " + one.cloud +
                    "), which `radlc state rm` released");
    const auto* marking = dynamic_cast<const TakesOver*>(machinery_->clouds().find(one.cloud));
    needs_state |= marking && marking->is_in_work_directory();
  }
  return lines;
}

Result<DestroyLeft> Destroy::finish() {
  auto after = run_->snapshot();
  if (!after.ok()) return std::move(after).status();
  DestroyLeft left;
  left.exists = still_exists(*after, left.state_kept);
  if (left.state_kept) return left;
  run_.reset();  // the removal takes the lock again, unless a run that waited for it is faster
  Status removed = remove_state(place_.directory, place_.name, *host_.world, cancellation_.now());
  if (removed.code() == Code::Conflict) {
    left.kept_for_another = std::move(removed);
    return left;
  }
  if (!removed.ok() && removed.code() != Code::NotFound && removed.code() != Code::Lost) return removed;
  // An index that cannot be written is not an error: `radlc list` skips missing states.
  (void)forget_state(host_.infrastructures_index(), {place_.directory, place_.name});
  left.buckets = bucket_places(before_);
  return left;
}

}  // namespace radl::driver
