# Two commands do all on a fresh Debian 12:  make demo   and   make check.
# The work is CMake's; this file only names the steps people ask for.
BUILD   ?= build
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
# Tests wait for other programs half of their time.
TEST_JOBS ?= $(shell echo $$((2 * $(JOBS))))
# Several sources a compilation and precompiled headers: a sixth of the time. -DCMAKE_UNITY_BUILD=OFF for quick rebuilds while editing.
CMAKE_FLAGS ?= -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 -DRADL_PRECOMPILE=ON

UNTRUSTED_TESTS = parser_test ir_test cluster_message_test cluster_secure_test cluster_link_test data_readers_test \
  data_image_test http_test aws_credentials_test aws_query_test transfer_download_test transfer_s3_test transfer_stores_test auth_file_test openstack_client_test openstack_parts_test \
  $(addprefix fuzz_,$(shell sed -n 's/^ *radl_fuzzer.\([a-z_0-9]*\) .*/\1/p' tests/fuzz/*/CMakeLists.txt))
empty :=
space := $(empty) $(empty)

.PHONY: help deps deps-check programs build demo check check-trials check-faults check-openstack check-gce check-azure check-im check-stores check-clouds build-sanitize check-sanitize build-sanitize-short check-sanitize-short check-tsan check-conformance check-conformance-short check-format check-plain quick install wheel tarball deb image check-install check-image site screenshots fuzz clean

help:
	@echo "make demo               install packages, build, train CIFAR-10 on this machine from a .radl file"
	@echo "make check              install packages, build, run the tests; RADL_LONG_TESTS=1 also those of minutes"
	@echo "make quick              while editing: builds what changed without unity files or optimization, runs the unit tests of that which need no server"
	@echo "make check-conformance  compare with peers from PyPI and npm (skips what cannot be had); SUITES= some of them"
	@echo "make check-conformance-short  the same without the suites that bring up other people's clusters"
	@echo "make check-faults       EC2 while its API fails: RUNS=100 seeds from SEED=1 on, and a kill at every call and journal write"
	@echo "make check-trials       radlc test on the examples and twenty nodes: RUNS=10000 from SEED=1 on, a fifth with kill -9"
	@echo "make check-gce          Google Compute Engine, against a server driven by Google's description of its API"
	@echo "make check-azure        Azure, against a server driven by Microsoft's descriptions of its API"
	@echo "make check-clouds       one training file on this computer, EC2, Compute Engine, Azure and OpenStack (skips what cannot be had)"
	@echo "make check-im           im_client and EC3 from PyPI, unchanged, against radlc serve (skips what cannot be had)"
	@echo "make check-stores       object stores beside S3: fake-gcs-server, Azurite, Swift's own servers (skips what cannot be had)"
	@echo "make check-openstack    OpenStack's own services from Debian's packages (skips what cannot be had)"
	@echo "make check-sanitize     the tests under ASan and UBSan; check-sanitize-short: those of what reads other people's bytes"
	@echo "make check-tsan         the runtime's tests with threads under ThreadSanitizer; TSAN_TESTS= some of them"
	@echo "make check-format       formatting, as .clang-format says"
	@echo "make check-plain        each source of the libraries and programs compiles by itself, without unity files; TESTS=ON the tests' too, FOLDERS= some"
	@echo "make fuzz               run the fuzzers (clang); FUZZ_SECONDS=60 each, FUZZ_TOTAL= in all"
	@echo "make wheel | tarball | deb  a package for any Linux on x86-64, in $(BUILD)/packages (OUT= another folder)"
	@echo "make image              a container image (podman or docker) of that tarball on Debian 12"
	@echo "make check-image        builds it, measures it and runs the demo in it; IMAGE_BASE=debootstrap without a registry"
	@echo "make check-install      each package in clean roots of Debian and Ubuntu (skips what cannot be had); SYSTEMS= some of them"
	@echo "make site               the documentation as a site with search, in $(BUILD)/site (mkdocs from PyPI)"
	@echo "make screenshots        the images of docs/service.md and the recording of the README, made by tests"
	@echo "make build | install [PREFIX= DESTDIR=] | bench-NAME | clean"

deps:
	@tools/install-packages build

deps-check:
	@tools/install-packages check

$(BUILD)/build.ninja:
	cmake -G Ninja -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)

programs: deps
	@test -f $(BUILD)/build.ninja || cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS) >/dev/null

# The programs alone; the tests are built by `check`.
build: programs
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train radl_shell_files radl_page

# The engine comes first: it downloads the images while radlc is compiled.
demo: programs
	cmake --build $(BUILD) -j $(JOBS) --target radl-train
	@tools/demo fetch $(BUILD) & cmake --build $(BUILD) -j $(JOBS) --target radlc && wait
	@tools/demo run $(BUILD)

check: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS)
	@tools/run-tests $(BUILD) -j $(TEST_JOBS) $(CTEST_FLAGS)

# In a folder of its own, so that the optimized build stays. The tests of what a change links again run, at the same time as the rest is built.
quick:
	@test -f $(BUILD)-quick/build.ninja || cmake -G Ninja -S . -B $(BUILD)-quick -DRADL_QUICK=ON -DRADL_TESTS=ON >/dev/null
	cmake --build $(BUILD)-quick -j $(JOBS) --target quick

screenshots:
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train radl_page
	@mkdir -p docs/images
	cd tests/e2e && RADL_BUILD=$(abspath $(BUILD)) RADL_SOURCE=$(CURDIR) RADL_SCREENSHOTS=$(CURDIR)/docs/images \
	  python3 -B -m unittest page_test.Page.test_from_nothing_to_a_downloaded_model page_test.Page.test_a_search_and_its_best_model page_test.Page.test_runs_are_compared_under_an_address recording_test

check-conformance: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS)
	@tests/conformance/run $(BUILD) $(SUITES)

# Without the suites that bring up other people's clusters or time PyTorch: those download gigabytes and take minutes each.
check-conformance-short:
	@$(MAKE) --no-print-directory check-conformance SUITES="$(filter-out %_cluster %_elastic shared_storage hdfs_staging slurm_losses slurm_accounting program_forecasts,$(patsubst tests/conformance/%/suite,%,$(wildcard tests/conformance/*/suite)))"

