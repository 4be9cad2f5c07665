#include "runtime/driver/preview.h"

#include <algorithm>
#include <optional>

#include "runtime/driver/given_back.h"
#include "runtime/driver/others.h"
#include "runtime/driver/states.h"
#include "runtime/plan/plan_file.h"

namespace radl::driver {
namespace {

// A look at the world through clouds and runners; nothing: there is no state, so there is nothing to look at.
Result<std::optional<Observed>> observe(Project& project, Machinery& machinery, Cancellation& cancellation) {
  auto store = Store::open(project.state_directory, project.compiled.program.name, OpenMode::Read,
                           *project.host->world, cancellation.finishing());
  if (!store.ok()) {
    if (store.status().code() == Code::NotFound) return std::optional<Observed>();
    return std::move(store).status();
  }
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return std::move(snapshot).status();
  Run run = machinery.run();
  run.store = store->get();
  run.program = &project.compiled.program;
  run.secrets = &project.compiled.secrets;
  run.cancellation = &cancellation;
  auto observed = refresh(run, *snapshot);
  if (!observed.ok()) return std::move(observed).status();
  return std::optional<Observed>(std::move(*observed));
}

}  // namespace

Status preview_apply(Project& project, const PreviewRequest& request, Cancellation& cancellation,
                     const Tell& tell, Preview& preview) {
  const Host& host = *project.host;
  const Stop stop = cancellation.finishing();
  auto snapshot = read_snapshot(host, project.state_directory, project.compiled.program.name, stop);
  if (!snapshot.ok()) return std::move(snapshot).status();
  preview.snapshot = std::move(*snapshot);
  auto machinery = make_machinery(host, request.machinery, stop);
  if (!machinery.ok()) return std::move(machinery).status();
  if (Status numbered = use_state_of(project, preview.snapshot, (*machinery)->clouds()); !numbered.ok())
    return numbered;
  Result<std::optional<Observed>> observed = std::optional<Observed>();
  if (request.plan.refresh) observed = observe(project, **machinery, cancellation);
  if (!observed.ok()) return std::move(observed).status();
  auto plan = plan_for(project, preview.snapshot, **machinery, request.plan,
                       *observed ? &**observed : nullptr, tell, stop);
  if (!plan.ok()) return std::move(plan).status();
  preview.plan = std::move(*plan);
  if (request.plan_alone) return {};
  auto forecasts = plan_forecasts(preview.plan, project, **machinery, stop);
  if (forecasts.ok())
    preview.forecasts = std::move(*forecasts);
  else
    tell({Notice::Kind::Note, "nothing is forecast: " + forecasts.status().text()});
  if (Status stopped = stop.check(); !stopped.ok()) return stopped;
  if (preview.snapshot.resources.empty()) preview.elsewhere = prices_elsewhere(project, **machinery);
  return {};
}

namespace {

// What carries the infrastructure's tag without being in the state, which a destroy leaves alone.
Status add_others(const Host& host, const StatePlace& place, const PreviewRequest& request,
                  Cancellation& cancellation, Preview& preview) {
  if (!request.plan.refresh) {
    const auto& resources = preview.snapshot.resources;
    if (!std::all_of(resources.begin(), resources.end(),
                     [](const auto& entry) { return entry.second.cloud == "local"; }))
      preview.plan.notes.push_back(
          "no cloud was asked what else carries this infrastructure's tag, which destroy leaves alone: "
          "--refresh lists it");
    return {};
  }
  const Stop stop = cancellation.finishing();
  auto machinery = make_machinery(host, request.machinery, stop);
  if (!machinery.ok()) return std::move(machinery).status();
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *host.world, stop);
  if (!store.ok()) return std::move(store).status();
  Run run = (*machinery)->run();
  run.store = store->get();
  run.cancellation = &cancellation;
  auto others = look_for_others(run, false);
  if (!others.ok()) return std::move(others).status();
  note_others(*others, {}, preview.plan);
  return {};
}

Status find_uncertain(const Host& host, const StatePlace& place, const Stop& stop, Preview& preview) {
  if (!preview.snapshot.interrupted()) return {};
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *host.world, stop);
  if (!store.ok()) return std::move(store).status();
  auto intents = (*store)->open_intents();
  if (!intents.ok()) return std::move(intents).status();
  for (const Intent& intent : *intents) {
    if (intent.kind != Intent::Kind::Create || preview.snapshot.resources.contains(intent.address)) continue;
    preview.uncertain.push_back(intent.address);
    preview.plan.notes.push_back(
        intent.address + " may exist: a run was interrupted while it created it. It is deleted as well.");
  }
  return {};
}

}  // namespace

Status preview_destroy(const Host& host, const ProjectOptions& options, const PreviewRequest& request,
                       Cancellation& cancellation, Preview& preview) {
  const std::vector<std::string>& targets = request.plan.targets;
  auto place = find_state(host, options);
  if (!place.ok()) return std::move(place).status();
  auto snapshot = read_snapshot(host, place->directory, place->name);
  if (!snapshot.ok()) return std::move(snapshot).status();
  preview.snapshot = std::move(*snapshot);
  auto plan = make_destroy_plan(preview.snapshot, {targets.begin(), targets.end()});
  if (!plan.ok()) return std::move(plan).status();
  preview.plan = std::move(*plan);
  tell_what_stays(preview.plan, preview.snapshot);
  if (targets.empty())
    if (Status found = find_uncertain(host, *place, cancellation.finishing(), preview); !found.ok())
      return found;
  return targets.empty() ? add_others(host, *place, request, cancellation, preview) : Status();
}

std::string saved_plan_of(const Project& project, const Plan& plan) {
  SavedPlan saved;
  saved.plan = plan;
  saved.program = project.compiled.program;
  saved.state_directory = project.state_directory;
  saved.files = project.files;
  saved.module_path = project.compile_with.module_path;
  for (const auto& [name, value] : project.compiled.program.inputs) {
    if (value->is_object() && value->contains("$secret")) continue;
    saved.inputs[name] = value->is_string() ? value->get<std::string>() : value->dump();
  }
  return encode_plan_file(saved);
}

}  // namespace radl::driver
