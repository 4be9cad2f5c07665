#include "runtime/steps/native/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/digest.h"
#include "common/shell_quote.h"

namespace radl::native {
namespace {

constexpr size_t kTogether = 100;  // files that one call looks at

bool is_link(const ManifestEntry& entry) { return entry.mode == "link"; }

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// What stat prints of a file's access, and what it must print.
std::string access_format(const TreeAccess& access) {
  std::string format = access.modes ? "%a" : "-";
  if (!access.owner.empty()) format += is_number(access.owner) ? " %u" : " %U";
  if (!access.group.empty()) format += is_number(access.group) ? " %g" : " %G";
  return format;
}

std::string expected_access(const TreeAccess& access, const ManifestEntry& entry) {
  const std::string& mode = access.mode.empty() ? entry.mode : access.mode;
  std::string text = access.modes ? fmt::format("{:o}", std::strtoul(mode.c_str(), nullptr, 8)) : "-";
  for (const std::string& name : {access.owner, access.group}) text += name.empty() ? "" : " " + name;
  return text;
}

// Ties an answer to the question.
std::string tree_name(const std::vector<ManifestEntry>& entries, const TreeAccess& access) {
  return sha256_hex(manifest_text(entries) + access_format(access) + access.mode);
}

bool has_odd_name(const ManifestEntry& entry) {
  return entry.path.find_first_of("\\\r\n") != std::string::npos;
}

// One call inspects the files from `first` up to here; unusual names get separate calls.
size_t end_of_call(const std::vector<ManifestEntry>& entries, size_t first) {
  size_t end = first + 1;
  while (end < entries.size() && end - first < kTogether && !is_link(entries[end]) &&
         !has_odd_name(entries[end]) && !has_odd_name(entries[first]))
    ++end;
  return end;
}

}  // namespace

std::string look_tree(const std::vector<ManifestEntry>& entries, const TreeAccess& access,
                      const std::string& folder) {
  std::string text = fmt::format("if [ -d {0} ]; then\ncd {0}\n", folder);
  std::string format = shell_quote(access_format(access));
  for (size_t i = 0; i < entries.size();) {
    if (is_link(entries[i])) {
      text += fmt::format("look_link {} {} {}\n", i, shell_quote(entries[i].target),
                          shell_quote("./" + entries[i].path));
      ++i;
      continue;
    }
    std::string wanted, names;
    const size_t first = i;
    for (const size_t end = end_of_call(entries, first); i < end; ++i) {
      wanted += entries[i].sha256 + " " + expected_access(access, entries[i]) + "\n";
      names += " " + shell_quote("./" + entries[i].path);
    }
    text += fmt::format("look_tree {} {} {}{}\n", first, format, shell_quote(wanted), names);
  }
  return text + fmt::format("say tree {}\nfi\n", tree_name(entries, access));
}

Result<std::vector<TreeDifference>> tree_differences(const std::vector<ManifestEntry>& entries,
                                                     const TreeAccess& access, const Item& item,
                                                     const Seen& seen) {
  bool there = said(seen, "kind") == "directory";
  if (there && said(seen, "tree") != tree_name(entries, access))
    return Status(Code::Conflict, item.label() + ": the files changed while they were looked at")
        .with_hint("plan again");
  std::vector<TreeDifference> all;
  size_t same_until = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!is_link(entries[i]) && said(seen, "same" + std::to_string(i)) == "yes")
      same_until = end_of_call(entries, i);
    if (i < same_until) continue;
    std::string found = there ? said(seen, std::to_string(i)) : "";
    TreeDifference one;
    one.entry = &entries[i];
    if (is_link(entries[i])) {
      one.content = found != "same";
      if (one.content) all.push_back(one);
      continue;
    }
    size_t blank = std::min(found.find(' '), found.size());
    one.before = found.substr(0, blank);
    one.access_before = found.substr(std::min(blank + 1, found.size()));
    one.access_expected = expected_access(access, entries[i]);
    one.content = one.before != entries[i].sha256;
    if (one.content || one.access_before != one.access_expected) all.push_back(one);
  }
  return all;
}

}  // namespace radl::native
