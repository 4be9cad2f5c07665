// Party over TCP. Only party*.cc include this header.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <future>
#include <list>
#include <mutex>
#include <thread>

#include "common/digest.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/party.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

inline constexpr Milliseconds kAnswer{5000}, kPartyFarewell{2000}, kTick{50}, kAsk{2000}, kPause{100},
    kAwake{250};
inline constexpr double kFarSeconds = 0.005;  // round trip of a long link

// A worker's answer to the question whether it leads the job.
struct Said {
  enum class Kind {
    Leads,    // `session` is the link to it
    Follows,  // it has a chief, or is not in any view (view.epoch 0)
    Looks,    // it has lost its chief
    Gone,     // nothing listens at its address
    Silent,
    Refuses
  };
  Kind kind = Kind::Silent;
  View view;
  std::shared_ptr<Session> session;
  Status why;

  bool is(Kind k) const { return kind == k; }
  bool in_view() const { return (is(Kind::Follows) || is(Kind::Looks)) && view.epoch > 0; }
  // True if the process that was in a view has ended; another one may run in its place.
  bool has_ended() const {
    return is(Kind::Gone) || ((is(Kind::Follows) || is(Kind::Looks)) && view.epoch == 0);
  }
};

class LinkedParty : public Party {
 public:
  explicit LinkedParty(const PartyOptions& options)
      : options_(with_codec(options)), seat_{options.ring.rank, 0, options.addresses[options.ring.rank]} {
    std::memcpy(&seat_.incarnation, random_bytes(8).data(), 8);
  }

  ~LinkedParty() override;

  Status begin();

  Status next_view(TrainingState& state, bool fresh) override;

  const View& view() const override { return attendance_.view(); }
  uint32_t rank() const override { return *Attendance::rank_of(view(), seat_.index); }
  bool broken() const override { return broken_; }
  Traffic traffic() const override { return ring_ ? together(past_, ring_->traffic()) : past_; }

  bool leads() const override {
    std::lock_guard lock(mutex_);
    return leads_;
  }

  bool has_successor() const override {
    std::lock_guard lock(mutex_);
    return leads_ && summed_ && !membership_->changing() && membership_->has_successor();
  }

  void share(const std::string& duties) override;
  std::string shared() const override {
    std::lock_guard lock(mutex_);
    return duties_;
  }

  bool finished() const override {
    std::lock_guard lock(mutex_);
    return finished_;
  }

  Result<std::vector<RingNote>> sum(Contribution& own) override;

  Codec& codec() override { return *options_.ring.codec; }

  Status wait_for_end() override;

