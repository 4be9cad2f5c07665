// Combines the looks of a step's resources into one script, and parses its output.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/native/resource.h"

namespace radl::native {

// Shell text of one resource's look: prints lines "INDEX<tab>NAME<tab>VALUE". Needs kLookPrelude; its exit
// status is $r.
std::string look_text(size_t index, const std::string& look);

// All looks from `first` on; needs kLookPrelude. After an error, `first` is the failing resource.
Result<std::string> look_script(const std::vector<Item>& items, const std::vector<const Kind*>& kinds,
                                size_t& first);

// The output of a look, line by line, up to its end.
class Looked {
 public:
  explicit Looked(size_t resources) : seen(resources), lines(resources) {}
  // Discards results from `first` on, before a new look.
  void begin(size_t first);
  // Parses the text between "begin MARK" and "end MARK"; lines of five parts that begin with "facts" go to
  // `facts`. False: the text is incomplete and unusable.
  bool read(const std::string& text, const std::string& mark, std::vector<std::string>& facts);

  std::vector<Seen> seen;
  std::vector<std::string> lines;  // of each resource, as printed, without the last newline
};

}  // namespace radl::native
