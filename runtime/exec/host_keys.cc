#include "runtime/exec/host_keys.h"

#include <algorithm>
#include <vector>

#include "common/guarded.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstCheck{5000}, kLongestCheck{60000};
constexpr milliseconds kOneQuestion{15000};

// Type and key, without the comment.
std::string key_only(const std::string& line) { return line.substr(0, line.find(' ', line.find(' ') + 1)); }

std::vector<ResourceRecord> trusted_on_first_use(const Execution& execution) {
  std::vector<ResourceRecord> records;
  execution.read([&](const Snapshot& known) {
    for (const auto& [address, record] : known.resources)
      if (is_trusted_on_first_use(record.attributes)) records.push_back(record);
  });
  return records;
}

}  // namespace

Result<bool> is_key_of_cloud(Cloud& cloud, const Context& context, const std::string& id,
                             const std::string& shown) {
  const std::string type = shown.substr(0, shown.find(' '));
  Result<std::vector<std::string>> told = cloud.host_keys(context, id);
  if (!told.ok()) return told.status();
  bool confirmed = false;
  for (const std::string& line : *told) {
    if (line.substr(0, line.find(' ')) != type) continue;
    if (key_only(line) != key_only(shown))
      return Status(Code::Auth,
                    "host key mismatch: the node's key differs from the one that its cloud reports");
    confirmed = true;
  }
  return confirmed;
}

Result<bool> confirm_host_key(Execution& execution, const ResourceRecord& record, const Stop& stop) {
  Cloud* cloud = execution.run.clouds->find(record.cloud);
  const std::string shown = record.attributes.value("host_key", "");
  if (!cloud || shown.empty()) return false;
  Context context = execution.context(record.address, execution.in(kOneQuestion));
  context.stop = context.stop.or_when(stop);
  Result<bool> confirmed = is_key_of_cloud(*cloud, context, record.id, shown);
  if (confirmed.status().code() != Code::Auth) return confirmed;
  return Status(confirmed.status())
      .at(record.address)
      .with_hint("another machine may be answering at " + record.attributes.value("host", "its address") +
                 "; treat what was sent to the node as disclosed");
}

bool HostKeyCheck::Verdict::is_of(const ResourceRecord& record) const {
  return record.id == id && record.attributes.value("host_key", "") == host_key;
}

HostKeyCheck::HostKeyCheck(Execution& execution) : execution_(execution) {
  if (execution_.run.host_key) thread_ = std::thread([this] { run(); });
}

HostKeyCheck::~HostKeyCheck() { stop_thread(); }

void HostKeyCheck::stop_thread() {
  {
    std::lock_guard guard(mutex_);
    ended_ = true;
  }
  over_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// By the real clock: a run that plays with time waits for no cloud's console.
void HostKeyCheck::run() {
  const Stop ended = Stop::when([this] {
    std::lock_guard guard(mutex_);
    return ended_;
  });
  for (milliseconds wait = kFirstCheck;; wait = std::min(wait * 2, kLongestCheck)) {
    (void)guarded([&]() -> Status { return ask_all(ended), Status(); });
    std::unique_lock lock(mutex_);
    if (over_.wait_for(lock, wait, [&] { return ended_; })) return;
  }
}

void HostKeyCheck::ask_all(const Stop& stop) {
  for (const ResourceRecord& record : trusted_on_first_use(execution_)) {
    if (execution_.stop_starting() || stop.asked()) return;
    {
      std::lock_guard guard(mutex_);
      auto known = verdicts_.find(record.address);
      if (known != verdicts_.end() && known->second.is_of(record)) continue;
    }
    Result<bool> confirmed = confirm_host_key(execution_, record, stop);
    const bool other = confirmed.status().code() == Code::Auth;
    if (!other && (!confirmed.ok() || !*confirmed)) continue;
    if (other) execution_.distrust(record.address, confirmed.status());
    Context context = execution_.context(record.address, {});
    context.log(other ? confirmed.status().message() : "host key confirmed by the cloud");
    std::lock_guard guard(mutex_);
    verdicts_[record.address] = {record.id, record.attributes.value("host_key", ""),
                                 other ? confirmed.status() : Status()};
  }
}

Status HostKeyCheck::end() {
  stop_thread();
  if (!execution_.run.host_key) return {};
  (void)guarded([&]() -> Status { return ask_all(Stop().within(kOneQuestion)), Status(); });
  Status first;
  for (const auto& [address, verdict] : verdicts_) {
    const Status& outcome = verdict.status;
    std::optional<ResourceRecord> record = execution_.resource(address);
    if (!record || !verdict.is_of(*record)) continue;
    // Without a key, the next contact learns it again, and rejects it if the cloud reports another.
    if (!outcome.ok()) record->attributes.erase("host_key");
    record->attributes[kHostKeyFrom] = outcome.ok() ? kFromCloud : kFromFirstUse;
    if (first.ok()) first = outcome;
    if (Status kept = execution_.store().put_resource(*record); !kept.ok()) return first.ok() ? kept : first;
    execution_.put(*record);
  }
  return first;
}

}  // namespace radl
