// The folder of this computer that the result of a training or of a program goes to.
//
// Its file `.radl-results` (result_record.h) names what radlc has put there. All else is the user's, also
// what has been changed since: it is not replaced, but gets another name first. The results of a job are
// replaced as a whole: what its earlier run has brought and this one has not is removed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/result_record.h"

namespace radl::training {

// Whether files can be put there, as far as that is known without doing it: it, or the nearest folder above
// it that is there, is a folder that we may write to. Invalid, with what is in the way.
Status check_result_folder(const std::string& path);
// The same of a training's, which also must not hold what it is to bring (`model`, `events`, `report.json`)
// unless a training has put it there: Conflict.
Status check_training_folder(const std::string& path);

// Whether radlc has put results there.
bool is_result_folder(const std::string& path);
// Of a folder of ours, files of the user's that have the name of one of `names`, or of what was put there
// before; relative to it, sorted.
std::vector<std::string> users_files(const std::string& path, const std::vector<std::string>& names);

// Puts files there. Several, also in other threads, may work on one folder.
class ResultFolder {
 public:
  using Files = std::map<std::string, std::string>;  // name below the folder -> digest

  // Makes it.
  static Result<ResultFolder> open(const std::string& path, ResultOwner owner);
  // A folder that is ours alone: nothing in it is a user's.
  static ResultFolder own(const std::string& path) { return ResultFolder(path, false, {}); }

  const std::string& path() const { return path_; }
  // To be called before files with these contents are put there: what a user has in their places gets another
  // name.
  Status make_way(const Files& files);
  // One file.
  Status write(const std::string& name, const std::string& content);
  // A folder of the job, into the folder `below` this one, or into this one where that is empty.
  Result<jobs::Fetched> take(jobs::Member& member, const std::string& from, const std::string& below,
                             const jobs::Beforehand& first = {});
  // Removes what the job's earlier run has brought and this one has not, and records what is there now. Files
  // below the folder `kept` stay while the job's identity is the same; empty: none do.
  Status close(const std::string& kept = "");
  // A message for each file of the user's that has another name now.
  const std::vector<std::string>& moved() const { return moved_; }

 private:
  ResultFolder(std::string path, bool shared, ResultOwner owner)
      : path_(std::move(path)), shared_(shared), owner_(std::move(owner)) {}
  void remove_stale(const ResultRecord& record, const std::string& name);
  Status move_aside(const std::string& name);

  std::string path_;
  bool shared_ = true;
  ResultOwner owner_;
  bool all_ours_ = false;  // of a version that kept no record
  Files put_;
  std::vector<std::string> moved_;
};

}  // namespace radl::training
