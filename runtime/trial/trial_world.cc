#include "runtime/trial/trial_world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "common/files.h"
#include "runtime/clouds/simulated/prices.h"
#include "runtime/trial/program.h"
#include "runtime/trial/watched_store.h"

namespace radl {

using simulated::SimulatedCloud;

uint64_t mixed(uint64_t seed, uint64_t number) {
  return simulated::Draws(seed ^ (number * 0x9e3779b97f4a7c15 + 0x5851f42d4c957f2d)).next();
}

std::string events_path(const Setting& setting) { return setting.folder + "/events"; }

TrialWorld::TrialWorld(const Setting& setting, uint64_t process, double begins)
    : clock(begins),
      random(mixed(setting.seed, 2 * process)),
      world{clock, setting.subject.host.files, random},
      draws(mixed(setting.seed, 2 * process + 1)),
      setting_(setting) {}

Result<std::unique_ptr<TrialWorld>> TrialWorld::make(const Setting& setting, uint64_t process, double wall) {
  std::unique_ptr<TrialWorld> made(new TrialWorld(setting, process, wall));
  if (Status opened = made->open_clouds(); !opened.ok()) return opened;
  for (SimulatedCloud* cloud : made->all_clouds) {
    double ahead = cloud->last_time() - made->clock.wall_seconds();
    made->clock.sleep(std::chrono::milliseconds(std::llround(ahead * 1000)));
  }
  made->machines = std::make_unique<SimulatedMachines>(
      [world = made.get()](const ir::Node& node) { return world->cloud_of(node); }, made->clock,
      made->draws.next(), setting.faults,
      [world = made.get()](const std::string& what) { world->point(what); },
      setting.kill ? setting.folder + "/ran" : "",
      setting.real ? std::make_unique<RealMachines>(*setting.real, setting.folder) : nullptr);
  return made;
}

// The first cloud that a program names is one region, the next one the other.
Status TrialWorld::open_clouds() {
  std::vector<std::string> names = clouds_named(setting_.subject.program);
  for (size_t region = 0; region < std::min<size_t>(std::max<size_t>(names.size(), 1), 2); ++region) {
    simulated::Options options;
    options.id.region = simulated::kRegions[region];
    options.seed = mixed(setting_.seed, 1000 + region);
    options.faults = setting_.faults;
    if (setting_.kill) options.file = setting_.folder + "/cloud-" + options.id.region;
    options.on_call = [this](const simulated::Call& call) {
      bool done = call.moment == simulated::Call::Moment::Done;
      point(fmt::format("{} {} {}{}", done ? "cloud:" : "cloud: before", call.kind, call.address,
                        done ? ": " + call.outcome : ""));
    };
    Result<std::unique_ptr<SimulatedCloud>> cloud = SimulatedCloud::make(options, clock);
    if (!cloud.ok()) return cloud.status();
    clouds.add(**cloud);
    if (region == 0) clouds.fallback = (*cloud)->id().text();
    all_clouds.push_back(cloud->get());
    owned_.push_back(std::move(*cloud));
  }
  for (size_t i = 0; i < names.size(); ++i)
    clouds.by_name[names[i]] = all_clouds[i % all_clouds.size()]->id().text();
  return {};
}

SimulatedCloud* TrialWorld::cloud_named(const std::string& id) {
  for (SimulatedCloud* cloud : all_clouds)
    if (cloud->id().text() == id) return cloud;
  return nullptr;
}

SimulatedCloud* TrialWorld::cloud_of(const ir::Node& node) { return cloud_named(clouds.id_for(node)); }

long long TrialWorld::calls() {
  long long sum = 0;
  for (SimulatedCloud* cloud : all_clouds)
    for (const auto& [kind, count] : cloud->calls()) sum += count;
  return sum;
}

void TrialWorld::set_faults(const simulated::Faults& faults) {
  for (SimulatedCloud* cloud : all_clouds) cloud->set_faults(faults);
  machines->set_faults(faults);
}

void TrialWorld::aim(const Strike& strike) {
  strike_ = strike;
  points_ = 0;
  struck_ = false;
}

void TrialWorld::disarm() {
  strike_ = {};
  cancellation = nullptr;
}

void TrialWorld::point(const std::string& what) {
  if (what.find(" before ") == std::string::npos && !what.starts_with("before ")) tell(what);
  if (strike_.how == Strike::How::None || ++points_ != strike_.at) return;
  struck_ = true;
  if (strike_.how == Strike::How::Kill) {
    tell("KILL at " + what);
    ::kill(::getpid(), SIGKILL);
  }
  tell((strike_.how == Strike::How::Stop ? "Ctrl-C at " : "Ctrl-C twice at ") + what);
  if (!cancellation) return;
  cancellation->request();
  if (strike_.how == Strike::How::StopNow) cancellation->request();
}

Status TrialWorld::remove_real_nodes(bool all) {
  if (!machines->real()) return {};
  std::set<std::string> there;
  for (SimulatedCloud* cloud : all_clouds) {
    for (const std::string& infrastructure : cloud->infrastructures()) {
      for (const Seen& seen : cloud->all_of(infrastructure)) {
        if (!all && seen.phase != ResourcePhase::Leaving) there.insert(seen.id);
      }
    }
  }
  return machines->real()->keep_only(there);
}

// One write a line: a kill leaves whole lines.
void TrialWorld::tell(const std::string& line) {
  if (!setting_.told) return;
  double seconds = clock.wall_seconds() - kTrialBegins;
  std::string text =
      fmt::format("{:3}:{:04.1f}  {}\n", static_cast<long long>(seconds) / 60,
                  seconds - static_cast<double>(static_cast<long long>(seconds) / 60 * 60), line);
  int file = ::open(events_path(setting_).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;  // this line is lost, and nothing else
  (void)write_all(file, text, events_path(setting_));
  ::close(file);
}

Result<std::unique_ptr<Store>> TrialWorld::open_store(OpenMode mode, const std::string& copy) {
  Result<std::unique_ptr<Store>> store =
      Store::open(copy.empty() ? state_directory() : copy, setting_.subject.program.name, mode, world);
  if (!store.ok()) return store;
  return std::unique_ptr<Store>(
      std::make_unique<WatchedStore>(std::move(*store), [this](const std::string& what) { point(what); }));
}

}  // namespace radl
