#include "engine/data/examine.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "common/dataset_files.h"
#include "engine/data/image_files.h"
#include "engine/data/place.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

// Both parts as one list.
struct Both {
  const Dataset &train, &test;
  size_t size() const { return train.size() + test.size(); }
  const Dataset& part(size_t i) const { return i < train.size() ? train : test; }
  size_t index(size_t i) const { return i < train.size() ? i : i - train.size(); }
};

struct Found {
  size_t number = 0;
  std::string name, why;
};

class Decoding {
 public:
  Decoding(const ExamineOptions& options, const Both& both, const std::string& root)
      : options_(options), both_(both), root_(root) {
    count_ = options.decode == 0 ? both.size() : std::min(options.decode, both.size());
  }

  Status run(Examination& out) {
    std::vector<std::thread> threads;
    const int wanted = std::clamp(options_.threads, 1, 64);
    for (int t = 1; t < wanted; ++t) threads.emplace_back([&] { work(out); });
    work(out);
    for (auto& thread : threads) thread.join();
    if (options_.stop.asked()) return {Code::Cancelled, "interrupted"};
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.number < b.number; });
    for (Found& f : found_) out.corrupt.push_back({std::move(f.name), std::move(f.why)});
    out.decoded = count_;
    return {};
  }

 private:
  void work(Examination& out) {
    std::vector<uint8_t> pixels(pixel_count(both_.train.shape()));
    for (size_t k; (k = next_.fetch_add(1)) < count_;) {
      if (options_.stop.asked()) return;
      const size_t number = k * both_.size() / count_;
      const Dataset& part = both_.part(number);
      const std::string origin = part.origin(both_.index(number));
      if (is_image_name(origin)) measure(origin, out);
      Status read = part.read(both_.index(number), pixels);
      if (options_.progress) options_.progress(k + 1, count_);
      if (read.ok()) continue;
      std::string name = fs::path(origin).lexically_relative(root_).generic_string();
      std::string why = read.message();
      if (why.starts_with(origin + ": ")) why.erase(0, origin.size() + 2);
      std::lock_guard lock(mutex_);
      found_.push_back({number, name.empty() ? origin : std::move(name), std::move(why)});
    }
  }

  void measure(const std::string& path, Examination& out) {
    auto info = inspect_image_file(path);
    if (!info.ok()) return;
    std::lock_guard lock(mutex_);
    if (out.most_height == 0) out.least_height = info->height, out.least_width = info->width;
    out.least_height = std::min(out.least_height, info->height);
    out.most_height = std::max(out.most_height, info->height);
    out.least_width = std::min(out.least_width, info->width);
    out.most_width = std::max(out.most_width, info->width);
  }

  const ExamineOptions& options_;
  const Both& both_;
  const std::string root_;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::vector<Found> found_;
};

void take_samples(const Both& both, size_t count, Examination& out) {
  count = std::min(count, both.size());
  for (size_t k = 0; k < count; ++k) {
    const size_t number = (2 * k + 1) * both.size() / (2 * count);
    const Dataset& part = both.part(number);
    Examination::Sample sample{out.classes[size_t(part.label(both.index(number)))],
                               std::vector<uint8_t>(pixel_count(out.shape))};
    if (part.read(both.index(number), sample.pixels).ok()) out.samples.push_back(std::move(sample));
  }
}

// Files beside the images that are not read: the user may expect otherwise.
Status count_others(const std::string& place, const std::string& format, Examination& out) {
  if (format != "folder" && format != "csv") return {};
  auto files = list_dataset(place);
  if (!files.ok()) return files.status();
  for (const DatasetFile& file : files->files) {
    const std::string end = fs::path(file.name).extension().string();
    if (!is_image_name(file.name) && (format == "folder" || !is_csv_name(file.name)))
      ++out.other_files[end.empty() ? "without an ending" : end];
  }
  return {};
}

}  // namespace

Result<Examination> examine(const ExamineOptions& options) {
  auto place =
      local_place(options.open.directory, {.format = options.open.name, .say = {}, .stop = options.stop});
  if (!place.ok()) return place.status();
  OpenOptions open = options.open;
  open.directory = *place;
  open.measure = false;
  auto parts = open_dataset(open);
  if (!parts.ok()) return parts.status();
  Examination out;
  out.format = parts->name;
  out.note = parts->note;
  out.shape = parts->train->shape();
  out.classes = parts->train->class_names();
  out.per_class.resize(size_t(parts->train->classes()));
  for (size_t c = out.classes.size(); c < out.per_class.size(); ++c) out.classes.push_back(std::to_string(c));
  const Both both{*parts->train, *parts->test};
  for (size_t i = 0; i < both.size(); ++i) ++out.per_class[size_t(both.part(i).label(both.index(i)))];
  out.train = parts->train->size();
  out.test = parts->test->size();
  std::error_code error;
  const std::string root = fs::is_directory(*place, error) ? *place : fs::path(*place).parent_path().string();
  if (Status decoded = Decoding(options, both, root).run(out); !decoded.ok()) return decoded;
  take_samples(both, options.samples, out);
  if (Status counted = count_others(*place, out.format, out); !counted.ok()) return counted;
  return out;
}

}  // namespace radl::engine::data
