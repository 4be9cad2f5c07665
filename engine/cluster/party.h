// A member of a training without servers: reaches the chief, takes part in its views, and forms their rings.
//
// The chief decides who takes part (members.h). Every other worker keeps a link to it, over which reports and
// decisions travel. Worker 0 is the first chief; if a chief is lost, the next worker of its view takes over.
// The ring of a view has links of its own, which end with the view.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/members.h"
#include "engine/cluster/ring.h"

namespace radl::engine::cluster {

struct PartyOptions {
  RingOptions ring;  // rank: this worker's index; size: workers in the first view
  // "host:port" by index, as this worker's job has them: those of the chief and its own are used. The others'
  // come with the views.
  std::vector<std::string> addresses;
  std::string listen;  // where this worker listens, if its address is forwarded to there; "": at its address
  std::string key, job_digest;
  Milliseconds start_timeout{120000};  // for the first view
  // So many strangers, or members of other jobs, were refused since the last call, and what was wrong with
  // the last of them: for progress lines. From several threads, perhaps at once.
  std::function<void(uint64_t count, const std::string& last)> refused;
  // Whether this worker can take over a lost chief's duties, as the chief has described them (share());
  // without it, none can.
  std::function<bool(const std::string& duties)> may_lead;
};

// For progress lines: kind is "joined", "left" or "lost".
struct PeerChange {
  std::string kind;
  uint32_t index = 0;
  std::string text;
  double silent_seconds = 0;
};

// All calls but stop() are for one thread.
class Party {
 public:
  // Listens at this worker's address and reaches the chief. Worker 0 becomes the chief if no other worker is
  // in a view of this job. Conflict: the address is in use; Invalid: the chief has another job; Auth: it has
  // another key; Timeout: it did not appear.
  static Result<std::unique_ptr<Party>> join(const PartyOptions& options);
  virtual ~Party() = default;

  // This member is in no exchange, and `state` is its last border (`fresh`: it has none yet). Returns in the
  // next view, whose members all have `state` then, or once the job is finished (finished()). The chief may
  // have changed (leads()). Lost: the chief is gone and nobody can take over, or the others train without
  // this member. Timeout: a worker of the first view did not appear. Else why somebody ended the job.
  virtual Status next_view(TrainingState& state, bool fresh) = 0;
  virtual const View& view() const = 0;
  virtual uint32_t rank() const = 0;  // in the view
  virtual bool leads() const = 0;     // this member is the chief
  // This member is the chief, and another one takes over if its process ends without stop().
  virtual bool has_successor() const = 0;
  // Of the chief: what its successor needs. Travels to all members, at once and when they join.
  virtual void share(const std::string& duties) = 0;
  virtual std::string shared() const = 0;  // what the last chief has shared
  // Ring::sum() of the view. If it fails and broken() is true, next_view() helps.
  virtual Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                            RingNote own) = 0;
  // Of this member's sums, in all views. Leave it alone while sum() is running.
  virtual Codec& codec() = 0;
  virtual bool broken() const = 0;
  // Of a worker at the last border: waits until the chief has it, too (Ok), or needs this member in another
  // view (broken()).
  virtual Status wait_for_end() = 0;
  virtual bool finished() const = 0;  // the chief has said so

  virtual Traffic traffic() const = 0;
  virtual std::vector<PeerChange> take_changes() = 0;  // of the chief
  // Ends this member, and the job if it is the chief or `why` is an error: the others learn the reason.
  virtual void stop(const Status& why) = 0;
};

}  // namespace radl::engine::cluster
