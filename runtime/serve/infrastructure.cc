#include "runtime/serve/infrastructure.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/run/event_log.h"
#include "runtime/serve/infrastructure_job.h"
#include "runtime/serve/machine_radl.h"
#include "runtime/serve/run_log.h"
#include "runtime/serve/tosca.h"
#include "runtime/state/place.h"
#include "runtime/state/store.h"

namespace radl::serve {
namespace {

std::optional<Json> attribute_of(const Snapshot& state, const std::string& system, const std::string& name,
                                 size_t index) {
  size_t seen = 0;
  for (const auto& [address, record] : state.resources) {
    if (!record.is_node() || record.system != system || seen++ != index) continue;
    const Json& known = record.attributes;
    for (const char* attribute : {name == "public_address" ? "public_ip" : "private_ip", "host"})
      if (const auto found = known.find(attribute); found != known.end() && !found->is_null()) return *found;
  }
  return {};
}

}  // namespace

Infrastructure::Infrastructure(const driver::Host& host, std::string folder, std::string id)
    : host_(host), folder_(std::move(folder)), id_(std::move(id)) {}

Infrastructure::~Infrastructure() { stop(); }

void Infrastructure::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    end_run_locked();
  }
  changed_.notify_all();
}

Result<std::shared_ptr<Infrastructure>> Infrastructure::create(const Users& users, const std::string& folder,
                                                               const std::string& id,
                                                               const std::string& owner) {
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  std::shared_ptr<Infrastructure> made(new Infrastructure(*users.own().host, folder, id));
  made->created_ = users.own().host->world->clock.wall_seconds();
  // A bucket is reached with the credentials of the service's own user.
  const std::string& states = users.own().states;
  if (!is_bucket_place(states) || owner == users.owner()) made->states_ = states;
  std::lock_guard lock(made->mutex_);
  made->owners_ = {owner};
  if (Status saved = made->save_locked(); !saved.ok()) return saved;
  return made;
}

Result<std::shared_ptr<Infrastructure>> Infrastructure::open(const Users& users, const std::string& folder,
                                                             const std::string& id) {
  auto text = read_file(folder + "/infrastructure.json");
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  auto radl = read_file(folder + "/program.radl");
  if (!radl.ok()) return radl.status();
  auto document = Document::parse(*radl);
  if (!json.is_object() || !document.ok())
    return Status(Code::Corrupt, folder + ": not an infrastructure of radlc");
  if (auto tosca = read_file(folder + "/program.tosca"); tosca.ok()) document->set_tosca(std::move(*tosca));
  auto owners = json.value("owners", std::vector<std::string>());
  if (owners.empty()) owners = {users.owner()};  // of a service that had one user
  std::shared_ptr<Infrastructure> found(new Infrastructure(*users.own().host, folder, id));
  found->document_ = std::move(*document);
  found->created_ = json.value("created", 0.0);
  found->failed_ = json.value("failed", "");
  found->states_ = json.value("states", "");
  found->owners_ = std::move(owners);
  for (const Json& one : json.value("machines", Json::array()))
    found->machines_.push_back({one.value("number", 0), one.value("address", ""), one.value("gone", false)});
  for (size_t i = 0; i < found->machines_.size(); ++i)  // numbers are indices
    if (found->machines_[i].number != int(i))
      return Status(Code::Corrupt, folder + ": its machines are not numbered from 0 on");
  return found;
}

Json Infrastructure::json_locked() const {
  Json machines = Json::array();
  for (const Machine& machine : machines_)
    machines.push_back({{"number", machine.number}, {"address", machine.address}, {"gone", machine.gone}});
  return {{"version", 1},      {"id", id_},         {"created", created_}, {"failed", failed_},
          {"owners", owners_}, {"states", states_}, {"machines", machines}};
}

Status Infrastructure::save_locked() const {
  const Json json = json_locked();
  if (Status saved = write_file_atomic(folder_ + "/program.radl", document_.text(), 0600); !saved.ok())
    return saved;
  if (const std::string tosca = document_.tosca(); !tosca.empty())
    if (Status saved = write_file_atomic(folder_ + "/program.tosca", tosca, 0600); !saved.ok()) return saved;
  return write_file_atomic(folder_ + "/infrastructure.json", json.dump(1) + "\n", 0600);
}

driver::ProjectOptions Infrastructure::project_options() const {
  driver::ProjectOptions options;
  options.files = {folder_ + "/program.radl"};
  options.state = states_.empty() ? folder_ + "/state" : states_ + "/" + id_;
  options.name = "im-" + id_.substr(0, 8);
  return options;
}

