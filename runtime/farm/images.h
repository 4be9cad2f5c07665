// The images of an inference that are not in a folder (std/farm/inference): a list of URLs, or the objects
// below an address in an object store. Each task predicts a range of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "runtime/farm/table.h"

namespace radl::farm {

struct Image {
  std::string file;  // its name in the predictions; unique
  std::string url;   // of a list; it may be signed, and is a secret
  std::string key;   // of an object store, with the version that was listed
  std::string etag;
};

// "images" of a task's spec: the positions [first, end).
struct ImageRange {
  size_t first = 0, end = 0;
};
inline constexpr const char* kImages = "images";
// In a task's spec at run time: what its range holds. If it changes, the task runs again.
inline constexpr const char* kListed = "listed";

bool is_image_store(const std::string& images);  // else a list of URLs
// One URL a line; empty lines and those that begin with '#' do not count. A name is the URL without its
// query, which may be a signature; with a query, the line's number follows. Invalid names the line: it is not
// a URL of http or https, it has a user or password, or is listed twice.
Result<std::vector<Image>> parse_image_urls(const std::string& text);
// Invalid: neither a list of URLs nor a folder of a store.
Status check_images(const std::string& images);
// Invalid: not two integers in order.
Result<ImageRange> parse_image_range(const Json& range);
// Those of a range that exist.
std::span<const Image> images_in_range(const std::vector<Image>& images, const Json& range);
std::string digest_of_images(std::span<const Image> images);

// The JSON of a farm (settings.h) for the state: queries and passwords in a list of URLs are replaced by
// digests.
std::string without_signatures(const std::string& farm);

// How a farm keeps the list that it has begun with.
std::string to_text(const std::vector<Image>& images);
std::vector<Image> images_from_text(const std::string& text);

}  // namespace radl::farm
