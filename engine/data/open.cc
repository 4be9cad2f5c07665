#include "engine/data/open.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/digest.h"
#include "common/transfer/source.h"
#include "engine/data/cifar.h"
#include "engine/data/fetch_cifar10.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

Result<std::string> recognise(const std::string& directory) {
  auto has = [&](const char* name) {
    std::error_code ignored;
    return fs::exists(fs::path(directory) / name, ignored);
  };
  if (has("data_batch_1.bin") || has("cifar-10-batches-bin")) return std::string("cifar10");
  if (has("train.bin") || has("cifar-100-binary")) return std::string("cifar100");
  for (const char* name :
       {"train-images-idx3-ubyte", "train-images.idx3-ubyte", "train-images-idx3-ubyte.gz"}) {
    if (has(name)) return std::string("idx");
  }
  if (has("train.radlpack") || directory.ends_with(".radlpack")) return std::string("packed");
  if (has("train.csv") || has("train.csv.gz") || directory.ends_with(".csv")) return std::string("csv");
  std::error_code ignored;
  for (fs::directory_iterator it(directory, ignored), end; !ignored && it != end; it.increment(ignored)) {
    if (it->is_directory(ignored)) return std::string("folder");
  }
  return Status(Code::NotFound, "dataset.directory: " + directory + " holds none of the known formats")
      .with_hint("name one: cifar10, cifar100, idx, folder, csv, packed");
}

// The files that a format may consist of, for places that cannot be listed.
std::vector<std::string> file_names(const std::string& format) {
  std::vector<std::string> all;
  auto add = [&](const char* name, std::initializer_list<const char*> names) {
    if (format == name || format == "auto" || format.empty())
      all.insert(all.end(), names.begin(), names.end());
  };
  add("cifar10", {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                  "data_batch_5.bin", "test_batch.bin"});
  add("cifar100", {"train.bin", "test.bin"});
  add("idx", {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
              "t10k-labels-idx1-ubyte.gz"});
  add("csv", {"train.csv", "test.csv"});
  add("packed", {"train.radlpack", "test.radlpack"});
  return all;
}

// A dataset from elsewhere lies in the user's cache, under a name made of its URI.
Result<std::string> bring(const std::string& uri, const std::string& format) {
  auto cache = default_cache();
  if (!cache.ok()) return cache.status();
  const std::string folder = *cache + "/remote/" + sha256_hex(uri).substr(0, 16);
  transfer::Http http;
  const bool listed = !uri.starts_with("http://") && !uri.starts_with("https://");
  if (Status s =
          transfer::fetch_folder(http, uri, folder, listed ? std::vector<std::string>{} : file_names(format));
      !s.ok())
    return s;
  return folder;
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

}  // namespace

Result<Parts> open_dataset(const OpenOptions& given) {
  if (given.directory.empty()) return invalid("dataset.directory is missing");
  OpenOptions o = given;
  if (transfer::is_remote(o.directory)) {
    auto local = bring(o.directory, o.name);
    if (!local.ok()) return local.status();
    o.directory = *local;
  }
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
    parts.note = fmt::format(
        "{} training pictures of CIFAR-10's 50000: a subset, good for trying out, not for accuracy",
        parts.train->size());
  }
  if (o.validation > 0) {
    const size_t all = parts.train->size();
    if (o.validation >= all) {
      return invalid("dataset.validation: " + std::to_string(o.validation) + " of " + std::to_string(all) +
                     " training pictures leaves none to train with");
    }
    parts.test = slice(parts.train, all - o.validation, o.validation);
    parts.train = slice(parts.train, 0, all - o.validation);
  } else {
    auto test = read_part(parts.name, o, false);
    if (!test.ok()) return test.status();
    parts.test = *test;
  }
  if (o.train > 0) parts.train = slice(parts.train, 0, o.train);
  if (o.test > 0) parts.test = slice(parts.test, 0, o.test);
  if (parts.train->shape().height != parts.test->shape().height ||
      parts.train->shape().width != parts.test->shape().width ||
      parts.train->shape().channels != parts.test->shape().channels ||
      parts.train->classes() != parts.test->classes()) {
    return invalid(o.directory + ": training and test part differ in picture size or classes");
  }
  if (parts.name == "cifar10") {
    parts.normalization = cifar10_normalization();
  } else {
    // Pictures that must be decoded first are looked at by sample.
    auto measured = measure_normalization(*parts.train, parts.train->pixels(0) ? 50000 : 2000);
    if (!measured.ok()) return measured.status();
    parts.normalization = *measured;
  }
  return parts;
}

}  // namespace radl::engine::data
