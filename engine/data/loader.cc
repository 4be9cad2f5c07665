#include "engine/data/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/data/random.h"

namespace radl::engine::data {

std::vector<uint32_t> epoch_order(size_t n, uint64_t seed, int epoch, bool shuffle) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  if (!shuffle) return order;
  KeyedRandom random(seed, uint64_t(epoch), 0x6f726465725f5f5full);
  for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(uint32_t(i))]);
  return order;
}

struct Loader::Impl {
  struct Slot {
    std::vector<float> images;
    std::vector<int32_t> labels;
    std::vector<size_t> indices;
    size_t number = 0;
    bool ready = false;
    Status status;
    LoadedBatch view;
  };

  Impl(DatasetPtr d, const LoaderOptions& o, InputShape output)
      : dataset(std::move(d)),
        options(o),
        out(output),
        transform(dataset->shape(), output, o.augment, o.normalization) {}

  DatasetPtr dataset;
  LoaderOptions options;
  InputShape out;
  Transform transform;
  size_t shard = 0, batches = 0;

  std::mutex mutex;
  std::condition_variable work, done;
  std::vector<uint32_t> order;
  std::vector<Slot> slots;  // batch number b lives in slot b % slots.size()
  int epoch = -1;
  size_t next_to_prepare = 0, next_to_give = 0;
  size_t busy = 0;
  bool holding = false;  // the caller still reads batch next_to_give - 1
  bool stopping = false;
  LoaderStatistics counts;
  std::vector<std::thread> threads;

  size_t batch_pictures(size_t number) const {
    return std::min(size_t(options.batch_size), shard - number * size_t(options.batch_size));
  }
  void fill(Slot& slot, size_t number, const std::vector<uint32_t>& epoch_order, int of_epoch,
            Transform::Scratch& scratch, uint64_t& skipped);
  void run();
  void quiesce(std::unique_lock<std::mutex>& lock) {
    done.wait(lock, [&] { return busy == 0; });
  }
};

void Loader::Impl::fill(Slot& slot, size_t number, const std::vector<uint32_t>& the_order, int of_epoch,
                        Transform::Scratch& scratch, uint64_t& skipped) {
  const size_t pixels = pixel_count(out), stored = pixel_count(dataset->shape());
  const size_t count = batch_pictures(number);
  slot.status = {};
  slot.indices.clear();
  slot.labels.clear();
  for (size_t k = 0; k < count; ++k) {
    const size_t position =
        (number * size_t(options.batch_size) + k) * size_t(options.workers) + size_t(options.worker);
    const size_t index = the_order[position];
    const uint8_t* picture = dataset->pixels(index);
    if (!picture) {
      scratch.stored.resize(stored);
      if (Status read = dataset->read(index, scratch.stored); !read.ok()) {
        if (options.skip_corrupt && read.code() == Code::Corrupt) {
          ++skipped;
          continue;
        }
        slot.status = std::move(read);
        break;
      }
      picture = scratch.stored.data();
    }
    std::span<float> to(slot.images.data() + slot.indices.size() * pixels, pixels);
    if (options.training) {
      transform.train(picture, options.seed, uint64_t(of_epoch), index, scratch, to);
    } else {
      transform.evaluate(picture, scratch, to);
    }
    slot.indices.push_back(index);
    slot.labels.push_back(dataset->label(index));
  }
  if (slot.status.ok() && slot.indices.empty()) {
    slot.status = Status(Code::Corrupt, "batch " + std::to_string(number) + ": none of its " +
                                            std::to_string(count) + " pictures can be decoded");
  }
  slot.number = number;
  slot.view = {{std::span<const float>(slot.images.data(), slot.indices.size() * pixels), slot.labels,
                int(slot.indices.size())},
               slot.indices,
               of_epoch,
               number};
}

void Loader::Impl::run() {
  Transform::Scratch scratch;
  std::unique_lock lock(mutex);
  for (;;) {
    // One slot may be in the caller's hands.
    auto may_prepare = [&] {
      const size_t oldest = next_to_give - (holding ? 1 : 0);
      return epoch >= 0 && next_to_prepare < batches && next_to_prepare < oldest + slots.size();
    };
    work.wait(lock, [&] { return stopping || may_prepare(); });
    if (stopping) return;
    const size_t number = next_to_prepare++;
    const int of_epoch = epoch;
    Slot& slot = slots[number % slots.size()];
    slot.ready = false;
    ++busy;
    lock.unlock();
    uint64_t skipped = 0;
    fill(slot, number, order, of_epoch, scratch, skipped);  // `order` changes only while nobody is busy
    lock.lock();
    --busy;
    counts.skipped += skipped;
    slot.ready = true;
    done.notify_all();
  }
}

