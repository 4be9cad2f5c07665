// Preloaded into radlc by tests of what it does while an API fails: RADL_QUICK_TIME=10 lets ten seconds pass
// for it in one. What it waits, between two attempts, between two looks, for a turn, for an answer, takes a
// tenth; the times themselves, their order and the code that waits are as ever. The date is the real one, as
// signatures carry it.
//
// The program itself has no hook for this. It is only this process that is quick: the variables are taken out
// of the environment.
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <time.h>

#include <cstdlib>

namespace {

constexpr long long kSecond = 1'000'000'000;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

long long nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }
timespec from_nanoseconds(long long time) { return {time / kSecond, time % kSecond}; }

long long factor() {
  static const long long one = [] {
    const char* text = std::getenv("RADL_QUICK_TIME");
    const long long given = text ? std::atoll(text) : 1;
    return given > 0 ? given : 1;
  }();
  return one;
}

long long really(clockid_t clock) {
  static auto* const get = real<decltype(clock_gettime)>("clock_gettime");
  timespec now{};
  get(clock, &now);
  return nanoseconds(now);
}

bool is_quick(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE;
}

// A wait that is to take some time takes at least a little: who polls with a short one does not poll without
// one.
long long shorter(long long wait) { return wait > 0 ? (wait + factor() - 1) / factor() : wait; }

timespec shorter(const timespec& wait) { return from_nanoseconds(shorter(nanoseconds(wait))); }

// The real time at which a clock shows `end` to this process.
timespec when(clockid_t clock, const timespec& end) {
  const long long at = nanoseconds(end);
  if (is_quick(clock)) return from_nanoseconds(at / factor());
  const long long now = really(clock);
  return from_nanoseconds(at > now ? now + shorter(at - now) : at);
}

__attribute__((constructor)) void begin() {
  (void)factor();
  unsetenv("RADL_QUICK_TIME");
  unsetenv("LD_PRELOAD");
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const get = real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = get(clock, now);
  if (result == 0 && is_quick(clock)) *now = from_nanoseconds(nanoseconds(*now) * factor());
  return result;
}

int nanosleep(const timespec* time, timespec* left) {
  static auto* const sleep = real<int(const timespec*, timespec*)>("nanosleep");
  const timespec less = shorter(*time);
  const int result = sleep(&less, left);
  if (result != 0 && left) *left = from_nanoseconds(nanoseconds(*left) * factor());
  return result;
}

int usleep(useconds_t microseconds) {
  const timespec time = from_nanoseconds(microseconds * 1000LL);
  return nanosleep(&time, nullptr);
}

int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  static auto* const wait = real<int(pollfd*, nfds_t, int)>("poll");
  return wait(descriptors, count, static_cast<int>(shorter(milliseconds)));
}

int ppoll(pollfd* descriptors, nfds_t count, const timespec* time, const sigset_t* signals) {
  static auto* const wait = real<int(pollfd*, nfds_t, const timespec*, const sigset_t*)>("ppoll");
  if (!time) return wait(descriptors, count, time, signals);
  const timespec less = shorter(*time);
  return wait(descriptors, count, &less, signals);
}

int select(int count, fd_set* read, fd_set* write, fd_set* wrong, timeval* time) {
  static auto* const wait = real<int(int, fd_set*, fd_set*, fd_set*, timeval*)>("select");
  if (!time) return wait(count, read, write, wrong, time);
  const long long microseconds = shorter(time->tv_sec * 1'000'000LL + time->tv_usec);
  timeval less{microseconds / 1'000'000, microseconds % 1'000'000};
  return wait(count, read, write, wrong, &less);
}

int pthread_cond_clockwait(pthread_cond_t* changed, pthread_mutex_t* held, clockid_t clock,
                           const timespec* end) {
  static auto* const wait =
      real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait");
  const timespec earlier = when(clock, *end);
  return wait(changed, held, clock, &earlier);
}

int pthread_cond_timedwait(pthread_cond_t* changed, pthread_mutex_t* held, const timespec* end) {
  static auto* const wait =
      real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  const timespec earlier = when(CLOCK_REALTIME, *end);
  return wait(changed, held, &earlier);
}
}
