// All-reduce: the workers of a job add their numbers without a server.
//
// Two ways, with the same interface. All members get the same bits, whatever the codec (codec.h), and the
// exact sums of both ways are the same bits too: piece i is added in the order of ranks i, i+1, ..., i-1.
//
//   direct  Each member owns 1/n of the numbers, and is linked to all others: it gets their parts of its
//           piece, and sends them the sum. A sum takes two one-way delays, however many members there are.
//   ring    Each member is linked to the next and the previous one. A sum goes around twice (reduce-scatter,
//           then all-gather: Patarasuk and Yuan 2009), which takes 2 (n-1) delays, but two links a member.
//
// Each member sends 2 (n-1)/n of the numbers. They travel in buckets, from the last number to the first, so
// that a sum begins while its numbers are still computed (contribution.h), and that adding, encryption and
// transfer overlap.
//
// A lost member ends the collective: the first to notice closes its links. The members then form a new one
// (party.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "engine/cluster/codec.h"
#include "engine/cluster/contribution.h"
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

class Collective {
 public:
  // Over existing sessions (ring_session) with the members rank-1 and rank+1, mod size.
  static std::unique_ptr<Collective> ring(const RingOptions& options, std::unique_ptr<Session> previous,
                                          std::unique_ptr<Session> next);
  // Over a session with each other member, by rank; null at the own rank.
  static std::unique_ptr<Collective> direct(const RingOptions& options,
                                            std::vector<std::unique_ptr<Session>> sessions);
  virtual ~Collective() = default;

  // Distributes the state to resume from: that of rank `source` goes to the others.
  virtual Status start(TrainingState& state, uint32_t source = 0) = 0;
  // Replaces the numbers and statistics by the sums over all members and returns all notes ordered by rank.
  // Returns after `own` is complete. Sizes must be equal everywhere and no larger than in start(). Lost: a
  // member is gone. Other errors: the reason why a member ended the job.
  virtual Result<std::vector<RingNote>> sum(Contribution& own) = 0;
  // Of all links.
  virtual Traffic traffic() const = 0;
  // Ends the job for all members, with this reason.
  virtual void stop(const Status& reason) = 0;
  // Closes the links, from any thread. The others notice immediately, and running calls fail.
  virtual void cut() = 0;
  // The rank of a member whose link ended because of silence.
  virtual std::optional<uint32_t> silent_rank() const = 0;
};

// A session with another member that has proved to know the key. Buffers all that a fast member can be ahead
// of a slow one, so that members that send never wait for each other.
std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link);

}  // namespace radl::engine::cluster
