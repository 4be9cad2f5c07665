// A member of a training without servers: contacts the chief, takes part in views, and links up with their
// members.
//
// The chief decides the membership (members.h). Every other worker keeps a link to it for reports and
// decisions. Worker 0 is the first chief; if a chief is lost, the next worker of its view takes over. Each
// view has links of its own, which end with it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/collective.h"
#include "engine/cluster/members.h"

namespace radl::engine::cluster {

struct PartyOptions {
  RingOptions ring;  // rank: this worker's index; size: workers of the first view
  // "host:port" by index, from this worker's job. Only the chief's and this worker's are used; the others'
  // come with the views.
  std::vector<std::string> addresses;
  std::string listen;  // listening address if a forwarder sits before this worker's address; "": that address
  std::string key, job_digest;
  Milliseconds start_timeout{120000};  // for the first view
  // Reports how many strangers or members of other jobs were refused since the last call, and the error of
  // the last one, for progress lines. May be called from several threads at once.
  std::function<void(uint64_t count, const std::string& last)> refused;
  // True if this worker can take over a lost chief's duties, as the chief described them (share()). If not
  // set, no worker can.
  std::function<bool(const std::string& duties)> may_lead;
};

// For progress lines: kind is "joined", "left" or "lost".
struct PeerChange {
  std::string kind;
  uint32_t index = 0;
  std::string text;
  double silent_seconds = 0;
};

// Call all functions but stop() from one thread.
class Party {
 public:
  // Listens at this worker's address and contacts the chief. Worker 0 becomes the chief if no other worker is
  // in a view of this job. Conflict: the address is in use. Invalid: the chief has another job. Auth: it has
  // another key. Timeout: it did not appear.
  static Result<std::unique_ptr<Party>> join(const PartyOptions& options);
  virtual ~Party() = default;

  // Call outside an exchange. `state` is the last border (`fresh`: none yet). Returns in the next view, in
  // which all members have `state`, or when the job has finished (finished()). The chief may have changed
  // (leads()). Lost: the chief is gone and no member can take over, or the others train without this member.
  // Timeout: a worker of the first view did not appear. Other errors: the reason why a member ended the job.
  virtual Status next_view(TrainingState& state, bool fresh) = 0;
  virtual const View& view() const = 0;
  virtual uint32_t rank() const = 0;  // in the view
  virtual bool leads() const = 0;     // this member is the chief
  // This member is the chief, and another one takes over if its process ends without stop().
  virtual bool has_successor() const = 0;
  // Of the chief: what its successor needs. Travels to all members, at once and when they join.
  virtual void share(const std::string& duties) = 0;
  virtual std::string shared() const = 0;  // the last chief's shared data
  // Collective::sum() of the view. If it fails and broken() is true, call next_view().
  virtual Result<std::vector<RingNote>> sum(Contribution& own) = 0;
  // The codec of this member's sums in all views. Do not use it while sum() runs.
  virtual Codec& codec() = 0;
  virtual bool broken() const = 0;
  // For a worker at the last border: waits until the chief has reached it too (Ok), or needs this member in
  // another view (broken()).
  virtual Status wait_for_end() = 0;
  virtual bool finished() const = 0;  // as reported by the chief

  virtual Traffic traffic() const = 0;
  virtual std::vector<PeerChange> take_changes() = 0;  // chief only
  // Ends this member, and the whole job if it is the chief or `why` is an error; the others get the reason.
  virtual void stop(const Status& why) = 0;
};

}  // namespace radl::engine::cluster
