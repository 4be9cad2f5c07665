// The looks of a step's resources as one script, and what came of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/native/resource.h"

namespace radl::native {

// Shell text of one resource's look: prints lines "INDEX<tab>NAME<tab>VALUE". Needs kLookPrelude; its exit
// status is $r.
std::string look_text(size_t index, const std::string& look);

// All looks from `first` on; needs kLookPrelude. An error is of the resource `first` then.
Result<std::string> look_script(const std::vector<Item>& items, const std::vector<const Kind*>& kinds,
                                size_t& first);

// What a look printed, line by line, up to its end.
class Looked {
 public:
  explicit Looked(size_t resources) : seen(resources), lines(resources) {}
  // Forgets what was said of `first` and those after it; what follows is of a new look.
  void begin(size_t first);
  // Whole text of a look between "begin MARK" and "end MARK"; other lines of five parts that begin with
  // "facts" come out as `facts`. False: it is not whole, and no data.
  bool read(const std::string& text, const std::string& mark, std::vector<std::string>& facts);

  std::vector<Seen> seen;
  std::vector<std::string> lines;  // of each resource, as printed, without the last newline
};

}  // namespace radl::native
