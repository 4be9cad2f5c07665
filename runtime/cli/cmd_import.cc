// Takes something that exists into the state.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/text.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/from_cloud.h"
#include "runtime/cli/import_run.h"
#include "runtime/cli/shown.h"
#include "runtime/net/ssh/key_places.h"

namespace radl::cli::import_command {
namespace {

struct Options {
  ProjectOptions project;
  RunOptions run;
  std::vector<std::string> words;  // FILE..., ADDRESS, ID
  bool all = false;
  std::string from;  // of all: the tag, where several infrastructures have the name
};

// The infrastructure whose state was lost.
Result<std::string> tag_to_import(const Options& options, const Plan& plan) {
  std::set<std::string> tags;
  for (const Elsewhere& one : plan.elsewhere) tags.insert(one.infrastructure);
  if (!options.from.empty()) {
    if (tags.count(options.from)) return options.from;
    return not_found("nothing that the file's clouds have carries the tag " + options.from);
  }
  if (tags.size() == 1) return *tags.begin();
  if (tags.empty())
    return not_found("no cloud of the file has anything of an infrastructure named " + plan.infrastructure);
  return Status(Code::Invalid, "several infrastructures have that name: " +
                                   join(std::vector<std::string>(tags.begin(), tags.end()), ", "))
      .with_hint("say which with --from TAG");
}

// The private halves of login keys were in the lost folder, unless they lie elsewhere too.
void note_lost_keys(Store& store, const Environment& environment) {
  auto snapshot = store.snapshot();
  if (!snapshot.ok()) return;
  std::vector<std::string> nodes;
  for (const auto& [address, record] : snapshot->resources) {
    const std::string key = record.is_node() ? record.attributes.value("key", "") : "";
    if (!key.empty() && !ssh::find_key(key, ssh::key_places(environment, store.work_directory())).ok())
      nodes.push_back(address);
  }
  if (nodes.empty()) return;
  std::fprintf(
      stderr,
      "note: the login keys of %s were lost with the state: put its work folder back, or replace these "
      "nodes where steps must run again\n",
      shown(join(nodes, ", ")).c_str());
}

// Rebuilds the state of an infrastructure from the tags of what it has.
int import_everything(const Session& session, const Options& options, Project& project,
                      const Machinery& machinery, Run& run) {
  Store& store = *run.store;
  PlanRequest request;
  request.refresh = true;  // which asks the clouds what exists
  auto snapshot = store.snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto plan = plan_for(project, *snapshot, machinery, request, nullptr, tell_on_stderr());
  if (!plan.ok()) return report_unplanned(session, project, plan.status());
  auto tag = tag_to_import(options, *plan);
  if (!tag.ok()) return report(session, tag.status());
  auto parts = tag_parts(*tag);
  if (!parts.ok()) return report(session, parts.status());
  if (auto taken = store.commit({state_change::TakeLineage{parts->lineage}}); !taken.ok())
    return report(session, taken.status());
  snapshot = store.snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  plan = plan_for(project, *snapshot, machinery, {}, nullptr, tell_on_stderr());
  if (!plan.ok()) return report_unplanned(session, project, plan.status());
  auto imported = import_all(run, *plan);
  if (!imported.ok()) return report(session, imported.status());
  for (const Unowned& one : imported->left)
    std::fprintf(stderr, "left alone: %s\n", shown(one.text()).c_str());
  std::printf("%zu resources of %s are in the state now: %s\n", imported->addresses.size(),
              shown(*tag).c_str(), shown(join(imported->addresses, ", ")).c_str());
  std::printf("To see how they differ from the file: radlc plan --refresh%s\n", project.words.c_str());
  note_lost_keys(store, session.host.environment());
  return kDone;
}

int run_import(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.all && !options.words.empty())
    return report(session, invalid("--all takes no ADDRESS: it imports all that the file declares"));
  if (!options.all && options.words.size() != 2)
    return report(session, invalid("ADDRESS and ID are required, and nothing else")
                               .with_hint("files come first: radlc import FILE ADDRESS ID"));
  auto opened = ImportRun::open(session, options.project, options.run, "import");
  if (!opened.ok()) return report(session, opened.status());
  Project& project = *(*opened)->project;
  const Machinery& machinery = *(*opened)->machinery;
  Run& run = (*opened)->run;
  if (options.all) return import_everything(session, options, project, machinery, run);
  auto snapshot = run.store->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto plan = plan_for(project, *snapshot, machinery, {}, nullptr, tell_on_stderr());
  if (!plan.ok()) return report_unplanned(session, project, plan.status());
  if (!plan->moves.empty())
    return report(session, invalid("the file has `moved` blocks that no apply has made yet")
                               .with_hint("apply first: radlc apply" + project.words));
  auto record = import_resource(run, *plan, options.words[0], options.words[1]);
  if (!record.ok()) return report(session, record.status());
  std::printf("%s is %s of %s now. In what it differs from the file: radlc plan --refresh%s\n",
              shown(record->address).c_str(), shown(record->id).c_str(), shown(record->cloud).c_str(),
              project.words.c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("import", "Add an existing resource to the state");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project, &options->words);
  command->add_option("ADDRESS", "its address in the file, for example 'worker[0]'");
  command->add_option("ID", "its ID in the cloud");
  command->add_flag("--all", options->all, "rebuild a lost state from the tags in the file's clouds");
  command
      ->add_option("--from", options->from, "with --all: the tag, if several infrastructures have the name")
      ->type_name("TAG");
  add_cloud_option(*command, options->run);
  add_lock_timeout(*command, options->run.lock_timeout);
  return [options, &session] { return run_import(session, *options); };
}

}  // namespace radl::cli::import_command
