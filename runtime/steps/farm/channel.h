// The connections of a farm to its nodes: an agent on each (agent.h), and what is brought from it.
//
// Each node has two threads: one keeps the agent connected, the other brings results and last lines. What
// they learn is in one queue, which the farm's own thread reads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/guarded.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/jobs/member.h"

namespace radl::farm {

struct Message {
  enum class Kind {
    Line,          // of the agent
    Disconnected,  // the agent cannot be reached: `status`; it is connected again as soon as possible
    Done,          // of errand(): `status`, `number`
  } kind = Kind::Line;
  size_t node = 0;
  AgentLine line;
  Status status;
  size_t number = 0;
};

class Channels {
 public:
  Channels(const std::vector<NodeHandle>& nodes, const std::vector<std::unique_ptr<jobs::Member>>& members,
           const Context& context, std::function<std::string(size_t node)> agent);
  ~Channels();  // leaves the tasks running
  Status open();
  void send(size_t node, const std::string& command);
  // Calls `what` in the node's other thread; Message::Done with the number that is returned here.
  size_t errand(size_t node, std::function<Status()> what);
  // What has come, in order; waits for the first up to `time`.
  std::vector<Message> take(std::chrono::milliseconds time);
  void close();

 private:
  struct Node {
    std::string outgoing;
    std::deque<std::pair<size_t, std::function<Status()>>> errands;
    std::condition_variable news;
  };
  void talk(size_t node);
  Status talk_once(size_t node);
  void run_errands(size_t node);
  void put(Message message);

  const std::vector<NodeHandle>& nodes_;
  const std::vector<std::unique_ptr<jobs::Member>>& members_;
  const Context& context_;
  const std::function<std::string(size_t node)> agent_;  // its script (scheduler.h)
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Message> queue_;
  std::vector<std::unique_ptr<Node>> own_;
  size_t errands_ = 0;
  bool over_ = false;
  std::unique_ptr<Threads> threads_;
};

}  // namespace radl::farm
