#include "engine/data/stage.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"
#include "engine/data/examine.h"
#include "engine/data/place.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNamed = 20;
constexpr int kVersion = 1;  // of what is kept in the cache: raised when decoding changes its mind

Result<Staged> write_list(const DatasetFiles& files, const std::vector<std::string>& digests) {
  Staged staged;
  staged.directory = fs::absolute(files.root).lexically_normal().string();
  std::string text;
  for (size_t i = 0; i < files.files.size(); ++i) {
    const DatasetFile& file = files.files[i];
    if (file.name.find_first_of("\n\\") != std::string::npos)  // sha256sum would write them in another way
      return invalid(files.root + ": a file's name holds a line break or '\\': " + file.name);
    text += digests[i] + "  ./" + file.name + "\n";
    staged.bytes += file.size;
  }
  staged.files = files.files.size();
  staged.digest = sha256_hex(text);
  auto cache = default_cache();
  if (!cache.ok()) return cache.status();
  staged.list = *cache + "/lists/" + staged.digest;
  if (Status made = make_directories(*cache + "/lists"); !made.ok()) return made;
  std::error_code error;
  if (fs::file_size(staged.list, error) == text.size() && !error) return staged;
  if (Status written = write_file_atomic(staged.list, text); !written.ok()) return written;
  return staged;
}

// The corrupt images of a content: examined once.
Result<std::vector<Examination::Problem>> corrupt_images(const std::string& place, const std::string& digest,
                                                         const StageOptions& o) {
  auto cache = default_cache();
  if (!cache.ok()) return cache.status();
  const std::string note = *cache + "/examined/" + digest + "-" + std::to_string(kVersion) + ".json";
  std::vector<Examination::Problem> problems;
  if (auto text = read_file(note, size_t{256} << 20); text.ok()) {
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_array() && std::all_of(json.begin(), json.end(), [](const auto& p) {
          return p.is_array() && p.size() == 2 && p[0].is_string() && p[1].is_string();
        })) {
      for (const auto& p : json) problems.push_back({p[0].get<std::string>(), p[1].get<std::string>()});
      return problems;
    }
  }
  if (o.say) o.say("decoding the images of " + place + " once, to find corrupt ones");
  ExamineOptions options{.open = {.directory = place}, .threads = o.threads, .stop = o.stop};
  auto found = examine(options);
  if (!found.ok()) return found.status();
  problems = std::move(found->corrupt);
  nlohmann::json json = nlohmann::json::array();
  for (const auto& p : problems) json.push_back({p.name, p.why});
  if (make_directories(*cache + "/examined").ok())  // only a shortcut
    (void)write_file_atomic(note, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return problems;
}

Status refusal(const std::string& place, const std::vector<Examination::Problem>& problems,
               const std::string& rule) {
  std::string text = place + ": " + std::to_string(problems.size()) + " of its images " +
                     (problems.size() == 1 ? "is corrupt" : "are corrupt") + rule;
  for (size_t i = 0; i < std::min(problems.size(), kNamed); ++i)
    text += "\n  " + problems[i].name + ": " + problems[i].why;
  if (problems.size() > kNamed) text += "\n  and " + std::to_string(problems.size() - kNamed) + " more";
  return {Code::Corrupt, std::move(text)};
}

Result<std::optional<Staged>> stage_place(const StageOptions& o) {
  if (o.offline && is_remote_place(o.dataset)) return std::optional<Staged>();
  auto place =
      local_place(o.dataset, {.format = "", .say = o.say, .progress = o.fetch.progress, .stop = o.stop});
  if (!place.ok()) return place.status();
  auto files = list_dataset(*place);
  if (!files.ok()) return files.status();
  auto digests = file_digests(*files, user_cache(environment_of_process()));
  if (!digests.ok()) return digests.status();
  auto problems = corrupt_images(*place, content_digest(*files, *digests), o);
  if (!problems.ok()) return problems.status();
  if (!problems->empty() && !o.skip_corrupt)
    return refusal(o.dataset, *problems, "")
        .with_hint("repair or remove them, or leave them out with skip_corrupt = yes");
  if (problems->size() > o.corrupt_limit)
    return refusal(o.dataset, *problems,
                   ", more than the corrupt_limit of " + std::to_string(o.corrupt_limit));
  std::set<std::string> bad;
  for (const auto& p : *problems) bad.insert(p.name);
  DatasetFiles good{files->path, files->root, {}};
  std::vector<std::string> good_digests;
  for (size_t i = 0; i < files->files.size(); ++i) {
    if (bad.contains(files->files[i].name)) continue;
    good.files.push_back(files->files[i]);
    good_digests.push_back((*digests)[i]);
  }
  auto staged = write_list(good, good_digests);
  if (!staged.ok()) return staged.status();
  staged->left_out.assign(bad.begin(), bad.end());
  return std::optional<Staged>(std::move(*staged));
}

Result<std::optional<Staged>> stage_cifar10(const StageOptions& o) {
  FetchOptions fetch = o.fetch;
  fetch.offline = o.offline;
  auto fetched = fetch_cifar10(fetch);
  if (!fetched.ok()) {
    if (o.offline && fetched.status().code() == Code::NotFound) return std::optional<Staged>();
    return fetched.status();
  }
  DatasetFiles files{fetched->directory, fetched->directory, {}};
  std::vector<std::string> digests;
  for (const KnownFile& file : fetched->files) {
    std::error_code error;
    files.files.push_back({file.name, fs::file_size(fetched->directory + "/" + file.name, error)});
    digests.push_back(file.sha256);
  }
  auto staged = write_list(files, digests);
  if (!staged.ok()) return staged.status();
  return std::optional<Staged>(std::move(*staged));
}

}  // namespace

Result<std::optional<Staged>> stage_dataset(const StageOptions& o) {
  if (names_a_place(o.dataset)) return stage_place(o);
  if (o.dataset == "cifar10") return stage_cifar10(o);
  return Status(Code::Invalid, "there is no dataset named \"" + o.dataset + "\"")
      .with_hint(
          "cifar10 is known by name; a folder, archive or CSV of your own is named by its path, like ./" +
          o.dataset);
}

}  // namespace radl::engine::data
