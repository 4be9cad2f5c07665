// Takes something that exists into the state.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"

namespace radl::cli::import_command {
namespace {

struct Options {
  ProjectOptions project;
  RunOptions run;
  std::vector<std::string> words;  // FILE..., ADDRESS, ID
};

int run_import(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() != 2)
    return report(session, invalid("ADDRESS and ID are required, and nothing else")
                               .with_hint("files come first: radlc import FILE ADDRESS ID"));
  auto loaded = load_project(session, options.project);
  if (!loaded.ok()) return report(session, loaded.status());
  Project& project = **loaded;
  auto machinery = make_machinery(options.run);
  if (!machinery.ok()) return report(session, machinery.status());
  auto store = open_locked(project.state_directory, project.compiled.program.name, OpenMode::Create, "import",
                           options.run.lock_timeout);
  if (!store.ok()) return report(session, store.status());
  Cancellation cancellation;
  Run run = (*machinery)->run();
  run.store = store->get();
  run.program = &project.compiled.program;
  run.secrets = &project.compiled.secrets;
  run.cancellation = &cancellation;
  if (Status recovered = recover_left(run); !recovered.ok()) return report(session, recovered);
  remember(project.state_directory, project.compiled.program.name);
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto plan = plan_for(project, *snapshot, **machinery, {}, nullptr);
  if (!plan.ok()) return report(session, plan.status());
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
  CLI::App* command = app.add_subcommand("import", "Take something that exists into the state");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project, &options->words);
  command->add_option("ADDRESS", "what it is in the file, for example 'worker[0]'");
  command->add_option("ID", "what its cloud calls it");
  add_cloud_option(*command, options->run);
  add_lock_timeout(*command, options->run.lock_timeout);
  return [options, &session] { return run_import(session, *options); };
}

}  // namespace radl::cli::import_command
