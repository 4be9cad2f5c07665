// A store that says before and after each write that it is about to be done, and was: where a trial stops or
// kills a run.
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
              const std::function<void(const LockInfo&)>& waiting = {},
              const std::function<bool()>& cancelled = {}) override {
    return store_->lock(command, timeout, waiting, cancelled);
  }
  void unlock() override { store_->unlock(); }
  Result<std::optional<LockInfo>> lock_holder() override { return store_->lock_holder(); }
  Status force_unlock(const std::string& lock_id) override { return store_->force_unlock(lock_id); }

  Result<Snapshot> snapshot() override { return store_->snapshot(); }
  Result<std::vector<Intent>> open_intents() override { return store_->open_intents(); }
  Result<std::vector<HistoryEntry>> history(size_t newest) override { return store_->history(newest); }

  Result<Intent> begin(Intent intent) override {
    std::string what = "begin " + std::string(intent_kind_name(intent.kind)) + " " + intent.address;
    return watched(what, [&] { return store_->begin(std::move(intent)); });
  }
  Result<Intent> begin_run(StepRecord record) override {
    std::string what = "begin run " + record.id;
    return watched(what, [&] { return store_->begin_run(std::move(record)); });
  }
  Status finish(const Intent& intent, const ResourceRecord* made) override {
    return watched(made ? "finish " + intent.address : "close " + intent.address,
                   [&] { return store_->finish(intent, made); });
  }
  Status finish_destroy(const Intent& intent, bool keep_steps) override {
    return watched("finish destroy " + intent.address,
                   [&] { return store_->finish_destroy(intent, keep_steps); });
  }
  Status finish_run(const Intent& intent, const StepRecord& record) override {
    return watched("finish run " + record.id, [&] { return store_->finish_run(intent, record); });
  }
  Status put_resource(const ResourceRecord& record) override {
    return watched("put " + record.address, [&] { return store_->put_resource(record); });
  }
  Status remove_resource(const std::string& address) override {
    return watched("forget " + address, [&] { return store_->remove_resource(address); });
  }
  Status forget_step(const std::string& id) override {
    return watched("forget " + id, [&] { return store_->forget_step(id); });
  }
  Status move(const std::string& from, const std::string& to) override {
    return watched("move " + from, [&] { return store_->move(from, to); });
  }
  Status close_run(const std::vector<OutputRecord>& outputs,
                   const std::map<std::string, std::string>& secrets, const std::string& source_digest,
                   const std::vector<std::string>& source_paths, const std::string& command,
                   const std::string& summary) override {
    return watched("close run", [&] {
      return store_->close_run(outputs, secrets, source_digest, source_paths, command, summary);
    });
  }

  std::string work_directory() const override { return store_->work_directory(); }
  std::string log_directory() const override { return store_->log_directory(); }
  std::string path() const override { return store_->path(); }

 private:
  template <class Write>
  auto watched(const std::string& what, Write write) -> decltype(write()) {
    watch_("journal: before " + what);
    auto result = write();
    watch_("journal: " + what);
    return result;
  }

  std::unique_ptr<Store> store_;
  Watch watch_;
};

}  // namespace radl
