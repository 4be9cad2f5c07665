// All-reduce: the workers of a job add their numbers without a server.
//
// Each worker in the ring is linked to the next and the previous one. A sum goes around twice
// (reduce-scatter, then all-gather: Patarasuk and Yuan 2009), so each member sends 2 (n-1)/n of the numbers,
// however many members there are. The order of additions depends only on n, and all members get the same
// bits, whatever the codec (codec.h).
//
// A lost member ends the ring: the first to notice closes its links, and so on around the ring. The members
// then form a new ring (party.h).
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
  std::shared_ptr<Codec> codec;  // encoding of the numbers; null: exact
  radl::Stop stop;
};

class Ring {
 public:
  // Uses existing sessions (ring_session) with worker rank-1 and rank+1, mod size. Both are null if size is
  // 1.
  static std::unique_ptr<Ring> make(const RingOptions& options, std::unique_ptr<Session> previous,
                                    std::unique_ptr<Session> next);
  virtual ~Ring() = default;

  // Distributes the state to resume from: passes the `state` of rank `source` to the others.
  virtual Status start(TrainingState& state, uint32_t source = 0) = 0;
  // Replaces both spans by the sums over all members and returns all notes ordered by rank. Sizes must be
  // equal everywhere and no larger than in start(). Lost: a member is gone. Other errors: the reason why a
  // member ended the job.
  virtual Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                            RingNote own) = 0;
  // With both neighbors.
  virtual Traffic traffic() const = 0;
  // Ends the job for all members, with this reason.
  virtual void stop(const Status& reason) = 0;
  // Closes the links, from any thread. The neighbors notice immediately, and running calls fail.
  virtual void cut() = 0;
  // The neighbor whose link ended because of silence: -1 previous, 1 next, 0 neither.
  virtual int silent_neighbor() const = 0;
};

// A session with a neighbor that has proved to know the key. Buffers enough for a fast member that is almost
// a whole sum ahead of a slow one.
std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link);

}  // namespace radl::engine::cluster
