#include "runtime/driver/states.h"

#include <fmt/format.h>

#include "runtime/driver/shell_word.h"
#include "runtime/figures/runs_file.h"
#include "runtime/state/index.h"

namespace radl::driver {
namespace {

// The run is over: whoever waits for its end does not wait for another one that holds the file.
constexpr std::chrono::seconds kForFigures{2};

// The hint names the state, so that it can be typed in any folder.
Status held_elsewhere(const Host& host, Status held, const RunStart& start) {
  auto store = Store::open(start.directory, start.name, OpenMode::Read, *host.world);
  if (!store.ok()) return held;
  auto holder = (*store)->lock_holder();
  if (!holder.ok() || !*holder) return held;
  return std::move(held).with_hint(fmt::format(
      "wait for it with --lock-timeout SECONDS, or, when it is gone for good, `radlc state unlock "
      "{} --state {} --name {}`",
      (*holder)->id, shell_word(start.directory), shell_word(start.name)));
}

RunStart start_of(const Host& host, const std::string& directory, const std::string& name, OpenMode mode,
                  const std::string& command, double timeout_seconds, const Tell& tell) {
  return {directory,
          name,
          mode,
          command,
          std::chrono::milliseconds(static_cast<long long>(timeout_seconds * 1000)),
          tell_waiting(tell),
          host.principal};
}

Status recover_left(Store& store, const Tell& tell, const std::function<Result<Recovery>()>& recover_now) {
  auto intents = store.open_intents();
  if (!intents.ok()) return std::move(intents).status();
  if (intents->empty()) return {};
  tell({Notice::Kind::Progress,
        fmt::format("an earlier run was interrupted: looking up what it left ({} open)", intents->size())});
  auto recovered = recover_now();
  if (!recovered.ok()) return std::move(recovered).status();
  tell({Notice::Kind::Progress,
        fmt::format("  {} adopted, {} removed, {} repeated, {} closed", recovered->adopted,
                    recovered->removed, recovered->repeated, recovered->closed)});
  return {};
}

}  // namespace

std::function<void(const LockInfo&)> tell_waiting(const Tell& tell) {
  return [tell](const LockInfo& holder) {
    tell({Notice::Kind::Progress, "waiting for the lock: " + holder.text()});
  };
}

Result<Snapshot> read_snapshot(const Host& host, const std::string& directory, const std::string& name,
                               const Stop& stop) {
  auto store = Store::open(directory, name, OpenMode::Read, *host.world, stop);
  if (store.ok()) return (*store)->snapshot();
  if (store.status().code() != Code::NotFound) return std::move(store).status();
  Snapshot empty;
  empty.name = name;
  return empty;
}

Result<std::unique_ptr<Store>> open_locked(const Host& host, const std::string& directory,
                                           const std::string& name, OpenMode mode, const std::string& command,
                                           double timeout_seconds, const Tell& tell) {
  const RunStart start = start_of(host, directory, name, mode, command, timeout_seconds, tell);
  auto store = radl::open_locked(start, *host.world);
  if (store.ok() || store.status().code() != Code::Conflict) return store;
  return held_elsewhere(host, std::move(store).status(), start);
}

Result<std::unique_ptr<ActiveRun>> begin_run(const Host& host, const Run& parts, const std::string& directory,
                                             const std::string& name, OpenMode mode,
                                             const std::string& command, double timeout_seconds,
                                             Cancellation& cancellation, const Tell& tell) {
  const RunStart start = start_of(host, directory, name, mode, command, timeout_seconds, tell);
  auto run = ActiveRun::begin(parts, start, cancellation);
  if (run.ok() || run.status().code() != Code::Conflict) return run;
  return held_elsewhere(host, std::move(run).status(), start);
}

Status take_over_state(const Host& host, const std::string& directory, const std::string& name) {
  auto store = Store::open(directory, name, OpenMode::Write, *host.world);
  return store.ok() ? (*store)->adopt() : std::move(store).status();
}

Status recover_left(const Run& run, const Tell& tell) {
  return recover_left(*run.store, tell, [&] { return recover(run); });
}

Status recover_left(ActiveRun& run, const Tell& tell) {
  return recover_left(run.store(), tell, [&] { return run.recover(); });
}

Status remember(const Host& host, const std::string& directory, const std::string& name) {
  const std::string index = host.infrastructures_index();
  return index.empty() ? not_found("there is no home folder") : remember_state(index, {directory, name});
}

Status keep_figures(const Host& host, RunFigures figures, const std::string& state_directory) {
  figures.directory = state_directory;
  const std::string path = host.runs_file();
  return path.empty() ? not_found("there is no home folder")
                      : append_run(path, figures, Stop().within(kForFigures));
}

}  // namespace radl::driver
