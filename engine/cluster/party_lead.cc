// Who leads a training without servers: finding the chief, and taking over from a lost one.
#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

// `joins`: if it leads, this member takes part from then on.
Said LinkedParty::ask(const Seat& to, bool joins) {
  Result<std::unique_ptr<Link>> link =
      try_connect_tcp(to.address, options_.key, {Role::Worker, seat_.index}, {Role::Worker, to.index}, kAsk);
  Said said;
  said.why = link.status();
  if (!link) {
    const Code code = said.why.code();
    said.kind = code == Code::NotFound                        ? Said::Kind::Gone
                : code == Code::Auth || code == Code::Invalid ? Said::Kind::Refuses
                                                              : Said::Kind::Silent;
    return said;
  }
  std::shared_ptr<Session> session = ring_session(options_.ring, std::move(*link));
  Message answer;
  said.why = session->send(encode(hello(joins ? 0 : kQuestion)));
  if (said.why.ok()) said.why = session->receive(answer, kAsk);
  if (!said.why.ok()) return said;
  if (answer.type == MessageType::Refuse) {
    said.kind = Said::Kind::Refuses;
    said.why = ended_by(answer, session->name());
  } else if (answer.type == MessageType::Ready) {
    said.kind = Said::Kind::Leads;
    said.session = std::move(session);
  } else if (said.why = decode(answer, said.view); said.why.ok()) {
    said.kind = answer.type == MessageType::Freeze ? Said::Kind::Looks : Said::Kind::Follows;
  }
  return said;
}

// Of the view's chief, if that is another member.
const Seat* LinkedParty::chief_in(const View& view) {
  for (const Seat& seat : view.members)
    if (seat.index == chief_of(view.epoch)) return &seat;
  return nullptr;
}

// Asks this worker, and the chief that it names. True: one of them leads, and this member follows it.
bool LinkedParty::finds_chief(const Seat& to, Said& said) {
  said = ask(to, true);
  if (said.is(Said::Kind::Follows)) {
    const Seat* chief = chief_in(said.view);
    if (chief != nullptr && chief->index != seat_.index && !(*chief == to)) {
      if (Said other = ask(*chief, true); other.is(Said::Kind::Leads)) said = std::move(other);
    }
  }
  if (!said.is(Said::Kind::Leads)) return false;
  follow(said.session);
  return true;
}

void LinkedParty::follow(std::shared_ptr<Session> chief) {
  if (reader_.joinable()) reader_.join();  // of the lost one
  std::lock_guard lock(mutex_);
  chief_ = std::move(chief);
  chief_lost_.reset();
  sessions_.push_back(chief_);
  for (const View& view : attendance_.known()) (void)chief_->send(encode(view));
  reader_ = std::thread([this] { listen_to_chief(); });
}

// Worker 0, which leads unless the others are in a view already: it was restarted then.
Status LinkedParty::begin_first() {
  const Clock::time_point end = Clock::now() + options_.start_timeout;
  for (;;) {
    std::vector<std::future<Said>> asked;
    for (uint32_t i = 1; i < options_.addresses.size(); ++i)
      asked.push_back(std::async(std::launch::async, [this, i] { return ask(given(i), false); }));
    std::vector<Said> said;
    for (auto& one : asked) said.push_back(one.get());
    bool runs = false;
    for (const Said& one : said) {
      if (!one.in_view()) continue;
      runs = true;
      const Seat* chief = chief_in(one.view);
      Said answer;
      if (chief != nullptr && chief->index != 0 && finds_chief(*chief, answer)) return {};
    }
    for (uint32_t i = 1; runs && i < options_.addresses.size(); ++i) {
      Said answer;
      if (said[i - 1].in_view() && finds_chief(given(i), answer)) return {};
    }
    if (!runs) break;
    if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
    if (Clock::now() >= end) return {Code::Timeout, "the other workers run this job, but have no chief"};
    std::this_thread::sleep_for(kPause);
  }
  std::lock_guard lock(mutex_);
  leads_ = true;
  membership_ = std::make_unique<Membership>(options_.ring.size);
  membership_->arrived(seat_);
  return {};
}

