// Everything that one process of a run uses: clouds, machines, a state, a clock and randomness. Internal to
// runtime/trial.
//
// A run without kills has a single instance. With kills, each phase has its own, and restores clouds, state
// and executed steps from files.
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

inline constexpr double kTrialBegins = 1'800'000'000;  // wall-clock seconds

// Constant for all processes of a run.
struct Setting {
  const TrialSubject& subject;
  std::string folder;  // of this run only
  uint64_t seed = 1;
  simulated::Faults faults;
  bool kill = false;
  bool told = false;  // record events
  const RealParts* real = nullptr;
};

// The point at which a phase is disturbed: the n-th; there is one before and after each cloud call, journal
// write and step.
struct Strike {
  enum class How { None, Stop, StopNow, Kill };  // Ctrl-C; twice; SIGKILL
  How how = How::None;
  long long at = 0;
};

class TrialWorld {
 public:
  // `process`: the process's number in its run, which selects its random numbers. Its time begins at `wall`,
  // or at the end of the clouds' files if that is later.
  static Result<std::unique_ptr<TrialWorld>> make(const Setting& setting, uint64_t process,
                                                  double wall = kTrialBegins);

  VirtualClock clock;
  SeededRandom random;
  World world;
  CloudSet clouds;
  std::vector<simulated::SimulatedCloud*> all_clouds;
  std::unique_ptr<SimulatedMachines> machines;
  simulated::Draws draws;

  // For the current phase.
  Cancellation* cancellation = nullptr;
  void aim(const Strike& strike);
  void disarm();
  bool struck() const { return struck_; }

  simulated::SimulatedCloud* cloud_of(const ir::Node& node);
  simulated::SimulatedCloud* cloud_named(const std::string& id);
  long long calls();
  void set_faults(const simulated::Faults& faults);
  // Records a line with the time since the start of the run.
  void tell(const std::string& line);
  // Removes the real nodes of deleted machines; with `all`, all real nodes.
  Status remove_real_nodes(bool all);
  bool told() const { return setting_.told; }
  // `copy`: another folder of states than the run's own; "": the run's own.
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

// Non-negative; a different value for each (seed, number).
uint64_t mixed(uint64_t seed, uint64_t number);

std::string events_path(const Setting& setting);

}  // namespace radl
