#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/state_places.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/project_state.h"
#include "runtime/plan/render.h"
#include "runtime/plan/step_facts.h"

namespace radl::cli::state_command {
namespace {

struct Options {
  ProjectOptions project;
  double lock_timeout = 0;
  bool json = false;
  RunOptions run;                  // of rm: which accounts
  bool keep_tags = false;          // of rm
  std::vector<std::string> words;  // FILE..., then what the command is about
};

// The words after the files. Invalid: the wrong number of words.
Result<std::vector<std::string>> words_of(Options& options, size_t least, size_t most, const char* what) {
  take_files(options.words, options.project);
  if (options.words.size() < least) return invalid(std::string(what) + " is required");
  if (options.words.size() > most) return invalid("not understood: " + options.words.back());
  return options.words;
}

// Opens the state under its lock, does `change`, and closes the run with a line of history.
int with_state(const Session& session, const Options& options, const std::string& command,
               const std::function<Status(Store&, const Snapshot&)>& change) {
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store =
      open_locked(session, place->directory, place->name, OpenMode::Write, command, options.lock_timeout);
  if (!store.ok()) return report(session, store.status());
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  if (Status changed = change(**store, *snapshot); !changed.ok()) return report(session, changed);
  return kDone;
}

Status unknown_name(const Options& options, const std::string& name) {
  return not_found("the state has no " + name)
      .with_hint("`radlc state list" + project_words(options.project) + "` shows what it has");
}

int list(const Session& session, Options& options) {
  if (auto none = words_of(options, 0, 0, ""); !none.ok()) return report(session, none.status());
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(session.host, place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  for (const auto& [address, resource] : snapshot->resources) std::printf("%s\n", address.c_str());
  for (const auto& [id, step] : snapshot->steps) std::printf("%s\n", id.c_str());
  return kDone;
}

// A line a field; an object's own fields below its name.
void print_fields(const Json& json, const std::string& indent) {
  size_t widest = 0;
  for (const auto& [name, value] : json.items()) widest = std::max(widest, name.size());
  for (const auto& [name, value] : json.items()) {
    const bool inner = value.is_object() && !value.empty() && !ir::is_unknown(value) && !ir::is_secret(value);
    std::string line =
        fmt::format("{}{:<{}}  {}", indent, name, widest, inner ? "" : render_value(value, name));
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", shown(line).c_str());
    if (inner) print_fields(value, indent + "  ");
  }
}

// As one of the lists of the state's JSON has it.
const Json* entry_of(const Json& list, const char* key, const std::string& name) {
  for (const Json& entry : list) {
    if (entry.at(key) == name) return &entry;
  }
  return nullptr;
}

int show(const Session& session, Options& options) {
  auto words = words_of(options, 1, 1, "ADDRESS");
  if (!words.ok()) return report(session, words.status());
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(session.host, place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  const Json state = whole_json(*snapshot);
  const std::string& name = words->front();
  const Json* found = entry_of(state.at("resources"), "address", name);
  if (!found) found = entry_of(state.at("steps"), "id", name);
  if (!found) return report(session, unknown_name(options, name));
  if (options.json) {
    std::printf("%s\n", found->dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  Json fields = *found;
  for (const char* time : {"created_at", "finished_at"}) {
    if (fields.contains(time)) fields[time] = utc_time(fields[time].get<double>());
  }
  if (fields.contains("price_per_hour"))
    fields["price_per_hour"] = fields["price_per_hour"].get<Money>().text();
  print_fields(fields, "");
  return kDone;
}

int write_out(const Session& session, Options& options) {
  if (auto none = words_of(options, 0, 0, ""); !none.ok()) return report(session, none.status());
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto runs = (*store)->history(std::numeric_limits<int>::max());
  if (!runs.ok()) return report(session, runs.status());
  Json state = whole_json(*snapshot);
  state["history"] = Json::array();
  for (const HistoryEntry& run : *runs) {
    state["history"].push_back({{"serial", run.serial},
                                {"time", run.time},
                                {"command", run.command},
                                {"summary", run.summary},
                                {"source_digest", run.source_digest}});
  }
  std::printf("%s\n", state.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return kDone;
}

// Takes radlc's tags off it, so that nothing of radlc's goes by them any more, and forgets it.
Result<std::vector<StillMarked>> release(const Session& session, const Options& options, Store& store,
                                         const std::string& address) {
  auto machinery = make_machinery(session.host, options.run);
  if (!machinery.ok()) return std::move(machinery).status();
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  Run run = (*machinery)->run();
  run.store = &store;
  run.cancellation = &cancellation;
  return release_resource(run, address, options.keep_tags);
}

// What is forgotten could no longer be ended.
Status check_ended(const Options& options, const StepRecord& step, const Snapshot& snapshot) {
  LeftRunning left = left_running(step, snapshot);
  left.newest.insert(left.newest.end(), left.older.begin(), left.older.end());
  if (left.newest.empty()) return {};
  return Status(Code::Conflict, fmt::format("{} may still run on {}", step.id, fmt::join(left.newest, ", ")))
      .with_hint(fmt::format("end it first: `radlc cancel{} {}`", project_words(options.project), step.id));
}

int remove(const Session& session, Options& options) {
  auto words = words_of(options, 1, 1, "ADDRESS");
  if (!words.ok()) return report(session, words.status());
  const std::string& address = words->front();
  std::string id;  // of a resource, which continues to exist
  std::vector<StillMarked> marked;
  const int done =
      with_state(session, options, "state rm", [&](Store& store, const Snapshot& snapshot) -> Status {
        if (auto step = snapshot.steps.find(address); step != snapshot.steps.end()) {
          if (Status ended = check_ended(options, step->second, snapshot); !ended.ok()) return ended;
          return store.forget_step(address);
        }
        auto record = snapshot.resources.find(address);
        if (record == snapshot.resources.end()) return unknown_name(options, address);
        id = record->second.id;
        auto released = release(session, options, store, address);
        if (released.ok()) marked = std::move(*released);
        return released.status();
      });
  if (done != kDone) return done;
  if (id.empty())
    std::printf("Removed %s from the state; the next apply runs it again\n", shown(address).c_str());
  else
    std::printf(
        "Released %s: %s keeps running, and radlc never touches it again unless `radlc import` adds it\n",
        shown(address).c_str(), shown(id).c_str());
  for (const StillMarked& one : marked)
    std::printf(
        "%s (%s of %s) keeps radlc's mark, which its cloud never changes: `radlc destroy%s --also %s` "
        "deletes "
        "it, or delete it with the cloud's own tools\n",
        shown(one.address).c_str(), shown(one.id).c_str(), shown(one.cloud).c_str(),
        project_words(options.project).c_str(), shell_word(one.id).c_str());
  return kDone;
}

int move(const Session& session, Options& options) {
  auto words = words_of(options, 2, 2, "FROM and TO");
  if (!words.ok()) return report(session, words.status());
  const std::string &from = words->front(), &to = words->back();
  const int done = with_state(session, options, "state mv",
                              [&](Store& store, const Snapshot&) { return store.move(from, to); });
  if (done == kDone) std::printf("Moved %s to %s\n", shown(from).c_str(), shown(to).c_str());
  return done;
}

int history(const Session& session, Options& options) {
  if (auto none = words_of(options, 0, 0, ""); !none.ok()) return report(session, none.status());
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  auto entries = (*store)->history(100);
  if (!entries.ok()) return report(session, entries.status());
  for (const HistoryEntry& entry : *entries) {
    std::printf("%6lld  %s  %-9s %s\n", entry.serial, utc_time(entry.time).c_str(), entry.command.c_str(),
                entry.summary.c_str());
  }
  return kDone;
}

int unlock(const Session& session, Options& options) {
  auto words = words_of(options, 0, 1, "ID");
  if (!words.ok()) return report(session, words.status());
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Write, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  if (words->empty()) {
    auto holder = (*store)->lock_holder();
    if (!holder.ok()) return report(session, holder.status());
    std::printf("%s\n", *holder ? ((*holder)->id + "  " + (*holder)->text()).c_str() : "not locked");
    return kDone;
  }
  Status freed = (*store)->force_unlock(words->front());
  if (!freed.ok()) return report(session, freed);
  std::printf("Unlocked\n");
  return kDone;
}

CLI::App* add(CLI::App& parent, const char* name, const char* text, const std::shared_ptr<Options>& options,
              std::function<int()>& chosen, std::function<int()> action) {
  CLI::App* command = parent.add_subcommand(name, text);
  add_state_options(*command, options->project, &options->words);
  command->callback([&chosen, action] { chosen = action; });
  return command;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("state", "Inspect the state, or repair it by hand");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  auto chosen = std::make_shared<std::function<int()>>();
  add(*command, "list", "List every resource and step", options, *chosen,
      [=, &session] { return list(session, *options); });
  CLI::App* one = add(*command, "show", "Show what the state has about a resource or step", options, *chosen,
                      [=, &session] { return show(session, *options); });
  one->add_option("ADDRESS", "for example 'worker[0]' or 'worker[0]/tools'");
  one->add_flag("--json", options->json, "as JSON");
  add(*command, "export", "Print the state as JSON (docs/state.md), without secrets", options, *chosen,
      [=, &session] { return write_out(session, *options); });
  add(*command, "history", "List the runs that changed the state", options, *chosen,
      [=, &session] { return history(session, *options); });
  CLI::App* forget = add(*command, "rm", "Release a resource, which keeps running, or forget a step", options,
                         *chosen, [=, &session] { return remove(session, *options); });
  forget->add_option("ADDRESS", "for example 'worker[0]' or 'worker[0]/tools'");
  add_cloud_option(*forget, options->run);
  forget->add_flag("--keep-tags", options->keep_tags,
                   "send no request to the cloud: the resource keeps radlc's tags");
  CLI::App* rename = add(*command, "mv", "Rename a node or a system without replacing it", options, *chosen,
                         [=, &session] { return move(session, *options); });
  rename->add_option("FROM", "current address or system");
  rename->add_option("TO", "new address or system");
  for (CLI::App* writes : {forget, rename}) add_lock_timeout(*writes, options->lock_timeout);
  add(*command, "unlock", "Show who holds the lock; with its ID, remove it", options, *chosen, [=, &session] {
    return unlock(session, *options);
  })->add_option("ID", "ID of the lock");
  add_state_place_commands(*command, session, chosen);
  return [chosen] { return (*chosen)(); };
}

}  // namespace radl::cli::state_command
