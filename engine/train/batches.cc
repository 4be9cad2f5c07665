#include "engine/train/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/data/loader.h"

namespace radl::engine {
namespace {

constexpr size_t kChunk = 16;  // pictures that a thread takes at a time

struct Slot {
  uint64_t ticket = UINT64_MAX;
  std::vector<float> images;
  std::vector<int32_t> labels;
  std::vector<uint8_t> good;
  size_t taken = 0, done = 0;  // pictures
  Status status;
};

class Source : public BatchSource {
 public:
  Source(const Setup& setup, const Job& job)
      : data_(setup.data.train),
        length_(setup.length),
        size_(static_cast<size_t>(job.batch_size)),
        pixels_(data::pixel_count(data_->shape())),
        seed_(job.seed),
        skip_corrupt_(job.dataset.skip_corrupt),
        transform_(data_->shape(), data_->shape(), augment_config(job.augment), setup.data.normalization) {
    for (Slot& slot : slots_) {
      slot.images.resize(size_ * pixels_);
      slot.labels.resize(size_);
      slot.good.resize(size_);
    }
    unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
    unsigned threads = job.threads > 0 ? static_cast<unsigned>(job.threads) : hardware;
    for (unsigned i = 0; i < std::min(threads, 16u); ++i) threads_.emplace_back([this] { run(); });
  }

  ~Source() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread& t : threads_) t.join();
  }

  Result<Batch> get(uint64_t ticket) override {
    auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    if (slots_[current_ ^ 1].ticket == ticket) {
      current_ ^= 1;  // it was hinted at
    } else {
      changed_.wait(lock, [&] { return idle(slots_[current_]); });
      start(slots_[current_], ticket);
    }
    Slot& slot = slots_[current_];
    while (slot.done < size_) {  // the caller works along instead of waiting
      if (slot.taken < size_) {
        work(lock, slot);
      } else {
        changed_.wait(lock);
      }
    }
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!slot.status.ok()) return slot.status;
    return finish(slot);
  }

  void hint(uint64_t ticket) override {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[current_ ^ 1];
    if (ticket >= length_.total || slot.ticket == ticket || !idle(slot)) return;
    start(slot, ticket);
    changed_.notify_all();
  }

  double wait_seconds() const override { return waited_; }
  uint64_t skipped() const override { return skipped_; }

 private:
  bool idle(const Slot& slot) const { return slot.ticket == UINT64_MAX || slot.done == size_; }

  void start(Slot& slot, uint64_t ticket) {
    uint64_t epoch = ticket / length_.batches_per_epoch;
    if (order_[epoch & 1].empty() || epochs_[epoch & 1] != epoch) {
      order_[epoch & 1] = data::epoch_order(data_->size(), seed_, static_cast<int>(epoch), true);
      epochs_[epoch & 1] = epoch;
    }
    slot.ticket = ticket;
    slot.taken = slot.done = 0;
    slot.status = {};
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Slot* next = nullptr;
      changed_.wait(lock, [&] {
        for (Slot& slot : slots_) {
          if (slot.ticket != UINT64_MAX && slot.taken < size_) next = &slot;
        }
        return stopping_ || next != nullptr;
      });
      if (stopping_) return;
      work(lock, *next);
    }
  }

  // Takes some pictures of the slot and prepares them without the lock.
  void work(std::unique_lock<std::mutex>& lock, Slot& slot) {
    size_t first = slot.taken, last = std::min(size_, first + kChunk);
    slot.taken = last;
    uint64_t epoch = slot.ticket / length_.batches_per_epoch;
    size_t base = (slot.ticket % length_.batches_per_epoch) * size_;
    std::array<uint32_t, kChunk> indices;
    for (size_t i = first; i < last; ++i) indices[i - first] = order_[epoch & 1][base + i];
    lock.unlock();
    Status status;
    thread_local data::Transform::Scratch scratch;
    for (size_t i = first; i < last && status.ok(); ++i)
      status = prepare(slot, i, indices[i - first], epoch, scratch);
    lock.lock();
    slot.done += last - first;
    if (slot.status.ok()) slot.status = std::move(status);
    changed_.notify_all();
  }

  Status prepare(Slot& slot, size_t i, uint32_t index, uint64_t epoch, data::Transform::Scratch& scratch) {
    const uint8_t* picture = data_->pixels(index);
    slot.good[i] = 1;
    if (picture == nullptr) {
      scratch.stored.resize(pixels_);
      if (Status read = data_->read(index, scratch.stored); !read.ok()) {
        slot.good[i] = 0;
        return skip_corrupt_ && read.code() == Code::Corrupt ? Status() : read;
      }
      picture = scratch.stored.data();
    }
    slot.labels[i] = data_->label(index);
    transform_.train(picture, seed_, epoch, index, scratch,
                     std::span(slot.images).subspan(i * pixels_, pixels_));
    return {};
  }

  // Closes the gaps that corrupt pictures left.
  Result<Batch> finish(Slot& slot) {
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i) {
      if (!slot.good[i]) continue;
      if (kept != i) {
        std::copy_n(slot.images.begin() + static_cast<long>(i * pixels_), pixels_,
                    slot.images.begin() + static_cast<long>(kept * pixels_));
        slot.labels[kept] = slot.labels[i];
      }
      ++kept;
    }
    skipped_ += size_ - kept;
    if (kept == 0)
      return Status(Code::Corrupt,
                    fmt::format("batch {}: none of its {} pictures can be decoded", slot.ticket, size_));
    return Batch{std::span<const float>(slot.images.data(), kept * pixels_),
                 std::span<const int32_t>(slot.labels.data(), kept), static_cast<int>(kept)};
  }

  data::DatasetPtr data_;
  RunLength length_;
  size_t size_, pixels_;
  uint64_t seed_;
  bool skip_corrupt_;
  data::Transform transform_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Slot, 2> slots_;
  std::array<std::vector<uint32_t>, 2> order_;
  std::array<uint64_t, 2> epochs_{};
  size_t current_ = 0;
  double waited_ = 0;
  uint64_t skipped_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<BatchSource> make_batches(const Setup& setup, const Job& job) {
  return std::make_unique<Source>(setup, job);
}

}  // namespace radl::engine
