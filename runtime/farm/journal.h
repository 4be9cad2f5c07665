// A farm's journal: JSON events, one per line, appended and synced before they take effect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/status.h"
#include "runtime/farm/table.h"

namespace radl::farm {

// Beside the outputs, in the farm's folder.
inline constexpr const char* kJournalFile = "/journal.jsonl";

class Journal {
 public:
  // Opens or creates the file, and replays its events. Removes a last line cut off by a crash. Conflict:
  // another process has it open for writing. Corrupt: a complete line is not JSON.
  Status open(const std::string& path, const std::function<Status(const Event& event)>& replay);
  // Adds an event to the next flush.
  void add(const Event& event);
  // Writes and syncs the added events. After an error, the file ends with the last successful flush, and all
  // further flushes fail with the same error.
  Status flush();
  // Written and synced bytes.
  size_t size() const { return size_; }
  // No event waits for a flush.
  bool is_synced() const { return pending_.empty(); }

 private:
  Fd file_;
  std::string path_, pending_;
  size_t size_ = 0;
  Status failed_;
};

// Replays each complete line of `text`; returns how many bytes they are. `path`: for messages.
Result<size_t> replay_lines(const std::string& path, std::string_view text,
                            const std::function<Status(const Event& event)>& replay);
// Reads a journal that another process may be writing; ignores an incomplete end.
Status read_journal(const std::string& path, const std::function<Status(const Event& event)>& replay);

}  // namespace radl::farm
