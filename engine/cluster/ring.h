// All-reduce: every worker of a job adds the same numbers with all others, without a server.
//
// The workers stand in a ring, each linked to the next and to the one before. A sum goes around it twice
// (reduce-scatter, then all-gather: Patarasuk and Yuan 2009), so each member sends 2 (n-1)/n of the numbers
// however many members there are. The order of additions depends on n alone, and all members end with the
// same bits, whatever the encoding.
//
// A lost member ends the ring: who notices says so to the next, and so on around.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "engine/cluster/link.h"
#include "engine/cluster/message.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

struct RingOptions {
  uint32_t rank = 0, size = 1;
  uint64_t parameters = 0, statistics = 0;  // of the model
  Milliseconds peer_timeout{10000};
  Numbers encoding = Numbers::Fp32;  // how numbers travel (the sum of each hop is rounded to it)
  radl::Stop stop;
};

class Ring {
 public:
  // Over sessions that are there (ring_session): with worker rank-1 and rank+1, mod size. Both null when size
  // is 1.
  static std::unique_ptr<Ring> make(const RingOptions& options, std::unique_ptr<Session> previous,
                                    std::unique_ptr<Session> next);
  virtual ~Ring() = default;

  // What all start from: rank 0's `state` is handed around to the others.
  virtual Status start(TrainingState& state) = 0;
  // Replaces both spans by the sums over all members (of equal sizes everywhere, at most as much as start()
  // hands around) and gives everybody's note in the order of ranks. Lost: a member is gone. Else the reason
  // for which somebody ended the job.
  virtual Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                            RingNote own) = 0;
  // With both neighbours.
  virtual Traffic traffic() const = 0;
  // The job is done: waits (for a moment) until the neighbours have taken all that was sent.
  virtual void leave() = 0;
  // Ends the job for all, with this reason.
  virtual void stop(const Status& reason) = 0;
};

// A session with a neighbour that has proved to know the key: a fast member may be almost a whole sum ahead
// of a slow one.
std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link);

// What a member knows and is asked for when a ring is made over TCP.
struct RingMember {
  std::vector<std::string> addresses;  // of all workers, "host:port"
  std::string key, job_digest;
  Milliseconds start_timeout{120000};
  // So many strangers, or members of other jobs, were refused since the last call, and what was wrong with
  // the last of them: for progress lines. From several threads, perhaps at once.
  std::function<void(uint64_t count, const std::string& last)> refused;
};

// Listens at this rank's address, connects to the next and waits for the one before. Conflict: the address is
// in use; Invalid: a neighbour has another job; Timeout: it did not appear.
Result<std::unique_ptr<Ring>> connect_ring(const RingOptions& options, const RingMember& member);

}  // namespace radl::engine::cluster
