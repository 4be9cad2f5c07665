// Each listener of a run receives everything in order, at its own pace, and cannot block others.
#include "runtime/run/event_hub.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <stdexcept>
#include <thread>

namespace radl::test {
namespace {

Event event_of(EventKind kind, std::string message = "") {
  Event event;
  event.kind = kind;
  event.message = std::move(message);
  return event;
}

class Heard : public EventSink {
 public:
  void emit(const Event& event) override {
    std::lock_guard guard(mutex);
    events.push_back(event);
  }
  std::vector<Event> all() {
    std::lock_guard guard(mutex);
    return events;
  }

 private:
  std::mutex mutex;
  std::vector<Event> events;
};

// Holds on to its first event until it is let go.
class Slow : public Heard {
 public:
  void emit(const Event& event) override {
    {
      std::unique_lock lock(gate_);
      stuck_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    }
    Heard::emit(event);
  }
  void wait_until_stuck() {
    std::unique_lock lock(gate_);
    changed_.wait(lock, [this] { return stuck_; });
  }
  void let_go() {
    std::lock_guard guard(gate_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex gate_;
  std::condition_variable changed_;
  bool stuck_ = false, open_ = false;
};

TEST(EventHub, NumbersEventsAndTellsAllOfThemInOrder) {
  EventHub hub("run-1");
  auto one = std::make_shared<Heard>(), other = std::make_shared<Heard>();
  ASSERT_TRUE(hub.listen(one, {"one"}).ok());
  ASSERT_TRUE(hub.listen(other, {"other"}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) hub.emit(event_of(EventKind::Log));
    });
  for (std::thread& thread : threads) thread.join();
  for (const ListenerEnd& end : hub.close(Stop())) {
    EXPECT_TRUE(end.status.ok()) << end.name;
    EXPECT_EQ(end.lost, 0u);
  }
  for (const auto& listener : {one, other}) {
    std::vector<Event> events = listener->all();
    ASSERT_EQ(events.size(), 1000u);
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].sequence, i + 1);
      EXPECT_EQ(events[i].run, "run-1");
    }
  }
}

TEST(EventHub, ASlowListenerIsToldWhatItMissedAndStopsNobody) {
  EventHub hub("run-1");
  auto slow = std::make_shared<Slow>();
  auto quick = std::make_shared<Heard>();
  ASSERT_TRUE(hub.listen(slow, {"slow", 3}).ok());
  ASSERT_TRUE(hub.listen(quick, {"quick"}).ok());
  hub.emit(event_of(EventKind::RunStarted));
  slow->wait_until_stuck();
  for (int i = 0; i < 8; ++i) hub.emit(event_of(EventKind::Log));  // 2 .. 9: 5 and later find no room
  hub.emit(event_of(EventKind::RunFinished));
  slow->let_go();
  std::vector<ListenerEnd> ends = hub.close(Stop());
  EXPECT_EQ(ends.at(0).lost, 5u);
  EXPECT_EQ(ends.at(1).lost, 0u);
  EXPECT_EQ(quick->all().size(), 10u);
  std::vector<Event> heard = slow->all();
  ASSERT_EQ(heard.size(), 6u);
  EXPECT_EQ(heard[3].sequence, 4u);
  EXPECT_EQ(heard[4].kind, EventKind::EventsLost);
  EXPECT_EQ(heard[4].data["from"], 5);
  EXPECT_EQ(heard[4].data["to"], 9);
  EXPECT_EQ(heard[5].kind, EventKind::RunFinished);
}

TEST(EventHub, AListenerThatThrowsIsLeftOutAndNamed) {
  class Broken : public EventSink {
    void emit(const Event&) override { throw std::runtime_error("no more paper"); }
  };
  EventHub hub("run-1");
  auto other = std::make_shared<Heard>();
  ASSERT_TRUE(hub.listen(std::make_shared<Broken>(), {"the printer"}).ok());
  ASSERT_TRUE(hub.listen(other, {"other"}).ok());
  for (int i = 0; i < 100; ++i) hub.emit(event_of(EventKind::Log));
  std::vector<ListenerEnd> ends = hub.close(Stop());
  EXPECT_NE(ends.at(0).status.message().find("no more paper"), std::string::npos);
  EXPECT_EQ(ends.at(0).name, "the printer");
  EXPECT_TRUE(ends.at(1).status.ok());
  EXPECT_EQ(other->all().size(), 100u);
}

TEST(EventHub, AListenerThatNeverReturnsIsGivenUp) {
  auto stuck = std::make_shared<Slow>();
  {
    EventHub hub("run-1");
    ASSERT_TRUE(hub.listen(stuck, {"stuck"}).ok());
    for (int i = 0; i < 10; ++i) hub.emit(event_of(EventKind::Log));
    stuck->wait_until_stuck();
    std::vector<ListenerEnd> ends = hub.close(Stop().within(std::chrono::milliseconds(50)));
    EXPECT_EQ(ends.at(0).status.code(), Code::Timeout);
    EXPECT_EQ(ends.at(0).lost, 9u) << "all but the one that it is busy with";
  }
  stuck->let_go();
}

TEST(EventHub, WhoIsLetGoHasHeardAllUntilThen) {
  EventHub hub("run-1");
  auto first = std::make_shared<Heard>(), second = std::make_shared<Heard>();
  auto id = hub.listen(first, {"first"});
  ASSERT_TRUE(id.ok());
  hub.emit(event_of(EventKind::Log));
  EXPECT_TRUE(hub.let_go(*id, Stop()).status.ok());
  ASSERT_TRUE(hub.listen(second, {"second"}).ok());
  hub.emit(event_of(EventKind::Log));
  (void)hub.close(Stop());
  ASSERT_EQ(first->all().size(), 1u);
  ASSERT_EQ(second->all().size(), 1u);
  EXPECT_EQ(second->all()[0].sequence, 2u) << "the numbers are the run's, not the listener's";
}

}  // namespace
}  // namespace radl::test