// A worker that is in no view yet.
Status LinkedParty::reach_chief() {
  const Clock::time_point end = Clock::now() + options_.start_timeout;
  for (;;) {
    Said said;
    if (finds_chief(given(0), said)) return {};
    if (said.is(Said::Kind::Refuses)) return std::move(said.why).at("worker/0");
    for (uint32_t i = 1; !said.is(Said::Kind::Follows) && i < options_.ring.size; ++i) {
      Said other;
      if (i != seat_.index && finds_chief(given(i), other)) return {};
    }
    if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
    if (Clock::now() + kPause >= end) {
      Status none(Code::Timeout, fmt::format("no answer from {} within {:.0f} s: {}", options_.addresses[0],
                                             static_cast<double>(options_.start_timeout.count()) / 1000,
                                             said.why.message()));
      return std::move(none).at("worker/0");
    }
    std::this_thread::sleep_for(kPause);
  }
}

// The chief is lost: this member finds the next one, or leads itself.
Status LinkedParty::succeed() {
  std::unique_lock lock(mutex_);
  notice_absence();
  const Status lost = *chief_lost_;
  const std::vector<Seat> silent = silent_seats_;
  const bool able = options_.may_lead && options_.may_lead(duties_);
  // A chief shares its duties before the first sum: without them the job has not begun, and waits for it.
  if (options_.may_lead && duties_.empty()) attendance_ = Attendance();
  lock.unlock();
  if (attendance_.known().empty()) return reach_chief();
  const Clock::time_point end = Clock::now() + options_.start_timeout;
  const View view = attendance_.known().back();
  const Seat* former = chief_in(view);
  Succession order(view, seat_);
  for (;;) {
    Said said;
    if (former != nullptr && finds_chief(*former, said)) return {};
    const bool ended = former != nullptr && said.has_ended() &&
                       std::find(silent.begin(), silent.end(), *former) == silent.end();
    for (bool wait = false; !wait;) {
      if (order.candidate() == seat_) {
        if (!able) return lost;
        lead(view, ended ? former : nullptr, lost);
        return {};
      }
      if (finds_chief(order.candidate(), said)) return {};
      wait = order.answered(said.has_ended() ? Succession::Answer::Gone
                            : said.is(Said::Kind::Silent) || said.is(Said::Kind::Refuses)
                                ? Succession::Answer::Silent
                                : Succession::Answer::Undecided);
    }
    if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
    if (Clock::now() >= end) return lost;
    std::this_thread::sleep_for(kPause);
  }
}

// `ended`: the former chief, if its process is known to have ended.
void LinkedParty::lead(const View& view, const Seat* ended, const Status& lost) {
  std::lock_guard lock(mutex_);
  leads_ = true;
  chief_lost_.reset();
  membership_ = std::make_unique<Membership>(seat_, attendance_.known());
  for (const Seat& seat : silent_seats_)
    if (!(seat == seat_)) membership_->silent(seat);
  if (ended != nullptr) membership_->gone(*ended);
  waits_until_ = Clock::now() + options_.ring.peer_timeout;
  changes_.push_back({"lost", chief_of(view.epoch), lost.message(), 0});
}

// The chief cannot decide a view without `needed`, and asks them. Lost: they train without it, or have all
// ended.
Status LinkedParty::look_for(const std::vector<Seat>& needed) {
  size_t ended = 0;
  for (const Seat& seat : needed) {
    const Said said = ask(seat, false);
    std::lock_guard lock(mutex_);
    if (said.is(Said::Kind::Silent) && said.why.code() != Code::Lost) {  // Lost: it is just ending
      membership_->silent(seat);
    } else if (said.has_ended()) {
      ++ended;
      membership_->gone(seat);
      carry_out();
    } else if (said.in_view() && said.view.epoch > attendance_.view().epoch &&
               chief_of(said.view.epoch) != seat_.index) {
      return {Code::Lost, fmt::format("the other workers continue without this one; worker/{} leads them",
                                      chief_of(said.view.epoch))};
    }
  }
  std::lock_guard lock(mutex_);
  if (ended == needed.size() && !waits_until_ && !membership_->needed().empty())
    return {Code::Lost, "the other workers have ended, perhaps after they had continued without this one"};
  return {};
}

}  // namespace radl::engine::cluster
