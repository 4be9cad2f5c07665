// Party over TCP. Only party.cc and party_lead.cc include this.
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
inline constexpr uint64_t kQuestion = UINT64_MAX;  // epoch of a Hello that only asks who leads

// What a worker says that is asked whether it leads the job.
struct Said {
  enum class Kind {
    Leads,    // `session` is the link to it
    Follows,  // it has a chief, or is in no view (view.epoch 0)
    Looks,    // it has lost its chief
    Gone,     // nobody listens at its address
    Silent,
    Refuses
  };
  Kind kind = Kind::Silent;
  View view;
  std::shared_ptr<Session> session;
  Status why;

  bool is(Kind k) const { return kind == k; }
  bool in_view() const { return (is(Kind::Follows) || is(Kind::Looks)) && view.epoch > 0; }
  // The process that was in a view has ended; perhaps another one runs in its place.
  bool has_ended() const {
    return is(Kind::Gone) || ((is(Kind::Follows) || is(Kind::Looks)) && view.epoch == 0);
  }
};

class LinkedParty : public Party {
 public:
  explicit LinkedParty(const PartyOptions& options)
      : options_(options), seat_{options.ring.rank, 0, options.addresses[options.ring.rank]} {
    std::memcpy(&seat_.incarnation, random_bytes(8).data(), 8);
  }

