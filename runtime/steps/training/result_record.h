// The file `.radl-results` of a folder of results: which files radlc has put there, for which job, with their
// digests. `sha256sum -c` reads it; what only radlc needs is in its comments.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace radl::training {

// Whose results they are. The identity is what a job keeps while it computes the same.
struct ResultOwner {
  std::string step;  // "program/work"; empty: a version of radlc that did not record it
  std::string identity;
  bool operator==(const ResultOwner&) const = default;
};

struct ResultRecord {
  struct Entry {
    ResultOwner owner;
    std::set<std::string> digests;  // a file that is being replaced has two
    bool link = false;
  };
  std::map<std::string, Entry> entries;  // by name below the folder

  static ResultRecord parse(std::string_view text);
  std::string text() const;
  // Removes the names that an earlier run of this job has brought and this one has not, and returns them.
  // Names below `kept` stay while the identity is the same; empty: none do.
  std::vector<std::string> take_stale(const ResultOwner& owner, const std::set<std::string>& brought,
                                      const std::string& kept);
};

}  // namespace radl::training
