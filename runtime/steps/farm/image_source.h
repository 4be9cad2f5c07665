// The images of an inference by address (runtime/farm/images.h): what there is, fixed for a run, and what a
// task may read of it, for a limited time.
//
// Credentials stay on this computer. A task gets a signed URL for each image of its range, which permits to
// read this one object until it expires.
#pragma once

#include <memory>

#include "common/transfer/object_store.h"
#include "runtime/base/context.h"
#include "runtime/farm/images.h"

namespace radl::farm {

class ImageSource {
 public:
  // Lists the images, and keeps the list in `kept`, which a run that continues an earlier one (`continues`)
  // reads instead: its ranges hold the same images. NotFound: there are none.
  static Result<std::unique_ptr<ImageSource>> open(const std::string& images, const std::string& kept,
                                                   bool continues, const Context& context);

  const std::vector<Image>& images() const { return images_; }
  // Adds to each task what its range holds now (kListed).
  void describe(std::vector<Task>& tasks) const;
  // Images after the last range.
  size_t beyond(const std::vector<Task>& tasks) const;
  // The list of a range as radl-train reads it (engine/serve/image_list.h): a secret. Thread-safe.
  Result<std::string> signed_list(const Json& range, int seconds, const Stop& stop) const;

 private:
  explicit ImageSource(const Context& context) : http_(context.environment) {}
  mutable http::Client http_;
  std::unique_ptr<transfer::ObjectStore> store_;  // nullptr: a list of URLs
  std::vector<Image> images_;
};

// Seconds for which signed URLs of an attempt are valid. `queues`: a cluster's scheduler starts it later.
int valid_seconds(double timeout_seconds, bool queues);

// Of a task's attempt, below the job's folder on its node.
std::string images_file(const std::string& task, int attempt);

}  // namespace radl::farm
