#include "engine/data/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "common/dataset_files.h"
#include "engine/data/cifar.h"
#include "engine/data/place.h"
#include "engine/data/readers.h"
#include "engine/data/split.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

// Which images are held out is the same for every training of a dataset.
constexpr uint64_t kSplitSeed = 1;
constexpr size_t kHeldOut = 5;  // one of this many is held out if there is no test part

Result<std::string> recognise(const std::string& place) {
  auto has = [&](const char* name) {
    std::error_code ignored;
    return fs::exists(fs::path(place) / name, ignored);
  };
  if (has("data_batch_1.bin") || has("cifar-10-batches-bin")) return std::string("cifar10");
  if (has("train.bin") || has("cifar-100-binary")) return std::string("cifar100");
  for (const char* name :
       {"train-images-idx3-ubyte", "train-images.idx3-ubyte", "train-images-idx3-ubyte.gz"}) {
    if (has(name)) return std::string("idx");
  }
  if (has("train.radlpack") || place.ends_with(".radlpack")) return std::string("packed");
  if (has("train.csv") || has("train.csv.gz")) return std::string("csv");
  std::error_code error;
  if (!fs::is_directory(place, error)) {
    if (error) return Status(Code::NotFound, "dataset.directory: " + place + " does not exist");
    if (is_csv_name(place)) return std::string("csv");
  } else if (list_folder(place, true).ok()) {
    return std::string("folder");
  } else if (!csv_file(place, true).empty()) {
    return std::string("csv");
  }
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) return std::string("folder");  // whose reader says what is wrong with it
  }
  return Status(Code::NotFound, "dataset.directory: " + place + " holds none of the known formats")
      .with_hint("name one: cifar10, cifar100, idx, folder, csv, packed");
}

Result<DatasetPtr> read_part(const std::string& name, const OpenOptions& o, bool training) {
  if (name == "cifar10") return read_cifar(o.directory, training, {10, o.skip_corrupt});
  if (name == "cifar100") return read_cifar(o.directory, training, {100, o.skip_corrupt});
  const ReaderOptions options{o.skip_corrupt, o.shape};
  if (name == "idx" || name == "mnist") return read_idx(o.directory, training, options);
  if (name == "csv") return read_csv(o.directory, training, options);
  if (name == "folder") return read_folder(o.directory, training, options);
  if (name == "packed") return read_packed(o.directory, training, options);
  return Status(Code::Invalid, "dataset.name: \"" + name + "\" is not known")
      .with_hint("one of cifar10, cifar100, idx, folder, csv, packed");
}

// The test part with the training part's classes. Folders may lack a class in the test part, and CSV says
// nothing of classes that do not occur in it.
Result<DatasetPtr> match_classes(const DatasetPtr& train, const DatasetPtr& test, const std::string& place) {
  const auto &names = train->class_names(), &theirs = test->class_names();
  std::vector<int32_t> map(size_t(test->classes()));
  std::iota(map.begin(), map.end(), 0);
  if (names == theirs && train->classes() == test->classes()) return test;
  for (size_t l = 0; l < theirs.size() && !names.empty(); ++l) {
    const auto at = std::find(names.begin(), names.end(), theirs[l]);
    if (at == names.end())
      return invalid(place + ": the test part has a class \"" + theirs[l] + "\", the training part has none");
    map[l] = int32_t(at - names.begin());
  }
  if (names.empty() != theirs.empty() || (names.empty() && test->classes() > train->classes())) {
    return invalid(place + ": the test part has labels up to " + std::to_string(test->classes() - 1) +
                   ", the training part up to " + std::to_string(train->classes() - 1));
  }
  return relabel(test, train->classes(), names, std::move(map));
}

// Whether the format's test part is there. Formats that always have one say themselves that it is missing.
bool has_test_part(const std::string& format, const std::string& place) {
  if (format == "folder") return !folder_parts(place).test.empty();
  return format != "csv" || !csv_file(place, false).empty();
}

// Gives `count` records of the training part, of each class its share, to the test part.
Status hold_out(Parts& parts, size_t count, const std::string& option) {
  const size_t all = parts.train->size();
  if (count >= all)
    return invalid(option + ": " + std::to_string(count) + " of " + std::to_string(all) +
                   " training images leaves none to train with");
  Split split = stratified_split(parts.train, count, kSplitSeed, true);
  if (split.taken->size() < count)
    return invalid(option + ": " + std::to_string(count) + " of " + std::to_string(all) +
                   " training images leaves some classes without any; at most " +
                   std::to_string(split.taken->size()) + " can be held out");
  parts.test = std::move(split.taken);
  parts.train = std::move(split.rest);
  return {};
}

Status hold_out_a_share(Parts& parts) {
  const size_t all = parts.train->size();
  const size_t count =
      std::max<size_t>(stratified_split(parts.train, all / kHeldOut, kSplitSeed, true).taken->size(), 1);
  if (Status held = hold_out(parts, count, "test part"); !held.ok())
    return std::move(held).with_hint("without a test part, one image of five is held out");
  parts.note = fmt::format("without a test part, {} of {} images are held out, in proportion to each class",
                           count, all);
  return {};
}

// At most `count`, of each class its share.
DatasetPtr limited(const DatasetPtr& part, size_t count) {
  return count == 0 || count >= part->size() ? part : stratified_split(part, count, kSplitSeed, false).taken;
}

bool same_shape(const InputShape& a, const InputShape& b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

}  // namespace

Result<Parts> open_dataset(const OpenOptions& given) {
  if (given.directory.empty()) return invalid("dataset.directory is missing");
  OpenOptions o = given;
  auto place = local_place(o.directory, {.format = o.name});
  if (!place.ok()) return place.status();
  o.directory = *place;
  Parts parts;
  parts.name = o.name;
  if (o.name == "auto" || o.name.empty()) {
    auto found = recognise(o.directory);
    if (!found.ok()) return found.status();
    parts.name = *found;
  }
  auto train = read_part(parts.name, o, true);
  if (!train.ok()) return train.status();
  parts.train = *train;
  if (parts.name == "cifar10" && parts.train->size() < 50000 && parts.train->report().skipped == 0) {
    parts.note =
        fmt::format("{} training images of CIFAR-10's 50000: a subset, good for trying out, not for accuracy",
                    parts.train->size());
  }
  if (o.validation > 0) {
    if (Status held = hold_out(parts, o.validation, "dataset.validation"); !held.ok()) return held;
  } else if (!has_test_part(parts.name, o.directory)) {
    if (Status held = hold_out_a_share(parts); !held.ok()) return held;
  } else {
    o.shape = parts.train->shape();
    auto test = read_part(parts.name, o, false);
    if (!test.ok()) return test.status();
    auto matched = match_classes(parts.train, *test, o.directory);
    if (!matched.ok()) return matched.status();
    parts.test = *matched;
  }
  parts.train = limited(parts.train, o.train);
  parts.test = limited(parts.test, o.test);
  if (!same_shape(parts.train->shape(), parts.test->shape()))
    return invalid(o.directory + ": training and test part differ in the size of their images");
  if (parts.name == "cifar10") {
    parts.normalization = cifar10_normalization();
  } else if (o.measure) {
    // Images that must be decoded first are looked at by sample.
    auto measured = measure_normalization(*parts.train, parts.train->pixels(0) ? 50000 : 2000);
    if (!measured.ok()) return measured.status();
    parts.normalization = *measured;
  }
  return parts;
}

}  // namespace radl::engine::data
