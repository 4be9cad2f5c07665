#include "common/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace radl {

void hold_standard_files() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one. Reading and writing fail as they would without it.
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace radl
