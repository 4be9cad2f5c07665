// A commit's files without a work tree: no filter, attribute or hook of the repository has a say in them.
#include <fmt/format.h>

#include <charconv>

#include "common/text.h"
#include "runtime/vendor/fetch.h"

namespace radl::vendored {
namespace {

struct Entry {
  File::Kind kind = File::Kind::Plain;
  std::string id, path;
  size_t size = 0;
};

std::optional<size_t> number(std::string_view text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status not_understood() { return internal_error("git's answer is not understood"); }

// "MODE TYPE ID SIZE\tPATH" (git-ls-tree(1), -l).
Status read_line(std::string_view line, std::vector<Entry>& entries, std::vector<std::string>& notes) {
  size_t tab = line.find('\t');
  if (tab == line.npos) return not_understood();
  Entry entry;
  entry.path = line.substr(tab + 1);
  std::vector<std::string_view> words;
  for (std::string_view word : split(line.substr(0, tab), ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() != 4) return not_understood();
  if (is_for_git(entry.path)) return {};
  if (words[1] == "commit") {
    notes.push_back(fmt::format("the submodule '{}' was left out", entry.path));
    return {};
  }
  auto size = number(words[3]);
  if (words[1] != "blob" || !size) return not_understood();
  entry.kind = words[0] == "120000"   ? File::Kind::Link
               : words[0] == "100755" ? File::Kind::Program
                                      : File::Kind::Plain;
  entry.id = words[2];
  entry.size = *size;
  entries.push_back(std::move(entry));
  return {};
}

// "ID blob SIZE\n", SIZE bytes, "\n" for each (git-cat-file(1), --batch).
Status take_blob(std::string_view& answer, const Entry& entry, Content& content) {
  const std::string head = fmt::format("{} blob {}\n", entry.id, entry.size);
  if (!answer.starts_with(head) || answer.size() < head.size() + entry.size + 1) return not_understood();
  File file{entry.kind, std::string(answer.substr(head.size(), entry.size))};
  answer.remove_prefix(head.size() + entry.size + 1);
  return add_file(content, entry.path, std::move(file));
}

}  // namespace

Result<Fetched> read_commit(const Git& git, const std::string& commit) {
  auto listed = git.run({"ls-tree", "-r", "-l", "-z", "--full-tree", commit});
  if (!listed.ok()) return std::move(listed).status();
  Fetched made;
  made.commit = commit;
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::string ids;
  for (std::string_view line : split(*listed, '\0')) {
    if (line.empty()) continue;
    size_t before = entries.size();
    if (Status read = read_line(line, entries, made.notes); !read.ok()) return read;
    if (entries.size() == before) continue;
    bytes += entries.back().size;
    ids += entries.back().id + "\n";
    if (bytes > kMostBytes || entries.size() > kMostFiles) {
      return Status(Code::Quota, fmt::format("the repository holds more than {} MiB or {} files",
                                             kMostBytes >> 20, kMostFiles));
    }
  }
  if (entries.empty()) return made;
  auto blobs = git.run({"cat-file", "--batch", "--buffer"}, ids, size_t(bytes) + entries.size() * 200);
  if (!blobs.ok()) return std::move(blobs).status();
  std::string_view answer = *blobs;
  for (const Entry& entry : entries)
    if (Status taken = take_blob(answer, entry, made.content); !taken.ok()) return taken;
  return made;
}

}  // namespace radl::vendored