  std::vector<PeerChange> take_changes() override {
    std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

  void stop(const Status& why) override;

 private:
  static PartyOptions with_codec(PartyOptions options) {
    if (!options.ring.codec) options.ring.codec = Codec::make({});
    return options;
  }
  bool has_lost_chief() const {
    std::lock_guard lock(mutex_);
    return chief_lost_.has_value();
  }
  bool is_frozen() const {
    std::lock_guard lock(mutex_);
    return attendance_.frozen();
  }
  // The reason why the job ended.
  std::optional<Status> over() const {
    std::lock_guard lock(mutex_);
    return ended_;
  }

  Hello hello(uint64_t epoch) const;

  // Connects to another worker, for a view's ring.
  Result<std::unique_ptr<Session>> connect(const Seat& to, uint64_t epoch, Milliseconds patience,
                                           const radl::Stop& stop);

  void accept();

  // Why this peer is not a worker of this job; "" if it is.
  std::string stranger(const Hello& hello, const Identity& peer) const;

  // Runs on a thread per peer, so that a peer without a Hello blocks no other.
  void greet(std::unique_ptr<Link> link);

  // Replies to a worker that looks for the chief.
  void tell_view(Session& session);

  // ---- who leads (party_lead.cc)

  // `joins`: if `to` leads, this member takes part from then on.
  Said ask(const Seat& to, bool joins);
  // The chief of the view.
  static const Seat* chief_in(const View& view);
  // Asks this worker, and the chief that it names. True if one of them leads; this member then follows it.
  bool finds_chief(const Seat& to, Said& said);
  void follow(std::shared_ptr<Session> chief);
  Seat given(uint32_t index) const { return {index, 0, options_.addresses[index]}; }
  // For worker 0. It leads unless the others are already in a view, which means that it was restarted.
  Status begin_first();
  // For a worker that is not in a view yet.
  Status reach_chief();
  // After the loss of the chief: finds the next one, or leads.
  Status succeed();
  // `ended`: the former chief, if its process is known to have ended.
  void lead(const View& view, const Seat* ended, const Status& lost);
  // The chief cannot decide a view without `needed`, and contacts them. Lost: they train without this member,
  // or have all ended.
  Status look_for(const std::vector<Seat>& needed);

  void serve(std::shared_ptr<Session> session, const Seat& seat);

  // Of the chief: a member, perhaps itself, is at a border. Locked.
  void stands(const Seat& seat, const Border& border);
  // Carries out the membership's orders. Locked.
  void carry_out();

  // Handles an order of the chief to this member. Locked.
  void take_order(MessageType type, const View& view);

  // Handles the end of the job. Locked.
  void end(const Status& why);

  void listen_to_chief();

  // Locked. If this process was suspended, the others may have trained without it. Their end proves nothing.
  void notice_absence();

  // Locked.
  void lose_chief(const Status& why);

  // ---- views

  Status stand(uint64_t done, bool fresh, int32_t silent);

  // False: the job is finished. Retry: the chief is lost.
  Result<bool> wait_for_view(Clock::time_point end);

  Status nobody_appeared() const;

  // Links up with the view's members. On failure `silent` is the unreachable one, or -1.
  Status form(int32_t& silent);
  // Waits for the links of the members of these ranks, and adds them to `sessions`, by rank.
  Status await(const std::vector<uint32_t>& ranks, std::vector<std::unique_ptr<Session>>& sessions,
               int32_t& silent);

  Status keep_ring(std::unique_ptr<Collective> ring);

  void drop_ring();

  // Distributes the state of the source.
  Status hand_over(TrainingState& state, bool& fresh, int32_t& silent);

  int32_t silent_neighbor() const;

  const PartyOptions options_;
  Seat seat_;
  std::unique_ptr<Listener> listener_;
  std::thread acceptor_, reader_;
  std::list<std::thread> greetings_;  // started by the acceptor

  mutable std::mutex mutex_;  // guards all members below, except those used only by the caller's thread
  std::condition_variable changed_;
  std::unique_ptr<Membership> membership_;  // null unless this member is the chief
  bool leads_ = false;
  std::optional<Status> chief_lost_;
  Clock::time_point awake_ = Clock::now();  // last activity of the acceptor
  int sums_since_silence_ = 0;
  bool summed_ = false;                           // in this view: all its members have the chief's state
  std::vector<Seat> silent_seats_;                // may have been in views that this member has not seen
  std::optional<Clock::time_point> waits_until_;  // of a chief that takes over, for members of its view
  std::string duties_;
  std::map<uint32_t, std::shared_ptr<Session>> controls_;                     // chief: links by worker
  std::shared_ptr<Session> chief_;                                            // worker: link to the chief
  std::list<std::weak_ptr<Session>> sessions_;                                // sessions that threads wait on
  std::map<std::pair<uint64_t, uint32_t>, std::unique_ptr<Session>> parked_;  // by epoch and worker
  Attendance attendance_;
  std::unique_ptr<Collective> ring_;
  std::vector<PeerChange> changes_;
  std::optional<Status> ended_;
  bool finished_ = false, over_ = false;

  // Used only by the caller's thread.
  bool broken_ = false;
  int32_t silent_ = -1;
  Traffic past_;  // of previous rings
};

}  // namespace radl::engine::cluster