std::string Infrastructure::run_folder() const {
  const driver::ProjectOptions options = project_options();
  const std::string work = work_directory_of(options.state, options.name, host_.environment());
  return std::filesystem::path(work).parent_path().string() + "/runs";
}

bool Infrastructure::has_state() const {
  const driver::ProjectOptions options = project_options();
  return Store::open(options.state, options.name, OpenMode::Read, *host_.world).status().code() !=
         Code::NotFound;
}

void Infrastructure::forget_state() const {
  const driver::ProjectOptions options = project_options();
  if (!states_.empty()) (void)remove_state(options.state, options.name, *host_.world);
}

driver::ProjectOptions Infrastructure::state_options() const {
  driver::ProjectOptions options = project_options();
  options.files.clear();
  return options;
}

// ---- what it is ----

std::vector<Machine> Infrastructure::machines() const {
  std::lock_guard lock(mutex_);
  std::vector<Machine> here;
  std::ranges::copy_if(machines_, std::back_inserter(here),
                       [](const Machine& m) { return !m.gone && !m.leaving; });
  return here;
}

std::string Infrastructure::text() const {
  std::lock_guard lock(mutex_);
  return document_.text();
}

std::string Infrastructure::tosca() const {
  std::lock_guard lock(mutex_);
  return document_.tosca();
}

Result<Snapshot> Infrastructure::snapshot() const {
  const driver::ProjectOptions options = project_options();
  return driver::read_snapshot(host_, options.state, options.name);
}

MachineState Infrastructure::state_of(const Machine& machine) const {
  auto now = snapshot();
  std::lock_guard lock(mutex_);
  if (!now.ok()) return MachineState::Unknown;
  return machine_state(*now, machine.address, at_work_ || !jobs_.empty(), deleting_);
}

MachineState Infrastructure::state() const {
  std::vector<MachineState> states;
  for (const Machine& machine : machines()) states.push_back(state_of(machine));
  std::lock_guard lock(mutex_);
  return infrastructure_state(states, at_work_ || !jobs_.empty(),
                              !failed_.empty() || document_.deploys().empty(), deleting_);
}

Json Infrastructure::outputs() const {
  Json out = Json::object();
  auto now = snapshot();
  if (!now.ok()) return out;
  if (const std::string from = tosca(); !from.empty()) {
    auto values = tosca_outputs(from, [&](const std::string& system, const std::string& name, size_t index) {
      return attribute_of(*now, system, name, index);
    });
    return values.ok() ? *values : out;
  }
  for (const OutputRecord& output : now->outputs)
    if (!output.sensitive) out[output.name] = output.value;
  return out;
}

std::string Infrastructure::log() const {
  std::string text = run_log(run_folder(), {});
  std::lock_guard lock(mutex_);
  if (!document_.is_radl2() && document_.deploys().empty())
    text += "Infrastructure without any deploy. Exiting.\n";
  if (!failed_.empty()) text += failed_ + "\n";
  return text;
}

std::string Infrastructure::log_of(const Machine& machine) const {
  return run_log(run_folder(), machine.address);
}

Result<Json> Infrastructure::describe(const Machine& machine, bool with_key) const {
  auto nodes = driver::load_nodes(host_, state_options());
  Snapshot now;
  std::string key;
  if (nodes.ok()) {
    if (with_key) key = driver::login_key_of(*nodes, machine.address);
    now = std::move(nodes->state);
  } else if (nodes.status().code() != Code::NotFound) {
    return nodes.status();
  }
  const std::string state(state_name(state_of(machine)));
  return machine_radl(text(), now, machine.address, state, key);
}

std::vector<std::string> Infrastructure::owners() const {
  std::lock_guard lock(mutex_);
  return owners_;
}

bool Infrastructure::is_touched_by(const Caller& caller) const {
  std::lock_guard lock(mutex_);
  return caller.scope == Scope::Admin || std::ranges::find(owners_, caller.user) != owners_.end();
}

bool Infrastructure::is_here() const {
  auto now = snapshot();
  if (!now.ok()) return now.status().code() != Code::NotFound;
  return std::ranges::any_of(now->resources,
                             [&](const auto& one) { return is_on_this_computer(host_, one.second.cloud); });
}

Status Infrastructure::add_owner(const std::string& user, bool alone) {
  std::lock_guard lock(mutex_);
  const auto before = owners_;
  if (alone) owners_.clear();
  if (std::ranges::find(owners_, user) == owners_.end()) owners_.push_back(user);
  Status saved = save_locked();
  if (!saved.ok()) owners_ = before;
  return saved;
}

}  // namespace radl::serve
