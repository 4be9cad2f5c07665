#include "runtime/steps/training/kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace radl::training {
namespace {

const std::string kCheckpointFolder = "checkpoint/", kEventsFolder = "events/";

// A file of this computer that is on its way, gone when it has arrived or not.
struct OnItsWay {
  explicit OnItsWay(std::string at) : path(std::move(at)) {}
  ~OnItsWay() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  OnItsWay(const OnItsWay&) = delete;
  OnItsWay& operator=(const OnItsWay&) = delete;
  std::string path;
};

const std::string kRunName(kCheckpointRun);

}  // namespace

KeptCheckpoints::KeptCheckpoints(BucketFolder folder, std::string scratch, size_t keep, Say say)
    : folder_(std::move(folder)), scratch_(std::move(scratch)), keep_(keep), say_(std::move(say)) {}

Status KeptCheckpoints::look(const Stop& stop) {
  if (there_) return {};
  auto objects = folder_.store->list(folder_.prefix, stop);
  if (!objects) return objects.status();
  Listed listed;
  for (const transfer::Object& object : *objects) {
    const std::string name = object.key.substr(folder_.prefix.size());
    listed.run_file |= name == kRunName;
    if (auto parsed = parse_checkpoint_name(name)) listed.sizes[*parsed] = object.size;
  }
  there_ = std::move(listed);
  return {};
}

Result<uint64_t> KeptCheckpoints::last_run(const Stop& stop) {
  uint64_t run = there_->sizes.empty() ? 1 : there_->sizes.rbegin()->first.run;
  if (!there_->run_file) return run;
  auto got = folder_.store->get(folder_.key(kRunName), {}, stop);
  if (!got) return got.status();
  auto begun = parse_checkpoint_run(got->bytes);
  if (!begun) return Status(Code::Corrupt, folder_.address(kRunName) + ": does not hold the number of a run");
  return std::max(run, *begun);
}

Status KeptCheckpoints::put_run(Member& chief, uint64_t run, const Stop& stop) {
  return chief.put_bytes(checkpoint_run_text(run), kCheckpointFolder + kRunName, stop);
}

Status KeptCheckpoints::bring(Member& chief, const Stop& stop) {
  there_.reset();
  if (Status seen = look(stop); !seen.ok()) return seen;
  auto run = last_run(stop);
  if (!run) return run.status();
  auto here = chief.files(kCheckpointFolder);
  if (!here) return here.status();
  CheckpointName newest{0, 0};
  for (const NodeFile& file : *here) {
    if (auto name = parse_checkpoint_name(file.name)) newest = std::max(newest, *name);
  }
  if (newest.run > *run) return {};
  // First, so that what is written afterwards has its number.
  if (*run > 1 && newest.run < *run) {
    if (Status put = put_run(chief, *run, stop); !put.ok()) return put;
  }
  for (auto it = there_->sizes.rbegin(); it != there_->sizes.rend() && it->first.run == *run; ++it) {
    if (it->first <= newest) return {};
    const std::string name = it->first.text();
    OnItsWay file(scratch_ + "/" + name);
    transfer::Download what;
    what.path = file.path;
    what.check = check_checkpoint_file;
    what.stop = stop;
    Status got = folder_.store->get_file(folder_.key(name), std::move(what));
    if (got.code() == Code::Corrupt || got.code() == Code::NotFound) {
      say_(fmt::format("{} is passed over: {}", folder_.address(name), got.message()));
      continue;
    }
    if (!got.ok()) return got;
    if (Status put = chief.put_file(file.path, kCheckpointFolder + name, stop); !put.ok()) return put;
    say_(fmt::format("{}: resumes from {}", chief.address(), folder_.address(name)));
    return {};
  }
  return {};
}

