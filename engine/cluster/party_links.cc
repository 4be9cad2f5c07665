// The links of a member: who connects, what the chief hears from the others, and they from it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

Hello LinkedParty::hello(uint64_t epoch) const {
  const RingOptions& ring = options_.ring;
  return {Role::Worker,    seat_.index, seat_.incarnation, options_.job_digest, ring.parameters,
          ring.statistics, epoch,       seat_.address};
}

// To another worker, for a view's ring.
Result<std::unique_ptr<Session>> LinkedParty::connect(const Seat& to, uint64_t epoch, Milliseconds patience,
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

void LinkedParty::accept() {
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
std::string LinkedParty::stranger(const Hello& hello, const Identity& peer) const {
  if (hello.role != peer.role || hello.index != peer.index) return "sends Hello with another identity";
  if (hello.job_digest != options_.job_digest)
    return "belongs to another job, or has another version of this job's file";
  if (peer.role != Role::Worker || peer.index == seat_.index) return "is not a worker of this job";
  if (hello.parameters != options_.ring.parameters || hello.statistics != options_.ring.statistics)
    return fmt::format("has a model of {} parameters, this member's has {}", hello.parameters,
                       options_.ring.parameters);
  return "";
}

// A thread for each: one that does not say Hello holds up nobody.
void LinkedParty::greet(std::unique_ptr<Link> link) {
  std::unique_ptr<Session> session = ring_session(options_.ring, std::move(link));
  Message message;
  Hello hello;
  Status got = session->receive(message, kAnswer);
  if (got.ok()) got = decode(message, hello);
  const std::string why = got.ok() ? stranger(hello, session->peer()) : got.message();
  if (!why.empty()) {
    if (options_.refused) options_.refused(1, session->name() + " " + why);
    if (!got.ok()) return;
    return send_last(*session, refusal(invalid(why)));
  }
  if (hello.epoch == kQuestion || (hello.epoch == 0 && !leads())) return tell_view(*session);
  if (!session->send(Message{MessageType::Ready, {}}).ok()) return;
  if (hello.epoch == 0) return serve(std::move(session), {hello.index, hello.incarnation, hello.address});
  std::lock_guard lock(mutex_);
  parked_[{hello.epoch, hello.index}] = std::move(session);
  changed_.notify_all();
}

// To one that looks for the chief.
void LinkedParty::tell_view(Session& session) {
  std::unique_lock lock(mutex_);
  const Message answer = encode(attendance_.view(), chief_lost_ ? MessageType::Freeze : MessageType::View);
  lock.unlock();
  send_last(session, answer);
}

void LinkedParty::serve(std::shared_ptr<Session> session, const Seat& seat) {
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
      if (status.ok()) stands(seat, border);
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
void LinkedParty::carry_out() {
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
void LinkedParty::take_order(MessageType type, const View& view) {
  if (type == MessageType::Freeze)
    attendance_.freeze(view.epoch);
  else
    attendance_.decided(view);
  if (ring_ && attendance_.frozen()) ring_->cut();
  changed_.notify_all();
}

// Somebody ended the job. Locked.
void LinkedParty::end(const Status& why) {
  if (!ended_) ended_ = why;
  if (ring_) ring_->cut();
  changed_.notify_all();
}

void LinkedParty::listen_to_chief() {
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
void LinkedParty::notice_absence() {
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
void LinkedParty::lose_chief(const Status& why) {
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

}  // namespace radl::engine::cluster