# A failing seed prints the command that repeats it: RUNS=1 SEED=n. Without RUNS=1 a kill -9 at every point follows.
check-faults: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl_kill_points radl_quick_time
	@tools/check-faults $(BUILD) $(or $(RUNS),100) $(or $(SEED),1)

check-trials: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc
	@tools/check-trials $(BUILD) $(or $(RUNS),10000) $(or $(SEED),1)

# RADL_FAULT_RUNS, RADL_FAULT_SEED and RADL_KILL_POINTS: tests/openstack/faults_test.py.
check-openstack: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_OPENSTACK_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train openstack_suite_test
	@tools/run-tests $(BUILD) -L openstack

check-gce: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_GCE_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train gce_suite_test
	@tools/run-tests $(BUILD) -L gce

check-azure: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_AZURE_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train azure_suite_test
	@tools/run-tests $(BUILD) -L azure
check-clouds: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_CLOUD_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc radl-train
	@tools/run-tests $(BUILD) -L clouds

check-im: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_IM_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc
	@tools/run-tests $(BUILD) -L im

check-stores: deps-check
	@cmake -G Ninja -S . -B $(BUILD) -DRADL_TESTS=ON -DRADL_STORE_TESTS=ON $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target radlc conformance_transfer
	@tools/run-tests $(BUILD) -L stores

