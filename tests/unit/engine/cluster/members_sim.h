// The membership protocol in virtual time: the real Membership and Attendance, with simulated links,
// computing and faults. A seed determines all of a run.
//
// Links are FIFO. They break, they do not lose frames: when one direction is silent for longer than kSilence,
// or a member ends, both ends learn that the link is lost. Faults: members are killed, stopped for a while,
// started again, added, and cut off from others in one or both directions; members that join open their data
// first, and some hang there. The chief is a member like the others: it is killed, stopped and cut off as
// well.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/cluster/members.h"

namespace radl::engine::cluster::sim {

inline constexpr double kSilence = 0.5;    // seconds after which a silent link is lost
inline constexpr double kFormation = 1.0;  // in which the neighbors of a view must have linked up
inline constexpr double kEnd = 120;        // a job that goes on until then makes no progress

// What is broken on purpose: the checks must find each.
enum class Mutant {
  None,
  NobodyFreezes,        // Freeze is not sent
  FramesOfAnyView,      // the epoch of a frame is not compared
  LeastBorderWins,      // all resume from the border that is furthest back
  NoHandOver,           // members resume from their own borders
  DoesNotWait,          // the chief decides while members are still in their exchange
  GoesOnAfterStanding,  // a member takes frames after it has reported its border
  KeepsHalfAnUpdate,    // a member that leaves its exchange has applied what it had
  LossesAreIgnored,     // the chief does not hear of lost links
  NobodyIsBlamed,       // members do not say whom they cannot reach
  BordersOfAnyView,     // the epoch of a border is not compared
  WaitsForArrivals,     // no view is decided while somebody who has arrived is not ready
  NobodyLeads,          // the chief's duties end with it
  LeadsWithoutMost,     // whoever takes over takes silent members for ended ones
  RestartedChiefLeads,  // worker 0 leads whenever it starts
};

// Empty: the job ended well and every property held. Else which did not hold.
struct Result {
  std::string broken;
  double seconds = 0;  // virtual
  uint64_t views = 0;
};

// The job of this seed. Throws nothing; the same arguments give the same result.
Result run(uint64_t seed, Mutant mutant = Mutant::None);

}  // namespace radl::engine::cluster::sim
