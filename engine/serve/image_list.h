// Images by URL: a list of them, one JSON object a line, as std/farm/inference sends it to a node.
//
//   {"file": "s3://photos/a.png", "url": "https://...", "etag": "..."}
//
// `file` names the image in predictions and errors. `url` may be signed: it is a secret, and appears nowhere.
// `etag` is optional: the image must not have changed since the list was made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::serve {

struct ListedImage {
  std::string file, url, etag;
};

// Invalid names the line: it is not such an object, or `url` is not an address of http or https.
Result<std::vector<ListedImage>> parse_image_list(std::string_view text);
// The bytes of each, several at a time. Corrupt: an image has changed. Other errors name `file`.
Result<std::vector<std::string>> fetch_images(http::Client& http, std::span<const ListedImage> images,
                                              size_t largest, const Stop& stop);

}  // namespace radl::engine::serve
