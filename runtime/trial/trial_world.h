// All that one process of a run works with: clouds, machines, a state, a clock and chance. Internal to
// runtime/trial.
//
// In a run without kills there is one for the whole run. With kills each phase has its own, and clouds, state
// and what ran are taken up from files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/clouds/simulated/simulated_cloud.h"
#include "runtime/exec/executor.h"
#include "runtime/trial/machines.h"
#include "runtime/trial/trial.h"
#include "runtime/trial/virtual_world.h"

namespace radl {

inline constexpr double kTrialBegins = 1'800'000'000;  // wall seconds

// Of one run, the same in all of its processes.
struct Setting {
  const TrialSubject& subject;
  std::string folder;  // of this run alone
  uint64_t seed = 1;
  simulated::Faults faults;
  bool kill = false;
  bool told = false;  // events are kept
  const RealParts* real = nullptr;
};

// Where a phase is disturbed: at the n-th point, of which there is one before and after each call to a cloud,
// each write of the journal and each step.
struct Strike {
  enum class How { None, Stop, StopNow, Kill };  // Ctrl-C; twice; SIGKILL
  How how = How::None;
  long long at = 0;
};

class TrialWorld {
 public:
  // `process` numbers the processes of a run: each has other chances. Its time begins at `wall`, or where the
  // clouds' files end if that is later.
  static Result<std::unique_ptr<TrialWorld>> make(const Setting& setting, uint64_t process,
                                                  double wall = kTrialBegins);

  VirtualClock clock;
  SeededRandom random;
  World world;
  CloudSet clouds;
  std::vector<simulated::SimulatedCloud*> all_clouds;
  std::unique_ptr<SimulatedMachines> machines;
  simulated::Draws draws;

  // Of the phase that runs.
  Cancellation* cancellation = nullptr;
  void aim(const Strike& strike);
  void disarm();
  bool struck() const { return struck_; }

  simulated::SimulatedCloud* cloud_of(const ir::Node& node);
  simulated::SimulatedCloud* cloud_named(const std::string& id);
  long long calls();
  void set_faults(const simulated::Faults& faults);
  // A line of what happens, with the time since the run began.
  void tell(const std::string& line);
  // Real nodes of machines that are gone go too; with `all` every one.
  Status remove_real_nodes(bool all);
  bool told() const { return setting_.told; }
  // `copy`: another folder of states than the run's own; "": that.
  Result<std::unique_ptr<Store>> open_store(OpenMode mode, const std::string& copy = "");
  std::string state_directory() const { return setting_.folder + "/state"; }

 private:
  TrialWorld(const Setting& setting, uint64_t process, double begins);
  Status open_clouds();
  void point(const std::string& what);

  const Setting& setting_;
  Strike strike_;
  long long points_ = 0;
  bool struck_ = false;
  std::vector<std::unique_ptr<simulated::SimulatedCloud>> owned_;
};

// 0 <= it; other for each (seed, number).
uint64_t mixed(uint64_t seed, uint64_t number);

std::string events_path(const Setting& setting);

}  // namespace radl
