#include "runtime/steps/training/result_record.h"

#include "common/checksum_line.h"

namespace radl::training {
namespace {

constexpr std::string_view kHead =
    "# Brought by radlc. What is not named here, or has been changed, it never replaces.\n";
constexpr std::string_view kOwner = "# of ", kLink = "#link ";
// A link has no digest.
const std::string kNoDigest(64, '0');

ResultOwner read_owner(std::string_view text) {
  const size_t blank = text.find(' ');
  return {std::string(text.substr(0, blank)),
          std::string(blank == text.npos ? std::string_view() : text.substr(blank + 1))};
}

}  // namespace

ResultRecord ResultRecord::parse(std::string_view text) {
  ResultRecord record;
  ResultOwner owner;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.starts_with(kOwner)) {
      owner = read_owner(line.substr(kOwner.size()));
      continue;
    }
    const bool link = line.starts_with(kLink);
    if (link) line.remove_prefix(kLink.size());
    auto read = read_checksum_line(line);
    if (!read) continue;
    Entry& entry = record.entries[read->name];
    entry.owner = owner;
    entry.link = link;
    if (!link) entry.digests.insert(read->digest);
  }
  return record;
}

std::string ResultRecord::text() const {
  std::map<std::pair<std::string, std::string>, std::string> parts;  // by owner
  for (const auto& [name, entry] : entries) {
    std::string& lines = parts[{entry.owner.step, entry.owner.identity}];
    if (entry.link) lines.append(kLink).append(checksum_line(kNoDigest, name)).append("\n");
    for (const std::string& digest : entry.digests) lines.append(checksum_line(digest, name)).append("\n");
  }
  std::string text(kHead);
  // Those without an owner come first, as they were written.
  for (const auto& [owner, lines] : parts) {
    if (!owner.first.empty())
      text.append(kOwner).append(owner.first).append(" ").append(owner.second).append("\n");
    text += lines;
  }
  return text;
}

std::vector<std::string> ResultRecord::take_stale(const ResultOwner& owner,
                                                  const std::set<std::string>& brought,
                                                  const std::string& kept) {
  std::vector<std::string> stale;
  for (const auto& [name, entry] : entries) {
    const bool ours = entry.owner.step == owner.step || entry.owner.step.empty();
    const bool stays =
        !kept.empty() && entry.owner.identity == owner.identity && name.starts_with(kept + "/");
    if (ours && !stays && !brought.contains(name)) stale.push_back(name);
  }
  for (const std::string& name : stale) entries.erase(name);
  return stale;
}

}  // namespace radl::training
