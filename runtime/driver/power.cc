#include "runtime/driver/power.h"

#include <functional>

#include "runtime/driver/project_state.h"
#include "runtime/driver/states.h"

namespace radl::driver {
namespace {

// With the state open and locked, and what an interrupted run left looked up.
Status with_state(const Host& host, const PowerRequest& request, const char* command,
                  Cancellation& cancellation, const Tell& tell,
                  const std::function<Status(ActiveRun&)>& work) {
  auto place = find_state(host, request.project);
  if (!place.ok()) return place.status();
  auto machinery = make_machinery(host, request.machinery, cancellation.finishing());
  if (!machinery.ok()) return machinery.status();
  const ir::Secrets secrets;
  Run parts = (*machinery)->run();
  parts.secrets = &secrets;
  auto run = begin_run(host, parts, place->directory, place->name, OpenMode::Write, command,
                       request.lock_timeout, cancellation, tell);
  if (!run.ok()) return run.status();
  if (Status recovered = recover_left(**run, tell); !recovered.ok()) return recovered;
  return work(**run);
}

const char* command_of(PowerChange change) {
  return change == PowerChange::Stop ? "stop" : change == PowerChange::Start ? "start" : "reboot";
}

}  // namespace

Result<std::vector<PowerOutcome>> change_power(const Host& host, const PowerRequest& request,
                                               const std::vector<std::string>& addresses, PowerChange change,
                                               Cancellation& cancellation, const Tell& tell) {
  std::vector<PowerOutcome> outcomes;
  Status done = with_state(host, request, command_of(change), cancellation, tell, [&](ActiveRun& run) {
    outcomes = run.change_power(addresses, change);
    return Status();
  });
  if (!done.ok()) return done;
  return outcomes;
}

Result<std::string> make_image(const Host& host, const PowerRequest& request, const std::string& address,
                               const std::string& name, Cancellation& cancellation, const Tell& tell) {
  Result<std::string> image = Status(Code::Internal, "");
  Status done = with_state(host, request, "image", cancellation, tell, [&](ActiveRun& run) {
    image = run.make_image(address, name);
    return image.status();
  });
  if (!done.ok()) return done;
  return image;
}

}  // namespace radl::driver
