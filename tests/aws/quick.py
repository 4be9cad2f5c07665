"""Ten seconds of radlc's waits pass in one (tests/fault/quick_time.cc): between two attempts and two looks is most of the time that it takes
while an API fails. The environment that makes a radlc so."""
from radl_case import BUILD

QUICK = {"LD_PRELOAD": str(BUILD / "tests/libradl_quick_time.so"), "RADL_QUICK_TIME": "10", "ASAN_OPTIONS": "verify_asan_link_order=0"}
