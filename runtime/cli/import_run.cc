#include "runtime/cli/import_run.h"

namespace radl::cli {

Result<std::unique_ptr<ImportRun>> ImportRun::open(const Session& session, const ProjectOptions& project,
                                                   const RunOptions& options, const char* command) {
  auto made = std::make_unique<ImportRun>();
  auto loaded = load_project(session, project);
  if (!loaded.ok()) return loaded.status();
  made->project = std::move(*loaded);
  const std::string& directory = made->project->state_directory;
  const std::string& name = made->project->compiled.program.name;
  auto machinery = make_machinery(session.host, options);
  if (!machinery.ok()) return machinery.status();
  made->machinery = std::move(*machinery);
  auto store = open_locked(session, directory, name, OpenMode::Create, command, options.lock_timeout);
  if (!store.ok()) return store.status();
  made->store = std::move(*store);
  made->run = made->machinery->run();
  made->run.store = made->store.get();
  made->run.program = &made->project->compiled.program;
  made->run.secrets = &made->project->compiled.secrets;
  made->run.cancellation = &made->cancellation;
  if (Status recovered = recover_left(made->run, tell_on_stderr()); !recovered.ok()) return recovered;
  remember_or_note(session.host, directory, name);
  return made;
}

}  // namespace radl::cli
