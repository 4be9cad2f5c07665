#include "engine/data/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "common/clock.h"
#include "engine/data/random.h"
#include "engine/data/shrink.h"

namespace radl::engine::data {
namespace {

constexpr size_t kChunk = 16;  // images that a thread takes at a time
constexpr uint64_t kNoBatch = UINT64_MAX;
constexpr int kMostThreads = 16;

// A batch in preparation: any free thread takes images; `done` of them are prepared.
struct Slot {
  uint64_t number = kNoBatch;
  std::vector<float> images;
  std::vector<int32_t> labels;
  std::vector<uint8_t> good;
  size_t taken = 0, done = 0;
  Status status;
};

}  // namespace

std::vector<uint32_t> epoch_order(size_t n, uint64_t seed, uint64_t epoch) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  KeyedRandom random(seed, epoch, 0x6f726465725f5f5full);
  for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(uint32_t(i))]);
  return order;
}

struct Loader::Impl {
  Impl(DatasetPtr dataset, const LoaderOptions& options)
      : data_(std::move(dataset)),
        options_(options),
        size_(size_t(options.batch_size)),
        pixels_(pixel_count(data_->shape())),
        batches_(data_->size() / size_),
        transform_(data_->shape(), options.augment, options.normalization) {
    for (const LoaderOptions::Stage& stage : options.stages)
      shrinks_.emplace_back(data_->shape(), stage.shape);
    for (Slot& slot : slots_) {
      slot.images.resize(size_ * pixels_);
      slot.labels.resize(size_);
      slot.good.resize(size_);
    }
    for (int i = 0; i < std::clamp(options.threads, 1, kMostThreads); ++i)
      threads_.emplace_back([this] { run(); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread& t : threads_) t.join();
  }

  Result<Batch> get(uint64_t number) {
    auto begin = SteadyClock::now();
    std::unique_lock lock(mutex_);
    if (slots_[current_ ^ 1].number == number) {
      current_ ^= 1;  // it was hinted at
    } else {
      changed_.wait(lock, [&] { return idle(slots_[current_]); });
      start(slots_[current_], number);
    }
    Slot& slot = slots_[current_];
    while (slot.done < size_) {
      if (slot.taken < size_) {
        work(lock, slot);
      } else {
        changed_.wait(lock);
      }
    }
    waited_ += seconds_since(begin);
    if (!slot.status.ok()) return slot.status;
    return finish(slot);
  }

  void hint(uint64_t number) {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[current_ ^ 1];
    if (slot.number == number || !idle(slot)) return;
    start(slot, number);
  }

  bool idle(const Slot& slot) const { return slot.number == kNoBatch || slot.done == size_; }

  void start(Slot& slot, uint64_t number) {
    slot.number = number;
    slot.taken = slot.done = 0;
    slot.status = {};
    changed_.notify_all();
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Slot* next = nullptr;
      changed_.wait(lock, [&] {
        for (Slot& slot : slots_) {
          if (slot.number != kNoBatch && slot.taken < size_) next = &slot;
        }
        return stopping_ || next != nullptr;
      });
      if (stopping_) return;
      work(lock, *next);
    }
  }

  // Takes some images of the slot and prepares them without the lock.
  void work(std::unique_lock<std::mutex>& lock, Slot& slot) {
    const size_t first = slot.taken, last = std::min(size_, first + kChunk);
    slot.taken = last;
    const uint64_t epoch = slot.number / batches_;
    const size_t base = size_t(slot.number % batches_) * size_;
    std::array<uint32_t, kChunk> indices;
    for (size_t i = first; i < last; ++i) indices[i - first] = order_of(epoch)[base + i];
    lock.unlock();
    Status status;
    thread_local Transform::Scratch scratch;
    for (size_t i = first; i < last && status.ok(); ++i)
      status = prepare(slot, i, indices[i - first], epoch, scratch);
    lock.lock();
    slot.done += last - first;
    if (slot.status.ok()) slot.status = std::move(status);
    changed_.notify_all();
  }

  // Two are kept: a batch of the next epoch may be prepared while this one ends. With the lock.
  const std::vector<uint32_t>& order_of(uint64_t epoch) {
    const size_t at = epoch & 1;
    if (epochs_[at] != epoch) {
      order_[at] = epoch_order(data_->size(), options_.seed, epoch);
      epochs_[at] = epoch;
    }
    return order_[at];
  }

