// Each thread begins with an allocation. jemalloc 5.3 deadlocks in a thread whose first call of the allocator
// frees memory: it prepares the thread's cache while it merges what was freed, and takes a lock that it
// holds. The linker calls these in place of pthread_create (--wrap).
#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

struct ThreadStart {
  void* (*run)(void*);
  void* argument;
};

void* begin_with_allocation(void* held) {
  const ThreadStart start = *static_cast<ThreadStart*>(held);
  void* volatile first = std::malloc(1);
  std::free(first);
  delete static_cast<ThreadStart*>(held);
  return start.run(start.argument);
}

}  // namespace

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) {
  auto* start = new (std::nothrow) ThreadStart{run, argument};
  if (!start) return EAGAIN;
  const int error = __real_pthread_create(thread, attributes, begin_with_allocation, start);
  if (error != 0) delete start;
  return error;
}

}  // extern "C"
