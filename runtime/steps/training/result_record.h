// The file `.radl-results` in a results folder: the files that radlc has written, for which job, with
// digests. In the format of `sha256sum -c`; data for radlc is in comments.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace radl::training {

// The owner of results. The identity stays the same while the job's computation does.
struct ResultOwner {
  std::string step;  // "program/work"; empty: from a version that did not record it
  std::string identity;
  bool operator==(const ResultOwner&) const = default;
};

struct ResultRecord {
  struct Entry {
    ResultOwner owner;
    std::set<std::string> digests;  // two while a file is being replaced
    bool link = false;
  };
  std::map<std::string, Entry> entries;  // by name below the folder

  static ResultRecord parse(std::string_view text);
  std::string text() const;
  // Removes and returns the names of this job's earlier run that are missing in this one. Names below `kept`
  // stay while the identity is unchanged; empty: none do.
  std::vector<std::string> take_stale(const ResultOwner& owner, const std::set<std::string>& brought,
                                      const std::string& kept);
};

}  // namespace radl::training
