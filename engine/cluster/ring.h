// All-reduce: every worker of a job adds the same numbers with all others, without a server.
//
// The workers stand in a ring, each linked to the next and to the one before. A sum goes around it twice
// (reduce-scatter, then all-gather: Patarasuk and Yuan 2009), so each member sends 2 (n-1)/n of the numbers
// however many members there are. The order of additions depends on n alone, and all members end with the
// same bits, whatever the codec (codec.h).
//
// A lost member ends the ring: who notices closes its links, and so on around. The members then form another
// one (party.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "engine/cluster/codec.h"
#include "engine/cluster/link.h"
#include "engine/cluster/message.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

struct RingOptions {
  uint32_t rank = 0, size = 1;
  uint64_t parameters = 0, statistics = 0;  // of the model
  Milliseconds peer_timeout{10000};
  std::shared_ptr<Codec> codec;  // how numbers travel; null: exact
  radl::Stop stop;
};

class Ring {
 public:
  // Over sessions that are there (ring_session): with worker rank-1 and rank+1, mod size. Both null when size
  // is 1.
  static std::unique_ptr<Ring> make(const RingOptions& options, std::unique_ptr<Session> previous,
                                    std::unique_ptr<Session> next);
  virtual ~Ring() = default;

  // What all resume from: the `state` of rank `source` is handed around to the others.
  virtual Status start(TrainingState& state, uint32_t source = 0) = 0;
  // Replaces both spans by the sums over all members (of equal sizes everywhere, at most as much as start()
  // hands around) and gives everybody's note in the order of ranks. Lost: a member is gone. Else the reason
  // for which somebody ended the job.
  virtual Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                            RingNote own) = 0;
  // With both neighbors.
  virtual Traffic traffic() const = 0;
  // Ends the job for all, with this reason.
  virtual void stop(const Status& reason) = 0;
  // Closes the links, from any thread: the neighbors notice at once, and calls under way fail.
  virtual void cut() = 0;
  // Which neighbor's link ended because nothing was heard: -1 the one before, 1 the next; 0: neither.
  virtual int silent_neighbor() const = 0;
};

// A session with a neighbor that has proved to know the key: a fast member may be almost a whole sum ahead
// of a slow one.
std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link);

}  // namespace radl::engine::cluster
