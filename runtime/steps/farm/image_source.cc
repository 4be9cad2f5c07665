#include "runtime/steps/farm/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/files.h"
#include "common/json_values.h"
#include "common/store_address.h"
#include "common/text.h"

namespace radl::farm {
namespace {

constexpr int kLeastValid = 3600, kQueued = 86400, kMostValid = 7 * 86400;  // seconds
constexpr size_t kLargestKept = size_t{4} << 30;

bool is_image_name(const std::string& key) {
  const std::string name = to_lower(key);
  return name.ends_with(".png") || name.ends_with(".jpg") || name.ends_with(".jpeg");
}

}  // namespace

int valid_seconds(double timeout_seconds, bool queues) {
  const double least = queues ? kQueued : kLeastValid;
  return static_cast<int>(
      std::clamp(std::ceil(timeout_seconds) + (queues ? kQueued : 60), least, double(kMostValid)));
}

std::string images_file(const std::string& task, int attempt) {
  return fmt::format("farm/images/{}.{}", task, attempt);
}

Result<std::unique_ptr<ImageSource>> ImageSource::open(const std::string& images, const std::string& kept,
                                                       bool continues, const Context& context) {
  std::unique_ptr<ImageSource> source(new ImageSource(context));
  std::string prefix;
  if (is_image_store(images)) {
    auto address = parse_store_folder(images);
    if (!address) return std::move(address).status();
    auto opened = transfer::open_object_store(source->http_, address->text());
    if (!opened) return std::move(opened).status();
    source->store_ = std::move(opened->store);
    prefix = address->key.empty() ? "" : address->key + "/";
  }
  if (continues && source->store_) {
    auto text = read_file(kept, kLargestKept);
    if (text) {
      source->images_ = images_from_text(*text);
      return source;
    }
    if (text.status().code() != Code::NotFound) return std::move(text).status();
  }
  if (source->store_) {
    auto objects = source->store_->list(prefix, context.stop);
    if (!objects) return std::move(objects).status().at(images);
    for (const transfer::Object& object : *objects)
      if (is_image_name(object.key))
        source->images_.push_back({source->store_->address(object.key), "", object.key, object.etag});
    if (source->images_.empty()) return not_found(images + ": has no .png, .jpg or .jpeg");
  } else {
    auto urls = parse_image_urls(images);
    if (!urls) return std::move(urls).status();
    source->images_ = std::move(*urls);
  }
  if (!source->store_) return source;
  if (Status written = write_file_atomic(kept, to_text(source->images_), 0600); !written.ok()) return written;
  return source;
}

void ImageSource::describe(std::vector<Task>& tasks) const {
  for (Task& task : tasks)
    if (task.spec.contains(kImages))
      task.spec.set(kListed, digest_of_images(images_in_range(images_, task.spec[kImages])));
}

size_t ImageSource::beyond(const std::vector<Task>& tasks) const {
  size_t end = 0;
  for (const Task& task : tasks)
    if (auto range = parse_image_range(json::member(task.spec, kImages)); range.ok())
      end = std::max(end, range->end);
  return images_.size() - std::min(end, images_.size());
}

Result<std::string> ImageSource::signed_list(const Json& range, int seconds, const Stop& stop) const {
  std::string text;
  for (const Image& image : images_in_range(images_, range)) {
    Json line = {{"file", image.file}, {"url", image.url}};
    if (store_) {
      auto url = store_->presign("GET", image.key, seconds, stop);
      if (!url) return std::move(url).status().at(image.file);
      line["url"] = std::move(*url);
      if (!image.etag.empty()) line["etag"] = image.etag;
    }
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace radl::farm
