// The runs of a workspace, by the driver.
#include "runtime/serve/workspace_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/files.h"
#include "compiler/diag/render.h"
#include "runtime/serve/records.h"
#include "runtime/serve/run_failure.h"
#include "runtime/serve/workspace.h"
#include "runtime/state/place.h"

namespace radl::serve {
namespace {

constexpr double kSecondsBeside = 365 * 24 * 3600.0;

// The query that the plan was made from. Conflict: an older service saved the plan without it.
Result<PlanQuery> query_of(const Json& shown) {
  if (!shown.contains("request"))
    return Status(Code::Conflict, "the plan was made by an older service").with_hint("plan again");
  return plan_query_from(shown.at("request"));
}

}  // namespace

Status Workspace::execute(const WorkspaceRun& run, Active& active) {
  // The service may have been started again without --trust-users.
  const bool destroys = run.command == "destroy";  // which runs nothing of the owner's program
  for (const std::string& user : {run.by, destroys ? run.by : owner_})
    if (!users_.trusts(user))
      return Status(Code::Auth, "runs of " + user + " are not allowed: this service does not trust its users")
          .with_hint("an administrator may start it with --trust-users");
  if (settings_.records && is_bucket_place(states_))
    if (Status kept = settings_.records->copy(active.cancellation.finishing(), true); !kept.ok()) return kept;
  return destroys ? run_destroy(run, active.cancellation) : run_apply(run, active);
}

Status Workspace::run_apply(const WorkspaceRun& run, Active& active) {
  auto shown = read_plan(run.plan);
  if (!shown.ok()) return shown.status();
  auto stored = accounts();
  if (!stored.ok()) return stored.status();
  const MemoryFile file(*stored, "the accounts of " + owner_);
  if (!file.status().ok()) return file.status();
  std::vector<std::string> secrets;
  {
    std::lock_guard lock(mutex_);
    if (const auto held = secrets_.find(run.id); held != secrets_.end()) secrets = held->second;
  }
  if (!check_secrets(*shown, secrets).ok())
    return Status(Code::Conflict, "the service was restarted, and secret inputs are never stored")
        .with_hint("plan again, and send them with the run");
  auto query = query_of(*shown);
  if (!query.ok()) return query.status();
  driver::ApplyRequest request;
  request.project = project_options(query->sources);
  request.project.inputs = shown->value("inputs", std::vector<std::string>());
  request.machinery = machinery_options(file, *query);
  request.plan.max_cost = query->plan.max_cost;
  // The apply beside it gives the lock back once only jobs run, however long that takes.
  request.lock_timeout = active.is_beside ? kSecondsBeside : query->lock_timeout;
  request.on_error = driver::on_error_named(query->on_error);
  request.scale = query->scale;
  request.keep = query->keep;
  // A run that looks up first what an interrupted one left may find less to do than the plan showed.
  const bool exactly = !query->scale && !run.recovered && !shown->value("interrupted", false);
  if (exactly) {  // the saved plan has its targets, files and inputs
    request.project.files = {saved_path(run.plan)};
    request.project.inputs.clear();
  } else {
    request.plan.targets = query->plan.targets;
    if (!run.recovered) request.plan.replace = query->plan.replace;  // else it may be replaced by now
  }
  request.project.inputs.insert(request.project.inputs.end(), secrets.begin(), secrets.end());
  driver::Apply apply(*settings_.host, std::move(request), active.cancellation, notes_of(run.id));
  if (Status loaded = apply.load({}); !loaded.ok()) {
    if (!loaded.message().empty()) return loaded;
    return Status(Code::Invalid, render_text(apply.project().diagnostics, apply.project().sources));
  }
  if (Status ready = apply.begin(); !ready.ok()) return ready;
  got_lock(run.id, apply.run().id());
  std::error_code ignored;  // of an earlier destroy
  std::filesystem::remove(folder_ + "/receipt.json", ignored);
  if (Status planned = apply.make_plan(); !planned.ok()) return planned;
  if (!exactly)
    if (Status within = stays_within(*shown, apply.plan()); !within.ok()) return within;
  if (!apply.within_budget().ok()) return apply.within_budget();
  if (Status open = apply.check_buckets(); !open.ok()) return open;
  Status done;
  if (apply.plan().changes_anything()) {
    while (true) {
      const driver::ApplyRound round = apply.run_round();
      done = round.goes_on ? Status() : failure_of(round.report);
      if (!round.goes_on) break;
      if (done = apply.plan_next_round(); !done.ok()) break;
    }
  }
  apply.run().close(active.cancellation.now());
  keep_log(apply.run().id());
  return done;
}

Status Workspace::run_destroy(const WorkspaceRun& run, Cancellation& cancellation) {
  auto shown = read_plan(run.plan);
  if (!shown.ok()) return shown.status();
  auto stored = accounts();
  if (!stored.ok()) return stored.status();
  const MemoryFile file(*stored, "the accounts of " + owner_);
  if (!file.status().ok()) return file.status();
  auto query = query_of(*shown);
  if (!query.ok()) return query.status();
  driver::DestroyRequest request;
  request.project = project_options({});
  request.project.files.clear();
  request.machinery = machinery_options(file, *query);
  request.targets = query->plan.targets;
  request.lock_timeout = query->lock_timeout;
  driver::Destroy destroy(*settings_.host, std::move(request), cancellation, notes_of(run.id));
  if (Status found = destroy.find(); !found.ok())
    return found.code() == Code::NotFound && run.recovered ? Status() : found;
  if (Status made = destroy.make_machinery(); !made.ok()) return made;
  if (Status opened = destroy.begin({}); !opened.ok()) return opened;
  got_lock(run.id, destroy.run().id());
  auto before = destroy.run().snapshot();
  if (!before.ok()) return before.status();
  if (Status planned = destroy.make_plan(); !planned.ok()) return planned;
  if (Status within = stays_within(*shown, destroy.plan()); !within.ok()) return within;
  const driver::Destroyed done = destroy.execute();
  const RunFigures figures = destroy.run().figures(destroy.plan(), done.report);
  destroy.run().close(cancellation.now());
  keep_log(destroy.run().id());
  if (Status failed = failure_of(done.report); !failed.ok() || destroy.plan().partial) return failed;
  const MoneySum cost = figures.life_cost.value_or(MoneySum());
  // Before the state goes, from which it is made.
  if (Status written = write_receipt(run, *before, done, nullptr, cost); !written.ok()) return written;
  auto left = destroy.finish();
  if (!left.ok()) return left.status();
  Status written = write_receipt(run, *before, done, &*left, cost);
  if (!left->exists.empty()) return Status(Code::Exists, fmt::format("{}", fmt::join(left->exists, "\n")));
  return written;
}

Status Workspace::write_receipt(const WorkspaceRun& run, const Snapshot& before,
                                const driver::Destroyed& done, const driver::DestroyLeft* left,
                                const MoneySum& cost) const {
  std::map<std::string, const ActionOutcome*> outcomes;
  for (const ActionOutcome& action : done.report.actions) outcomes[action.id] = &action;
  Json resources = Json::array();
  for (const auto& [address, resource] : before.resources) {
    const auto outcome = outcomes.find(address);
    const bool gone = outcome != outcomes.end() && outcome->second->state == ActionOutcome::State::Done;
    resources.push_back({{"address", address},
                         {"type", resource.type},
                         {"cloud", resource.cloud},
                         {"id", resource.id},
                         {"created", resource.created_at},
                         {"gone", gone}});
  }
  Json unowned = Json::array();
  for (const Unowned& one : done.report.unowned) unowned.push_back(one.text());
  const Json receipt = {{"infrastructure", id_},
                        {"name", name_},
                        {"tag", infrastructure_tag(before.name, before.lineage)},
                        {"run", run.id},
                        {"by", run.by},
                        {"destroyed", settings_.host->world->clock.wall_seconds()},
                        {"resources", std::move(resources)},
                        {"leftovers", done.report.leftovers},
                        {"complete", left != nullptr},
                        {"left", left ? left->exists : std::vector<std::string>()},
                        {"left_alone", std::move(unowned)},
                        {"buckets", left ? left->buckets : std::vector<std::string>()},
                        {"cost", cost}};
  return write_file_atomic(folder_ + "/receipt.json",
                           receipt.dump(1, ' ', false, Json::error_handler_t::replace), 0600);
}

}  // namespace radl::serve
