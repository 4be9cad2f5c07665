#include "runtime/cli/state_places.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "runtime/cli/result_file.h"
#include "runtime/cli/run_options.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/project_state.h"
#include "runtime/state/copy.h"
#include "runtime/state/index.h"

namespace radl::cli {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;
  bool force = false;
  double lock_timeout = 0;

  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(static_cast<long long>(lock_timeout * 1000));
  }
};

int pull(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() != 1) return report(session, invalid("COPY is required: the file to write"));
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  const std::string& file = options.words.front();
  if (Status named = needs_file(file, "COPY"); !named.ok()) return report(session, named);
  auto copy = copied_state(place->directory, place->name, *session.host.world);
  if (!copy.ok()) return report(session, copy.status());
  const ResultFile to{file, options.force};
  if (Status written = write_result(to, *copy, ResultKind::State, 0600); !written.ok())
    return report(session, written);
  std::printf("The state of %s is in %s, a SQLite database.\n", shown(place->name).c_str(),
              shown(file).c_str());
  return kDone;
}

// There may be no state yet at the place: its name comes from --name then.
Result<StatePlace> place_to_push(const Host& host, const ProjectOptions& project) {
  auto directory = state_directory(host, project);
  if (!directory.ok()) return std::move(directory).status();
  if (!project.name.empty()) return StatePlace{*directory, project.name};
  return find_state(host, project);
}

int push(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() != 1) return report(session, invalid("COPY is required: the file to push"));
  auto place = place_to_push(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  const PushOptions how{options.force, options.patience()};
  Status pushed = push_state(options.words.front(), place->directory, place->name, how, *session.host.world);
  if (!pushed.ok()) return report(session, pushed);
  remember_or_note(session.host, place->directory, place->name);
  std::printf("%s is the state of %s in %s now.\n", shown(options.words.front()).c_str(),
              shown(place->name).c_str(), shown(place->directory).c_str());
  return kDone;
}

int migrate(const Session& session, Options& options) {
  if (options.words.size() != 2) return report(session, invalid("FROM and TO are required"));
  ProjectOptions from = options.project;
  from.state = options.words[0];
  auto place = find_state(session.host, from);
  if (!place.ok()) return report(session, place.status());
  const std::string to = state_place(session.host, options.words[1]);
  Status moved = migrate_state(place->directory, to, place->name, options.patience(), *session.host.world);
  if (!moved.ok()) return report(session, moved);
  (void)forget_state(session.host.infrastructures_index(), {place->directory, place->name});
  remember_or_note(session.host, to, place->name);
  std::printf("The state of %s is in %s now, and no more in %s.\n", shown(place->name).c_str(),
              shown(to).c_str(), shown(place->directory).c_str());
  std::printf(
      "Say so to the commands that follow: --state %s, RADL_STATE, or in the file: "
      "contextualize ( option state = '%s' )\n",
      shell_word(to).c_str(), to.c_str());
  return kDone;
}

int adopt(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Write, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  if (Status adopted = (*store)->adopt(); !adopted.ok()) return report(session, adopted);
  remember_or_note(session.host, place->directory, place->name);
  std::printf("The state of %s is in %s now. Any other copy of it must not be used any more.\n",
              shown(place->name).c_str(), shown(place->directory).c_str());
  return kDone;
}

int discard(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  if (Status gone = discard_copy(place->directory, place->name, *session.host.world); !gone.ok())
    return report(session, gone);
  (void)forget_state(session.host.infrastructures_index(), {place->directory, place->name});
  std::printf("Removed the copy of the state of %s; nothing of the infrastructure was touched.\n",
              shown(place->name).c_str());
  return kDone;
}

}  // namespace

void add_state_place_commands(CLI::App& state, Session& session,
                              const std::shared_ptr<std::function<int()>>& chosen) {
  auto options = std::make_shared<Options>();
  auto add = [&](const char* name, const char* text, int (*action)(const Session&, Options&)) {
    CLI::App* command = state.add_subcommand(name, text);
    command->callback([=, &session] { *chosen = [=, &session] { return action(session, *options); }; });
    return command;
  };
  CLI::App* out = add("pull", "Write the state to a file, from wherever it is", pull);
  add_state_options(*out, options->project, &options->words);
  out->add_option("COPY", "the file to write, a SQLite database");
  add_force(*out, options->force);
  CLI::App* in = add("push", "Make a file that pull wrote, or an interrupted run kept, the state", push);
  add_state_options(*in, options->project, &options->words);
  in->add_option("COPY", "the file");
  in->add_flag("--force", options->force, "accept an older state, or that of another infrastructure");
  CLI::App* over =
      add("migrate", "Move the state to another place: a folder, or s3://BUCKET/PREFIX, gs://.., az://..",
          migrate);
  over->add_option("PLACE", options->words, "old and new place")->type_name("FROM TO");
  over->add_option("--name", options->project.name, "name of the infrastructure, if there are several");
  CLI::App* here = add("adopt", "Use a copied state here, after its original was removed", adopt);
  CLI::App* copy = add("discard", "Remove a copy of a state; its original and all resources stay", discard);
  for (CLI::App* either : {here, copy}) add_state_options(*either, options->project, &options->words);
  for (CLI::App* writes : {in, over}) add_lock_timeout(*writes, options->lock_timeout);
}

}  // namespace radl::cli