Status KeptCheckpoints::begin_anew(Member& chief, const Stop& stop) {
  there_.reset();
  if (Status seen = look(stop); !seen.ok()) return seen;
  auto run = last_run(stop);
  if (!run) return run.status();
  uint64_t next = *run;
  if (!there_->sizes.empty() && there_->sizes.rbegin()->first.run == *run) {
    ++next;
    // Before the node is told: a run that is killed in between also starts over.
    auto put = folder_.store->put(folder_.key(kRunName), checkpoint_run_text(next), {}, stop);
    if (!put) return put.status();
    there_->run_file = true;
    say_(fmt::format("starts over; checkpoints of this run replace those of the run before in {}",
                     folder_.address("")));
  }
  return next > 1 ? put_run(chief, next, stop) : Status();
}

Status KeptCheckpoints::send_run(Member& chief, const Stop& stop) {
  auto text = chief.read(kCheckpointFolder + kRunName, 64);
  if (text.status().code() == Code::NotFound) return {};
  if (!text) return text.status();
  if (*text == run_sent_) return {};
  auto put = folder_.store->put(folder_.key(kRunName), *text, {}, stop);
  if (put) run_sent_ = *text;
  return put.status();
}

Result<bool> KeptCheckpoints::send_one(Member& chief, const CheckpointName& name, const Stop& stop) {
  OnItsWay file(scratch_ + "/" + name.text());
  Status got = chief.fetch_file(kCheckpointFolder + name.text(), file.path, stop);
  if (got.code() == Code::NotFound) return false;  // it has made way for a newer one meanwhile
  if (got.ok()) got = check_checkpoint_file(file.path);
  if (!got.ok()) return got;
  auto put = folder_.send(file.path, name.text(), stop);
  if (!put) return put.status();
  there_->sizes[name] = put->size;
  return true;
}

// A request that failed or was abandoned may have been executed, so the objects are listed again. Otherwise
// an unknown object could remain.
Status KeptCheckpoints::send(Member& chief, const Stop& stop) {
  Status sent = send_newest(chief, stop);
  if (!sent.ok()) there_.reset();
  return sent;
}

Status KeptCheckpoints::send_newest(Member& chief, const Stop& stop) {
  if (Status seen = look(stop); !seen.ok()) return seen;
  auto here = chief.files(kCheckpointFolder);
  if (!here) return here.status();
  std::vector<CheckpointName> names;
  bool numbered = false;
  for (const NodeFile& file : *here) {
    numbered |= file.name == kRunName;
    if (auto name = parse_checkpoint_name(file.name)) names.push_back(*name);
  }
  // Before the checkpoints of that run, so that it never resumes from an earlier run's.
  if (numbered) {
    if (Status sent = send_run(chief, stop); !sent.ok()) return sent;
  }
  std::sort(names.rbegin(), names.rend());
  if (names.size() > keep_) names.resize(keep_);
  for (const CheckpointName& name : names) {
    if (there_->sizes.contains(name)) continue;
    auto sent = send_one(chief, name, stop);
    if (!sent) return sent.status();
    if (*sent) say_(fmt::format("checkpoint of step {} is in {}", name.step, folder_.address(name.text())));
  }
  return remove_old(stop);
}

Status KeptCheckpoints::remove_old(const Stop& stop) {
  while (there_->sizes.size() > keep_) {
    auto oldest = there_->sizes.begin();
    Status removed = folder_.store->remove(folder_.key(oldest->first.text()), stop);
    if (!removed.ok()) return removed;
    there_->sizes.erase(oldest);
  }
  return {};
}

Status KeptEvents::send(Member& chief, const Stop& stop) {
  auto here = chief.files(kEventsFolder);
  if (!here) return here.status();
  for (const NodeFile& file : *here) {
    if (auto sent = sent_.find(file.name); sent != sent_.end() && sent->second == file.size) continue;
    std::string plain = file.name;
    std::replace(plain.begin(), plain.end(), '/', '_');
    OnItsWay local(scratch_ + "/" + plain);
    Status got = chief.fetch_file(kEventsFolder + file.name, local.path, stop);
    if (got.code() == Code::NotFound) continue;
    if (!got.ok()) return got;
    auto put = folder_.send(local.path, kEventsFolder + file.name, stop);
    if (!put) return put.status();
    sent_[file.name] = file.size;  // it may be longer by now: then it is sent again
  }
  return {};
}

}  // namespace radl::training
