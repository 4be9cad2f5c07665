#include "runtime/driver/batch_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/human.h"
#include "common/process/process.h"
#include "runtime/steps/manifest.h"

namespace radl::driver {
namespace {

namespace fs = std::filesystem;

// Packed size: base64 turns three bytes into four, and std/cluster/slurm limits a script to 64 MiB.
constexpr size_t kLargestPacked = size_t{47} << 20;
constexpr size_t kLargestIgnoreFile = size_t{1} << 20;

// Runs before the script: several archives follow each other. Slurm copies the whole text to the first node
// alone, so that node hands it to the others. `radl-JOB/.radl-whole` exists once all files do; a folder that
// all nodes share is filled once.
constexpr const char* kUnpack = R"sh(radl_folder=$PWD/radl-$SLURM_JOB_ID
radl_unpack='[ -e "$1/.radl-whole" ] && exec cat > /dev/null
mkdir -p "$1" && cd "$1" && sed "1,/^: RADL FILES\$/d" | base64 -d | tar -xzif - && : > .radl-whole'
sh -c "$radl_unpack" sh "$radl_folder" < "$0" || { echo "radlc: the job's files cannot be unpacked" >&2; exit 1; }
if [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ]; then
  srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 \
    sh -c "$radl_unpack" sh "$radl_folder" < "$0" || { echo "radlc: a node of the job did not get its files" >&2; exit 1; }
fi
cd "$radl_folder" || exit
base64 -d > .radl-script << 'RADL SCRIPT' && chmod +x .radl-script || exit
)sh";

// What sbatch reads of a script: the lines before the first command.
std::string sbatch_lines(const std::string& script) {
  std::string lines;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] != '#') break;
    if (line.starts_with("#SBATCH")) lines += line + "\n";
  }
  return lines;
}

std::string in_lines(const std::string& base64) {
  std::string text;
  for (size_t at = 0; at < base64.size(); at += 76) text += base64.substr(at, 76) + "\n";
  return text;
}

Result<std::vector<std::string>> parts_of_folder(const std::string& folder) {
  std::vector<std::string> patterns;
  const std::string file = folder + "/" + std::string(kIgnoreFile);
  std::error_code error;
  if (fs::exists(file, error)) {
    auto text = read_file(file, kLargestIgnoreFile);
    if (!text.ok()) return std::move(text).status();
    patterns = ignore_patterns_in(*text);
  }
  auto ignored = IgnoreRules::of(patterns);
  if (!ignored.ok()) return std::move(ignored).status().at(file);
  return parts_of(folder, {Holding::Sources, std::move(*ignored)});
}

// A compressed tar archive of one source. Names go through standard input, each ended by a null byte.
Result<std::string> archive_of(const std::string& source, const Stop& stop) {
  std::error_code error;
  const fs::path path = fs::absolute(source, error).lexically_normal();
  if (!fs::exists(path, error)) return not_found(source + " does not exist");
  const bool folder = fs::is_directory(path, error);
  ProcessRequest tar;
  tar.argv = {"tar",
              "--gzip",
              "--no-recursion",
              "--null",
              "-C",
              folder ? path.string() : path.parent_path().string(),
              "--files-from=-",
              "-cf",
              "-"};
  if (folder) {
    auto parts = parts_of_folder(path.string());
    if (!parts.ok()) return std::move(parts).status().at(source);
    for (const std::string& part : *parts) tar.stdin_bytes += "./" + part + '\0';
  } else {
    tar.stdin_bytes = "./" + path.filename().string() + '\0';
  }
  tar.keep_bytes = kLargestPacked + 1;
  tar.deadline = std::chrono::hours(1);
  tar.stop = stop;
  auto ran = run_process({}, tar);
  if (!ran.ok()) return std::move(ran).status();
  if (ran->exit_status != 0) return invalid(source + ": tar: " + ran->err);
  return std::move(ran->out);
}

}  // namespace

Result<std::string> script_with_sources(const std::string& script, const std::vector<std::string>& sources,
                                        const Stop& stop) {
  if (!script.starts_with("#!")) return invalid("the script does not begin with '#!' and its interpreter");
  std::string archives;
  for (const std::string& source : sources) {
    auto archive = archive_of(source, stop);
    if (!archive.ok()) return archive;
    archives += *archive;
    if (archives.size() > kLargestPacked)
      return Status(Code::Invalid, fmt::format("the sources have more than {} when packed",
                                               size_text(static_cast<double>(kLargestPacked))))
          .with_hint("leave data out by .radlignore, and put it into storage that all nodes reach");
  }
  return "#!/bin/bash\n" + sbatch_lines(script) + kUnpack + in_lines(base64_encode(script)) +
         "RADL SCRIPT\nexec ./.radl-script \"$@\"\n: RADL FILES\n" + in_lines(base64_encode(archives));
}

std::vector<std::string> files_named_in(const std::string& script, const std::string& path) {
  std::vector<std::string> files;
  const fs::path folder = fs::path(path).parent_path();
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return std::strchr("\"';()|&<>=`", c); }, ' ');
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      std::error_code error;
      if (word.starts_with("/") || !fs::is_regular_file(folder / word, error)) continue;
      if (std::find(files.begin(), files.end(), word) == files.end()) files.push_back(word);
    }
  }
  return files;
}

}  // namespace radl::driver
