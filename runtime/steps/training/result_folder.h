// The local folder for a training's or program's results.
//
// Its file `.radl-results` (result_record.h) lists the files that radlc has written. All other files, and
// those changed since, belong to the user: they are renamed instead of replaced. A job's results are replaced
// as a whole: files of its earlier run that are missing in this one are removed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/result_record.h"

namespace radl::training {

// Checks without writing that files can be created there: it, or its nearest existing parent, is a writable
// folder. Invalid names the obstacle.
Status check_result_folder(const std::string& path);
// Same for a training, whose folder must not contain `model`, `events` or `report.json` unless a training
// wrote them: Conflict.
Status check_training_folder(const std::string& path);

// True if radlc has written results there.
bool is_result_folder(const std::string& path);
// The user's files in a results folder with a name in `names` or of an earlier result; relative paths,
// sorted.
std::vector<std::string> users_files(const std::string& path, const std::vector<std::string>& names);

// Writes files there. Several instances, also on other threads, may use one folder.
class ResultFolder {
 public:
  using Files = std::map<std::string, std::string>;  // name below the folder -> digest

  // Creates it.
  static Result<ResultFolder> open(const std::string& path, ResultOwner owner);
  // A folder used only by radlc, without user files.
  static ResultFolder own(const std::string& path) { return ResultFolder(path, false, {}); }

  const std::string& path() const { return path_; }
  // Call before writing files with these contents: renames the user's files with those
  // names.
  Status make_way(const Files& files);
  // One file.
  Status write(const std::string& name, const std::string& content);
  // Fetches a folder of the job into `below` this folder, or into this folder if that is empty.
  Result<jobs::Fetched> take(jobs::Member& member, const std::string& from, const std::string& below,
                             const jobs::Beforehand& first = {});
  // Removes files of the job's earlier run that are missing in this one, and records the current ones. Files
  // below the folder `kept` stay while the job's identity is unchanged; empty: none do.
  Status close(const std::string& kept = "");
  // A message for each renamed file of the user.
  const std::vector<std::string>& moved() const { return moved_; }

 private:
  ResultFolder(std::string path, bool shared, ResultOwner owner)
      : path_(std::move(path)), shared_(shared), owner_(std::move(owner)) {}
  void remove_stale(const ResultRecord& record, const std::string& name);
  Status move_aside(const std::string& name);

  std::string path_;
  bool shared_ = true;
  ResultOwner owner_;
  bool all_ours_ = false;  // from a version without records
  Files put_;
  std::vector<std::string> moved_;
};

}  // namespace radl::training
