#include "engine/cluster/tcp_path.h"

// The kernel's own, since the C library's struct ends before what is wanted here.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

namespace radl::engine::cluster {

Traffic path_of(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  Traffic path;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return path;
  // Older kernels answer less.
  if (size >= offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt)
    path.round_trip_seconds = info.tcpi_min_rtt * 1e-6;
  if (size >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate &&
      info.tcpi_delivery_rate_app_limited == 0)
    path.bytes_per_second = static_cast<double>(info.tcpi_delivery_rate);
  return path;
}

Milliseconds unacknowledged_of(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  const bool waits = ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_unacked > 0;
  return Milliseconds(waits ? std::max<uint32_t>(1, info.tcpi_last_ack_recv) : 0);
}

}  // namespace radl::engine::cluster
