#include "tools/lsp/checker.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace radl::lsp {

struct Checker::Impl {
  std::function<void()> finished;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<CheckJob> waiting;
  std::vector<CheckResult> done;
  bool closing = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return closing || !waiting.empty(); });
      if (closing) return;
      CheckJob job = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      CheckResult result = check(job);
      lock.lock();
      done.push_back(std::move(result));
      finished();
    }
  }

  static CheckResult check(const CheckJob& job) {
    CheckResult result;
    result.analysis = job.analysis;
    try {
      result.findings = find_all(job);
      result.diagnostics = std::make_shared<nlohmann::json>(findings_json(*result.findings));
    } catch (const std::exception& error) {  // out of memory, say: the document stays unchecked
      result.findings = nullptr;
      result.broke_off = error.what();
    }
    return result;
  }
};

Checker::Checker(std::function<void()> finished) : impl_(std::make_unique<Impl>()) {
  impl_->finished = std::move(finished);
  impl_->thread = std::thread([this] { impl_->run(); });
}

Checker::~Checker() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
    impl_->changed.notify_one();
  }
  impl_->thread.join();
}

void Checker::submit(CheckJob job) {
  std::lock_guard lock(impl_->mutex);
  std::erase_if(impl_->waiting,
                [&job](const CheckJob& each) { return each.analysis->uri == job.analysis->uri; });
  impl_->waiting.push_back(std::move(job));
  impl_->changed.notify_one();
}

std::vector<CheckResult> Checker::take() {
  std::lock_guard lock(impl_->mutex);
  return std::exchange(impl_->done, {});
}

}  // namespace radl::lsp
