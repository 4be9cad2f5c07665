// The journal of a farm: events, one JSON object a line, appended and synced before they take effect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/status.h"
#include "runtime/farm/table.h"

namespace radl::farm {

class Journal {
 public:
  // Opens or creates the file, and gives every event in it. A last line that was cut off by a crash is
  // removed. Conflict: another process has it open for writing. Corrupt: a complete line is not JSON.
  Status open(const std::string& path, const std::function<Status(const Event& event)>& replay);
  // Adds an event to what the next flush writes.
  void add(const Event& event);
  // Writes and syncs what was added. After an error the file ends with the last flush that succeeded, and
  // every further flush fails with the same error.
  Status flush();

 private:
  Fd file_;
  std::string path_, pending_;
  size_t size_ = 0;  // bytes that are written and synced
  Status failed_;
};

// The events of a journal that may be in use by another process; what is incomplete at its end is left out.
Status read_journal(const std::string& path, const std::function<Status(const Event& event)>& replay);

}  // namespace radl::farm