# SANITIZE_TESTS: some tests' names instead of all, for a short run; it takes the kernels as they are.
build-sanitize: deps-check
	@cmake -G Ninja -S . -B $(BUILD)-sanitize -DRADL_TESTS=ON -DRADL_SANITIZE=address,undefined -DRADL_SANITIZE_KERNELS=$(if $(SANITIZE_TESTS),OFF,ON) $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD)-sanitize -j $(JOBS) $(if $(SANITIZE_TESTS),--target $(SANITIZE_TESTS))

check-sanitize: build-sanitize
	@tools/run-tests $(BUILD)-sanitize -j $(TEST_JOBS) $(if $(SANITIZE_TESTS),-R '^($(subst $(space),|,$(strip $(SANITIZE_TESTS))))$$') $(CTEST_FLAGS)

# What reads bytes that somebody else wrote: files, answers, messages of strangers. Two of them are left out: what they call is
# half of the runtime, minutes of compiling, and behind readers that others run.
build-sanitize-short check-sanitize-short:
	@$(MAKE) --no-print-directory $(@:-short=) SANITIZE_TESTS="$(filter-out fuzz_secrets fuzz_plan_file,$(UNTRUSTED_TESTS))"

# What runs for several users in one process; of each user's applies, 25 at once.
TSAN_TESTS ?= runtime_driver_test runtime_run_test runtime_exec_test runtime_state_test serve_im_test serve_access_test
check-tsan: deps-check
	@cmake -G Ninja -S . -B $(BUILD)-tsan -DRADL_TESTS=ON -DRADL_SANITIZE=thread -DRADL_SANITIZE_KERNELS=OFF $(CMAKE_FLAGS) >/dev/null
	cmake --build $(BUILD)-tsan -j $(JOBS) --target $(TSAN_TESTS)
	@tools/run-tests $(BUILD)-tsan -R '^($(subst $(space),|,$(strip $(TSAN_TESTS))))$$' $(CTEST_FLAGS)

check-format: deps-check
	@git ls-files '*.cc' '*.h' | xargs clang-format --dry-run --Werror && echo "formatting: as .clang-format says"

# The build of editors and of `cmake -S . -B build && cmake --build build`: CMake's default generator, a compilation a source. Checks what
# unity files hide, a missing include, without the time that optimizing takes.
check-plain: deps-check
	@cmake -S . -B $(BUILD)-plain -DRADL_TESTS=$(or $(TESTS),OFF) -DCMAKE_UNITY_BUILD=OFF >/dev/null
	@tools/check-plain $(BUILD)-plain $(JOBS) $(FOLDERS)

install: build
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

# Packages for Linux on x86-64. They bring their own libraries, so one of each kind serves every distribution.
wheel tarball deb: build
	@tools/package $@ $(BUILD) $(or $(OUT),$(BUILD)/packages)

CONTAINERS ?= $(firstword $(notdir $(wildcard /usr/bin/podman /usr/bin/docker)) podman)
IMAGE_PACKAGES = $(or $(OUT),$(BUILD)/packages)
image: tarball
	$(CONTAINERS) build -t radlc -f Containerfile $(if $(IMAGE_BASE),--build-arg BASE=$(IMAGE_BASE)) $(IMAGE_PACKAGES)

check-image: tarball
	@tests/install/image $(IMAGE_PACKAGES)

# SYSTEMS: some of them, for example SYSTEMS="debian11 ubuntu24.04".
check-install: wheel tarball deb
	@tests/install/run $(BUILD)/packages $(SYSTEMS)

# The documentation, with search, without a network: open build/site/index.html. mkdocs comes from PyPI.
site:
	@mkdir -p $(BUILD) && tools/site/make-site $(or $(OUT),$(BUILD)/site)

fuzz: deps-check
	@tools/install-packages fuzz
	@FUZZ_SECONDS="$(or $(FUZZ_SECONDS),60)" FUZZ_TOTAL="$(or $(FUZZ_TOTAL),0)" tools/fuzz $(BUILD)-fuzz $(FUZZERS)

bench-%: deps-check
	@tools/bench $* $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-plain