  ~LinkedParty() override {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      for (auto& session : sessions_)
        if (auto held = session.lock()) held->close();
      if (ring_) ring_->cut();
    }
    if (listener_) listener_->close();
    if (acceptor_.joinable()) acceptor_.join();
    if (reader_.joinable()) reader_.join();
    for (std::thread& t : greetings_) t.join();
  }

  Status begin() {
    ListenOptions strangers;
    strangers.refused = options_.refused;
    Result<std::unique_ptr<Listener>> listener =
        listen_tcp(options_.listen.empty() ? seat_.address : options_.listen, options_.key,
                   {Role::Worker, seat_.index}, strangers);
    if (!listener) return std::move(listener).status();
    listener_ = std::move(*listener);
    acceptor_ = std::thread([this] { accept(); });
    return seat_.index == 0 ? begin_first() : reach_chief();
  }

  Status next_view(TrainingState& state, bool fresh) override {
    const Clock::time_point end = Clock::now() + options_.start_timeout;
    for (int32_t silent = std::exchange(silent_, -1);;) {
      broken_ = false;
      drop_ring();
      if (Status chief = has_lost_chief() ? succeed() : Status(); !chief.ok()) return chief;
      if (finished()) return {};
      if (Status sent = stand(state.done(), fresh, silent); !sent.ok()) return sent;
      Result<bool> decided = wait_for_view(end);
      if (decided.status().code() == Code::Retry) continue;
      if (!decided || !*decided) return decided.status();
      silent = -1;
      Status formed = form(silent);
      if (formed.ok() && attendance_.view().hand_over) formed = hand_over(state, fresh, silent);
      if (formed.ok()) return formed;
      if (std::optional<Status> why = over(); why) return *why;
      if (finished()) return {};
      if (formed.code() != Code::Lost && formed.code() != Code::Timeout && !is_frozen()) return formed;
    }
  }

  const View& view() const override { return attendance_.view(); }
  uint32_t rank() const override { return *Attendance::rank_of(view(), seat_.index); }
  bool broken() const override { return broken_; }
  Traffic traffic() const override { return ring_ ? together(past_, ring_->traffic()) : past_; }

  bool leads() const override {
    std::lock_guard lock(mutex_);
    return leads_;
  }

  void share(const std::string& duties) override {
    std::lock_guard lock(mutex_);
    duties_ = duties;
    for (auto& [index, session] : controls_)
      (void)session->send(encode(Stop{0, duties_}, MessageType::Duties));
  }
  std::string shared() const override {
    std::lock_guard lock(mutex_);
    return duties_;
  }

  bool finished() const override {
    std::lock_guard lock(mutex_);
    return finished_;
  }

  Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                    RingNote own) override {
    Result<std::vector<RingNote>> notes =
        is_frozen() ? Result<std::vector<RingNote>>(Status(Code::Lost, "the members change"))
                    : ring_->sum(numbers, statistics, own);
    if (notes.ok()) {
      std::lock_guard lock(mutex_);
      attendance_.complete();
      // Frames of one sum may have come while this was stopped, not of two.
      if (++sums_since_silence_ > 1) silent_seats_.clear();
      if (leads_) membership_->complete();
      return notes;
    }
    if (std::optional<Status> why = over(); why) return *why;
    broken_ = notes.status().code() == Code::Lost || is_frozen() || finished();
    silent_ = silent_neighbor();
    return notes;
  }

  void drop_residue() override {
    if (ring_) ring_->drop_residue();
  }

  Status wait_for_end() override {
    std::unique_lock lock(mutex_);
    while (!ended_ && !finished_ && !attendance_.frozen()) {
      if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
      changed_.wait_for(lock, kTick);
    }
    if (finished_) return {};
    if (ended_) return *ended_;
    broken_ = true;
    return {Code::Lost, "the members change"};
  }

  std::vector<PeerChange> take_changes() override {
    std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

  void stop(const Status& why) override {
    const Message message = encode(Stop{static_cast<uint8_t>(why.code()), why.message()});
    if (!leads()) {
      if (chief_) (void)chief_->send(why.ok() ? encode(Stop{0, ""}, MessageType::Leave) : message);
      return;
    }
    std::unique_lock lock(mutex_);
    over_ = true;
    for (auto& [index, session] : controls_) (void)session->send(message);
    // They hang up when they have read it.
    changed_.wait_for(lock, kPartyFarewell, [this] { return controls_.empty(); });
  }

 private:
  bool has_lost_chief() const {
    std::lock_guard lock(mutex_);
    return chief_lost_.has_value();
  }
  bool is_frozen() const {
    std::lock_guard lock(mutex_);
    return attendance_.frozen();
  }
  // Why the job was ended.
  std::optional<Status> over() const {
    std::lock_guard lock(mutex_);
    return ended_;
  }

  Hello hello(uint64_t epoch) const {
    const RingOptions& ring = options_.ring;
    return {Role::Worker,    seat_.index, seat_.incarnation, options_.job_digest, ring.parameters,
            ring.statistics, epoch,       seat_.address};
  }

  // To another worker, for a view's ring.
  Result<std::unique_ptr<Session>> connect(const Seat& to, uint64_t epoch, Milliseconds patience,
                                           const radl::Stop& stop) {
    Result<std::unique_ptr<Link>> link = connect_tcp(to.address, options_.key, {Role::Worker, seat_.index},
                                                     {Role::Worker, to.index}, patience, stop);
    if (!link) return std::move(link).status();
    std::unique_ptr<Session> session = ring_session(options_.ring, std::move(*link));
    if (Status sent = session->send(encode(hello(epoch))); !sent.ok()) return sent;
    Message answer;
    if (Status got = expect(*session, MessageType::Ready, answer, stop); !got.ok()) return got;
    return session;
  }

  void accept() {
    for (;;) {
      Result<std::unique_ptr<Link>> link = listener_->accept(kAwake);
      {
        std::lock_guard lock(mutex_);
        notice_absence();
      }
      if (link.status().code() == Code::Cancelled) return;
      if (link.ok()) {
        greetings_.emplace_back([this, held = std::move(*link)]() mutable { greet(std::move(held)); });
      } else if (link.status().code() != Code::Timeout) {
        std::this_thread::sleep_for(Milliseconds(100));
      }
    }
  }

  // Why this peer is not one of this job's workers; "" if it is.
  std::string stranger(const Hello& hello, const Identity& peer) const {
    if (hello.role != peer.role || hello.index != peer.index) return "says Hello as somebody else";
    if (hello.job_digest != options_.job_digest)
      return "belongs to another job, or has another version of this job's file";
    if (peer.role != Role::Worker || peer.index == seat_.index) return "is not a worker of this job";
    if (hello.parameters != options_.ring.parameters || hello.statistics != options_.ring.statistics)
      return fmt::format("has a model of {} parameters, this member's has {}", hello.parameters,
                         options_.ring.parameters);
    return "";
  }

  // A thread for each: one that does not say Hello holds up nobody.
  void greet(std::unique_ptr<Link> link) {
    std::unique_ptr<Session> session = ring_session(options_.ring, std::move(link));
    Message message;
    Hello hello;
    Status got = session->receive(message, kAnswer);
    if (got.ok()) got = decode(message, hello);
    const std::string why = got.ok() ? stranger(hello, session->peer()) : got.message();
    if (!why.empty()) {
      if (options_.refused) options_.refused(1, session->name() + " " + why);
      if (!got.ok()) return;
      (void)session->send(encode(Refuse{static_cast<uint8_t>(Code::Invalid), why}));
      (void)session->receive(message, Milliseconds(500));  // lets it read before the link closes
      return;
    }
    if (hello.epoch == kQuestion || (hello.epoch == 0 && !leads())) return tell_view(*session);
    if (!session->send(Message{MessageType::Ready, {}}).ok()) return;
    if (hello.epoch == 0) return serve(std::move(session), {hello.index, hello.incarnation, hello.address});
    std::lock_guard lock(mutex_);
    parked_[{hello.epoch, hello.index}] = std::move(session);
    changed_.notify_all();
  }

  // To one that looks for the chief.
  void tell_view(Session& session) {
    std::unique_lock lock(mutex_);
    const Message answer = encode(attendance_.view(), chief_lost_ ? MessageType::Freeze : MessageType::View);
    lock.unlock();
    (void)session.send(answer);
    Message none;
    (void)session.receive(none, Milliseconds(500));  // lets it read before the link closes
  }

  // ---- who leads (party_lead.cc)

  // `joins`: if it leads, this member takes part from then on.
  Said ask(const Seat& to, bool joins);
  // Of the view's chief.
  static const Seat* chief_in(const View& view);
  // Asks this worker, and the chief that it names. True: one of them leads, and this member follows it.
  bool finds_chief(const Seat& to, Said& said);
  void follow(std::shared_ptr<Session> chief);
  Seat given(uint32_t index) const { return {index, 0, options_.addresses[index]}; }
  // Worker 0, which leads unless the others are in a view already: it was restarted then.
  Status begin_first();
  // A worker that is in no view yet.
  Status reach_chief();
  // The chief is lost: this member finds the next one, or leads itself.
  Status succeed();
  // `ended`: the former chief, if its process is known to have ended.
  void lead(const View& view, const Seat* ended, const Status& lost);
  // The chief cannot decide a view without `needed`, and asks them. Lost: they train without it, or have all
  // ended.
  Status look_for(const std::vector<Seat>& needed);

  void serve(std::shared_ptr<Session> session, const Seat& seat) {
    {
      std::lock_guard lock(mutex_);
      if (over_) return;
      std::shared_ptr<Session>& known = controls_[seat.index];
      if (known) known->close();  // this worker was restarted
      known = session;
      sessions_.push_back(session);
      if (!duties_.empty()) (void)session->send(encode(Stop{0, duties_}, MessageType::Duties));
      changes_.push_back({"joined", seat.index, session->name(), 0});
      membership_->arrived(seat);
      carry_out();
    }
    Message message;
    Status status;
    bool left = false;
    while (status.ok() && !left) {
      status = session->receive(message, radl::Stop());
      if (!status.ok()) break;
      std::lock_guard lock(mutex_);
      if (message.type == MessageType::Border) {
        Border border;
        status = decode(message, border);
        if (status.ok()) membership_->stands(seat, border);
        carry_out();
      } else if (message.type == MessageType::View) {
        View view;
        status = decode(message, view);
        if (status.ok()) membership_->knows(seat, view);
      } else if (message.type == MessageType::Duties) {
        Stop able;
        status = decode(message, able);
        if (status.ok()) membership_->able(seat, able.code == 0);
        carry_out();
      } else if (message.type == MessageType::Leave) {
        left = true;
        membership_->gone(seat);
      } else {
        end(ended_by(message, session->name()));
        left = true;
      }
    }
    std::lock_guard lock(mutex_);
    if (auto known = controls_.find(seat.index); known != controls_.end() && known->second == session) {
      if (!over_)
        changes_.push_back({left ? "left" : "lost", seat.index, status.message(), session->silent_seconds()});
      controls_.erase(known);
    }
    notice_absence();
    membership_->lost(seat);
    if (session->fell_silent() || std::ranges::find(silent_seats_, seat) != silent_seats_.end())
      membership_->silent(seat);
    carry_out();
    changed_.notify_all();
  }

  // What the membership asks for. Locked.
  void carry_out() {
    for (const Membership::Order& order : membership_->take_orders()) {
      if (order.to == seat_) {
        take_order(order.type, order.view);
        continue;
      }
      const auto control = controls_.find(order.to.index);
      if (control == controls_.end()) continue;
      const Status unreachable(Code::Lost, "other workers cannot reach this one");
      (void)control->second->send(
          order.type == MessageType::Stop
              ? encode(Stop{static_cast<uint8_t>(unreachable.code()), unreachable.message()})
              : encode(order.view, order.type));
    }
  }

  // Of the chief, to this member. Locked.
  void take_order(MessageType type, const View& view) {
    if (type == MessageType::Freeze)
      attendance_.freeze(view.epoch);
    else
      attendance_.decided(view);
    if (ring_ && attendance_.frozen()) ring_->cut();
    changed_.notify_all();
  }

  // Somebody ended the job. Locked.
  void end(const Status& why) {
    if (!ended_) ended_ = why;
    if (ring_) ring_->cut();
    changed_.notify_all();
  }

  void listen_to_chief() {
    Message message;
    for (;;) {
      Status got = chief_->receive(message, radl::Stop());
      std::lock_guard lock(mutex_);
      View view;
      if (got.ok() && (message.type == MessageType::View || message.type == MessageType::Freeze)) {
        got = decode(message, view);
        if (got.ok()) take_order(message.type, view);
        if (got.ok()) continue;
      }
      Stop said;
      if (got.ok() && message.type == MessageType::Duties && decode(message, said).ok()) {
        duties_ = said.text;
        const uint8_t unable = options_.may_lead && options_.may_lead(duties_) ? 0 : 1;
        (void)chief_->send(encode(Stop{unable, ""}, MessageType::Duties));
        continue;
      }
      if (got.ok() && message.type == MessageType::Stop && decode(message, said).ok() && said.code == 0) {
        finished_ = true;
        changed_.notify_all();
        return;
      }
      if (got.ok()) return end(ended_by(message, chief_->name()));
      return lose_chief(got);
    }
  }

  // Locked. While this process was stopped, the others may have trained without it: their end proves nothing.
  void notice_absence() {
    const Clock::time_point now = Clock::now();
    const Milliseconds limit = options_.ring.peer_timeout;
    if (now - std::exchange(awake_, now) < kAwake + std::min(limit / 2, unreachable_after(limit) / 2)) return;
    for (const View& view : attendance_.known())
      silent_seats_.insert(silent_seats_.end(), view.members.begin(), view.members.end());
    sums_since_silence_ = 0;
    if (!leads_) return;
    for (const Seat& seat : silent_seats_) membership_->silent(seat);
  }

  // Locked.
  void lose_chief(const Status& why) {
    notice_absence();
    if (chief_->fell_silent()) {
      for (const View& view : attendance_.known())
        for (const Seat& seat : view.members)
          if (seat.index == chief_->peer().index) silent_seats_.push_back(seat);
      sums_since_silence_ = 0;
    }
    chief_lost_ = Status(Code::Lost, "the chief was lost: " + why.message());
    attendance_.lost_chief();
    if (ring_) ring_->cut();
    changed_.notify_all();
  }

  // ---- views

  Status stand(uint64_t done, bool fresh, int32_t silent) {
    std::unique_lock lock(mutex_);
    const Border border = attendance_.stand(done, fresh, silent);
    if (leads_) {
      membership_->stands(seat_, border);
      carry_out();
      return {};
    }
    lock.unlock();
    (void)chief_->send(encode(border));  // its reader finds out if the chief is lost
    return {};
  }

  // False: the job is finished. Retry: the chief is lost.
  Result<bool> wait_for_view(Clock::time_point end) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (finished_) return false;
      if (ended_) return *ended_;
      if (chief_lost_) return Status(Code::Retry, "the chief is lost");
      if (attendance_.take_view()) return true;
      if (options_.ring.stop.asked()) return Status(Code::Cancelled, "interrupted");
      if (leads_ && membership_->view().epoch == 0 && Clock::now() >= end) return nobody_appeared();
      if (leads_ && waits_until_ && Clock::now() >= *waits_until_) {
        waits_until_.reset();
        membership_->stop_waiting();
        carry_out();
        continue;
      }
      if (const std::vector<Seat> needed = leads_ ? membership_->needed() : std::vector<Seat>();
          !needed.empty()) {
        lock.unlock();
        if (Status asked = look_for(needed); !asked.ok()) return asked;
        if (Clock::now() >= end)
          return Status(Code::Lost, fmt::format("too few workers of the last view answer; {} is missing",
                                                "worker/" + std::to_string(needed.front().index)));
        lock.lock();
        if (attendance_.take_view()) return true;
      }
      changed_.wait_for(lock, kTick);
    }
  }

  Status nobody_appeared() const {
    uint32_t missing = 1;
    while (controls_.contains(missing)) ++missing;
    return {Code::Timeout, fmt::format("worker/{} did not appear within {:.0f} s", missing,
                                       static_cast<double>(options_.start_timeout.count()) / 1000)};
  }

  // Links up with both neighbors. On failure `silent` is the one that could not be reached, or -1.
  Status form(int32_t& silent) {
    const View& view = attendance_.view();
    const auto size = static_cast<uint32_t>(view.members.size()), own = rank();
    RingOptions ring = options_.ring;
    ring.rank = own;
    ring.size = size;
    if (size == 1) return keep_ring(Ring::make(ring, nullptr, nullptr));
    const Clock::time_point end = Clock::now() + options_.ring.peer_timeout;
    const Seat& after = view.members[(own + 1) % size];
    const uint32_t before = view.members[(own + size - 1) % size].index;
    const radl::Stop stop = options_.ring.stop.or_when(radl::Stop::when([this] { return is_frozen(); }));
    Result<std::unique_ptr<Session>> next = connect(after, view.epoch, options_.ring.peer_timeout, stop);
    if (!next) {
      if (!is_frozen()) silent = static_cast<int32_t>(after.index);
      return {Code::Lost, next.status().message()};
    }
    std::unique_lock lock(mutex_);
    parked_.erase(parked_.begin(), parked_.lower_bound({view.epoch, 0}));
    for (;;) {
      if (auto found = parked_.find({view.epoch, before}); found != parked_.end()) {
        std::unique_ptr<Session> previous = std::move(found->second);
        parked_.erase(found);
        lock.unlock();
        return keep_ring(Ring::make(ring, std::move(previous), std::move(*next)));
      }
      if (ended_ || finished_ || attendance_.frozen()) return {Code::Lost, "the members change"};
      if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
      if (Clock::now() >= end) {
        silent = static_cast<int32_t>(before);
        return {Code::Timeout, fmt::format("worker/{} does not link up", before)};
      }
      changed_.wait_for(lock, kTick);
    }
  }

  Status keep_ring(std::unique_ptr<Ring> ring) {
    std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
    if (attendance_.frozen()) ring_->cut();
    return {};
  }

  void drop_ring() {
    std::unique_ptr<Ring> ring;
    {
      std::lock_guard lock(mutex_);
      ring = std::move(ring_);
    }
    if (!ring) return;
    past_ = together(past_, ring->traffic());
    ring->cut();
  }

  // From the source, around the ring.
  Status hand_over(TrainingState& state, bool& fresh, int32_t& silent) {
    const uint32_t source = *Attendance::rank_of(attendance_.view(), attendance_.view().source);
    Status got = ring_->start(state, source);
    if (got.ok()) fresh = false;
    if (!got.ok()) silent = silent_neighbor();
    return got;
  }

  int32_t silent_neighbor() const {
    const auto size = static_cast<int>(view().members.size());
    const int step = ring_ ? ring_->silent_neighbor() : 0;
    if (step == 0) return -1;
    return static_cast<int32_t>(
        view().members[static_cast<size_t>((static_cast<int>(rank()) + step + size) % size)].index);
  }

  const PartyOptions options_;
  Seat seat_;
  std::unique_ptr<Listener> listener_;
  std::thread acceptor_, reader_;
  std::list<std::thread> greetings_;  // of the acceptor

  mutable std::mutex mutex_;  // of all that follows, but for what only the caller's thread uses
  std::condition_variable changed_;
  std::unique_ptr<Membership> membership_;  // of the chief
  bool leads_ = false;
  std::optional<Status> chief_lost_;
  Clock::time_point awake_ = Clock::now();  // when the acceptor ran last
  int sums_since_silence_ = 0;
  std::vector<Seat> silent_seats_;                // may have been in views that this member has not seen
  std::optional<Clock::time_point> waits_until_;  // of a chief that takes over, for members of its view
  std::string duties_;
  std::map<uint32_t, std::shared_ptr<Session>> controls_;                     // of the chief, by worker
  std::shared_ptr<Session> chief_;                                            // of a worker
  std::list<std::weak_ptr<Session>> sessions_;                                // that threads wait on
  std::map<std::pair<uint64_t, uint32_t>, std::unique_ptr<Session>> parked_;  // by epoch and worker
  Attendance attendance_;
  std::unique_ptr<Ring> ring_;
  std::vector<PeerChange> changes_;
  std::optional<Status> ended_;
  bool finished_ = false, over_ = false;

  // Of the caller's thread.
  bool broken_ = false;
  int32_t silent_ = -1;
  Traffic past_;  // of rings that are gone
};

}  // namespace radl::engine::cluster
