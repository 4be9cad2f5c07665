#include "common/guarded.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <system_error>

namespace radl {

namespace {

Status described(Code code, const char* what) noexcept {
  // Formatting a message may run out of memory again: then only the code is returned.
  try {
    return {code, what};
  } catch (...) {
    return {code, std::string()};
  }
}

}  // namespace

Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return described(Code::Quota, "out of memory");
  } catch (const std::system_error& error) {
    bool limit = error.code() == std::errc::resource_unavailable_try_again ||
                 error.code() == std::errc::not_enough_memory;
    return described(limit ? Code::Quota : Code::Internal, error.what());
  } catch (const std::exception& error) {
    return described(Code::Internal, error.what());
  } catch (...) {
    return described(Code::Internal, "an unknown exception");
  }
}

Status for_each_parallel(size_t count, size_t width, const std::function<Status(size_t)>& work) {
  std::vector<Status> results(count);
  std::atomic<size_t> next{0};
  auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) results[i] = guarded([&] { return work(i); });
  };
  {
    Threads threads;
    for (size_t i = 1; i < std::min(std::max<size_t>(width, 1), count); ++i) {
      if (Status started = threads.start(loop); !started.ok()) break;
    }
    loop();
  }
  for (Status& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return {};
}

}  // namespace radl