  Status prepare(Slot& slot, size_t i, uint32_t index, uint64_t epoch, Transform::Scratch& scratch) {
    const uint8_t* image = data_->pixels(index);
    slot.good[i] = 1;
    if (image == nullptr) {
      scratch.stored.resize(pixels_);
      if (Status read = data_->read(index, scratch.stored); !read.ok()) {
        slot.good[i] = 0;
        return options_.skip_corrupt && read.code() == Code::Corrupt ? Status() : read;
      }
      image = scratch.stored.data();
    }
    slot.labels[i] = data_->label(index);
    const Shrink* shrink = shrink_of(slot.number);
    if (shrink == nullptr) {
      transform_.train(image, options_.seed, epoch, index, scratch,
                       std::span(slot.images).subspan(i * pixels_, pixels_));
      return {};
    }
    thread_local std::vector<float> whole;
    whole.resize(pixels_);
    transform_.train(image, options_.seed, epoch, index, scratch, whole);
    const size_t values = pixel_count(shrink->to());
    shrink->apply(whole, std::span(slot.images).subspan(i * values, values));
    return {};
  }

  // What batch `number` is scaled down by, null for images of the whole size.
  const Shrink* shrink_of(uint64_t number) const {
    for (size_t i = 0; i < shrinks_.size(); ++i)
      if (number < options_.stages[i].before) return &shrinks_[i];
    return nullptr;
  }

  // Closes the gaps that corrupt images left.
  Result<Batch> finish(Slot& slot) {
    const Shrink* shrink = shrink_of(slot.number);
    const size_t values = shrink == nullptr ? pixels_ : pixel_count(shrink->to());
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i) {
      if (!slot.good[i]) continue;
      if (kept != i) {
        std::copy_n(slot.images.begin() + long(i * values), values,
                    slot.images.begin() + long(kept * values));
        slot.labels[kept] = slot.labels[i];
      }
      ++kept;
    }
    skipped_ += size_ - kept;
    if (kept < size_) slot.number = kNoBatch;  // it is no longer as it was prepared
    if (kept == 0)
      return Status(Code::Corrupt, fmt::format("a batch of {} images: none can be decoded", size_));
    return Batch{std::span<const float>(slot.images.data(), kept * values),
                 std::span<const int32_t>(slot.labels.data(), kept), int(kept)};
  }

  DatasetPtr data_;
  LoaderOptions options_;
  size_t size_, pixels_;
  uint64_t batches_;
  Transform transform_;
  std::vector<Shrink> shrinks_;  // of options_.stages
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Slot, 2> slots_;
  std::array<std::vector<uint32_t>, 2> order_;
  std::array<uint64_t, 2> epochs_{kNoBatch, kNoBatch};
  size_t current_ = 0;
  double waited_ = 0;
  uint64_t skipped_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

Loader::Loader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loader::~Loader() = default;

Result<std::unique_ptr<Loader>> Loader::create(DatasetPtr dataset, const LoaderOptions& options) {
  if (options.batch_size < 1) return invalid(fmt::format("a batch of {} makes no sense", options.batch_size));
  if (dataset->size() > UINT32_MAX)
    return invalid("datasets of more than 4294967295 images are not supported");
  if (dataset->size() < size_t(options.batch_size))
    return invalid(fmt::format("batch_size: {} is more than the {} training images", options.batch_size,
                               dataset->size()));
  const InputShape shape = dataset->shape();
  if (Status fits = Transform::check(shape, options.augment, options.normalization); !fits.ok()) return fits;
  for (const LoaderOptions::Stage& s : options.stages) {
    if (s.shape.height < 1 || s.shape.width < 1 || s.shape.height > shape.height ||
        s.shape.width > shape.width || s.shape.channels != shape.channels)
      return invalid(fmt::format("images of {}x{}x{} cannot be scaled down to {}x{}x{}", shape.height,
                                 shape.width, shape.channels, s.shape.height, s.shape.width,
                                 s.shape.channels));
  }
  return std::unique_ptr<Loader>(new Loader(std::make_unique<Impl>(std::move(dataset), options)));
}

uint64_t Loader::batches_per_epoch() const { return impl_->batches_; }
Result<Batch> Loader::get(uint64_t number) { return impl_->get(number); }
void Loader::hint(uint64_t number) { impl_->hint(number); }
double Loader::wait_seconds() const { return impl_->waited_; }
uint64_t Loader::skipped() const { return impl_->skipped_; }

}  // namespace radl::engine::data
