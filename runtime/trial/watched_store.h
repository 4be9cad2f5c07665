// A store that announces each write before and after it, so that a trial can stop or kill a run
// there.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/state/store.h"

namespace radl {

class WatchedStore : public Store {
 public:
  using Watch = std::function<void(const std::string& what)>;
  WatchedStore(std::unique_ptr<Store> store, Watch watch)
      : store_(std::move(store)), watch_(std::move(watch)) {}

  Status lock(const std::string& command, std::chrono::milliseconds timeout,
              const std::function<void(const LockInfo&)>& waiting = {}, const Stop& stop = {}) override {
    return store_->lock(command, timeout, waiting, stop);
  }
  void unlock() override { store_->unlock(); }
  Result<std::optional<LockInfo>> lock_holder() override { return store_->lock_holder(); }
  Status adopt() override { return store_->adopt(); }
  Status force_unlock(const std::string& lock_id) override { return store_->force_unlock(lock_id); }

  Result<std::unique_ptr<JobLease>> lease_job(const std::string& step, const std::string& command,
                                              bool take_over, const Stop& stop) override {
    watch_("lease: before " + step);
    auto lease = store_->lease_job(step, command, take_over, stop);
    watch_("lease: " + step);
    return lease;
  }
  Result<std::optional<LockInfo>> supervisor(const std::string& step) override {
    return store_->supervisor(step);
  }

  Result<Snapshot> snapshot() override { return store_->snapshot(); }
  Result<std::vector<Intent>> open_intents() override { return store_->open_intents(); }
  Result<std::vector<HistoryEntry>> history(size_t newest) override { return store_->history(newest); }
  Result<std::vector<Owned>> owned() override { return store_->owned(); }

  Result<std::vector<long long>> commit(const std::vector<StateChange>& changes) override {
    const std::string what = text_of(changes);
    watch_("journal: before " + what);
    Result<std::vector<long long>> result = store_->commit(changes);
    watch_("journal: " + what);
    return result;
  }

  std::vector<Result<std::vector<long long>>> commit_each(
      const std::vector<std::vector<StateChange>>& lists) override {
    for (const std::vector<StateChange>& changes : lists) watch_("journal: before " + text_of(changes));
    std::vector<Result<std::vector<long long>>> results = store_->commit_each(lists);
    for (const std::vector<StateChange>& changes : lists) watch_("journal: " + text_of(changes));
    return results;
  }

  bool can_write() const override { return store_->can_write(); }
  Status still_held() override { return store_->still_held(); }
  Stop lost() override { return store_->lost(); }
  std::string work_directory() const override { return store_->work_directory(); }
  std::string log_directory() const override { return store_->log_directory(); }
  std::string run_directory() const override { return store_->run_directory(); }
  std::string path() const override { return store_->path(); }

 private:
  // "begin create worker[0]", "put worker[0], close".
  static std::string text_of(const std::vector<StateChange>& changes) {
    std::string text;
    for (const StateChange& change : changes) {
      text += text.empty() ? "" : ", ";
      text += std::visit([](const auto& each) { return name_of(each); }, change);
    }
    return text;
  }
  static std::string name_of(const state_change::Begin& begin) {
    return "begin " + std::string(intent_kind_name(begin.intent.kind)) + " " + begin.intent.address;
  }
  static std::string name_of(const state_change::Close&) { return "close"; }
  static std::string name_of(const state_change::PutResource& put) { return "put " + put.record.address; }
  static std::string name_of(const state_change::RemoveResource& remove) {
    return "remove " + remove.address;
  }
  static std::string name_of(const state_change::Release& release) { return "release " + release.address; }
  static std::string name_of(const state_change::DropReleased& drop) { return "drop released " + drop.id; }
  static std::string name_of(const state_change::TakeLineage&) { return "take lineage"; }
  static std::string name_of(const state_change::PutStep& put) { return "put " + put.record.id; }
  static std::string name_of(const state_change::ForgetStep& forget) { return "forget " + forget.id; }
  static std::string name_of(const state_change::Move& move) { return "move " + move.from; }
  static std::string name_of(const state_change::Protect& protect) { return "protect " + protect.address; }
  static std::string name_of(const state_change::PutScaling& put) { return "nodes of " + put.system; }
  static std::string name_of(const state_change::PutOwner& put) { return "owner of " + put.cloud; }
  static std::string name_of(const state_change::CloseRun&) { return "close run"; }

  std::unique_ptr<Store> store_;
  Watch watch_;
};

}  // namespace radl