Loader::Loader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Loader>> Loader::create(DatasetPtr dataset, const LoaderOptions& options) {
  if (options.batch_size < 1 || options.workers < 1 || options.worker < 0 ||
      options.worker >= options.workers) {
    return invalid("batch size " + std::to_string(options.batch_size) + ", worker " +
                   std::to_string(options.worker) + " of " + std::to_string(options.workers) +
                   " make no sense");
  }
  if (dataset->size() > UINT32_MAX)
    return invalid("datasets of more than 4294967295 pictures are not supported");
  InputShape out = options.output;
  if (out.height == 0 && out.width == 0 && out.channels == 0) out = dataset->shape();
  LoaderOptions used = options;
  if (!used.training) used.augment = {};
  if (Status fits = Transform::check(dataset->shape(), out, used.augment, used.normalization); !fits.ok())
    return fits;

  auto impl = std::make_unique<Impl>(std::move(dataset), used, out);
  // Without drop_last every picture counts (evaluation): the first workers take the rest.
  const size_t n = impl->dataset->size(), w = size_t(used.workers);
  impl->shard = n / w + (!used.drop_last && size_t(used.worker) < n % w ? 1 : 0);
  const size_t size = size_t(used.batch_size);
  impl->batches = used.drop_last ? impl->shard / size : (impl->shard + size - 1) / size;
  if (impl->batches == 0) {
    return invalid(
        "a batch of " + std::to_string(used.batch_size) + " is more than the " + std::to_string(impl->shard) +
        " pictures" +
        (used.workers > 1 ? " of each of " + std::to_string(used.workers) + " workers" : std::string()));
  }
  impl->slots.resize(size_t(std::max(used.prefetch, 1)) + 1);
  for (auto& slot : impl->slots) {
    slot.images.resize(std::min(size, impl->shard) * pixel_count(out));
    slot.labels.reserve(size);
    slot.indices.reserve(size);
  }
  for (int t = 0; t < std::max(used.threads, 1); ++t)
    impl->threads.emplace_back([p = impl.get()] { p->run(); });
  return std::unique_ptr<Loader>(new Loader(std::move(impl)));
}

Loader::~Loader() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->work.notify_all();
  for (auto& thread : impl_->threads) thread.join();
}

size_t Loader::batches_per_epoch() const { return impl_->batches; }
InputShape Loader::output() const { return impl_->out; }

void Loader::start_epoch(int epoch, size_t first_batch) {
  std::unique_lock lock(impl_->mutex);
  impl_->epoch = -1;  // nothing new is begun
  impl_->quiesce(lock);
  impl_->order = epoch_order(impl_->dataset->size(), impl_->options.seed, epoch, impl_->options.shuffle);
  impl_->next_to_prepare = impl_->next_to_give = first_batch;
  impl_->holding = false;
  for (auto& slot : impl_->slots) slot.ready = false;
  impl_->epoch = epoch;
  lock.unlock();
  impl_->work.notify_all();
}

Result<const LoadedBatch*> Loader::next() {
  Impl& s = *impl_;
  std::unique_lock lock(s.mutex);
  if (s.epoch < 0) return internal_error("Loader::next() before start_epoch()");
  s.holding = false;
  s.work.notify_all();
  if (s.next_to_give >= s.batches) return static_cast<const LoadedBatch*>(nullptr);
  Impl::Slot& slot = s.slots[s.next_to_give % s.slots.size()];
  auto ready = [&] { return slot.ready && slot.number == s.next_to_give; };
  if (!ready()) {
    const auto begin = std::chrono::steady_clock::now();
    s.done.wait(lock, ready);
    s.counts.wait_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  ++s.next_to_give;
  s.holding = true;
  if (!slot.status.ok()) return slot.status;
  s.counts.pictures += uint64_t(slot.view.batch.size);
  ++s.counts.batches;
  return static_cast<const LoadedBatch*>(&slot.view);
}

LoaderStatistics Loader::statistics() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

}  // namespace radl::engine::data
