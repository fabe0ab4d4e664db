# SPDX-License-Identifier: GPL-2.0-or-later
# The front door; meson and ninja do the work. `make help` lists what there is.
BUILD ?= build
PREFIX ?=
DESTDIR ?=
MESONFLAGS ?=
FUZZ_SECONDS ?= 30
RUN_TESTS = tests/tools/run-tests
# that record programs in user mode; abi: one of each kind, for the plugin ABIs of other QEMUs
USER_SUITES = guest truth values filter etrace execlog coverage faults cli

.PHONY: all help setup run test test-long bench install uninstall clean fuzz asan tsan coverage format \
	format-check hooks

# Builds guesttrace in build/, the plugins in build/plugins/
all: $(BUILD)/build.ninja
	@# What a changed meson.build makes meson say is shown only if it fails.
	@ninja -C $(BUILD) build.ninja >$(BUILD)/setup.log 2>&1 || { cat $(BUILD)/setup.log >&2; exit 1; }
	@ninja -C $(BUILD) --quiet >$(BUILD)/build.log 2>&1 || { cat $(BUILD)/build.log >&2; exit 1; }

# Where Debian's loader and pkg-config look below /usr/local; meson knows it only where dpkg-dev is installed.
MULTIARCH := $(if $(wildcard /etc/debian_version),$(shell gcc -print-multiarch 2>/dev/null))
LIBDIR := $(if $(MULTIARCH),-Dlibdir=lib/$(MULTIARCH))

# setup_build FOLDER, OPTIONS
define setup_build
command -v meson >/dev/null && command -v ninja >/dev/null || \
	{ echo 'make: meson or ninja is missing: run scripts/setup (it says what it installs)' >&2; exit 1; }; \
	[ -f $(1)/build.ninja ] || { meson setup $(1) $(LIBDIR) $(2) $(MESONFLAGS) >$(1).log 2>&1; status=$$?; \
	[ $$status = 0 ] || cat $(1).log >&2; ! grep -qi 'dependency.*not found' $(1).log || \
	echo 'make: a library is missing: run scripts/setup' >&2; rm -f $(1).log; [ $$status = 0 ]; } || exit 1
endef

$(BUILD)/build.ninja:
	@$(call setup_build,$(BUILD),)

# Installs the packages it needs, builds, and records and shows a program
run:
	@scripts/setup --what run
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) scripts/run-demo

# Installs the packages it needs, fetches other versions of QEMU and uftrace and viewers, builds, and runs the tests
test: test-ready
	@$(RUN_TESTS) $(BUILD) --no-suite long --timeout-multiplier 4 \
		$(foreach qemu,system user-newest,--then $(qemu):$(BUILD) --suite abi --timeout-multiplier 4)

# The same with the tests that take minutes, with sanitizers, and all of user mode on each plugin ABI
test-long: test-ready build-asan build-tsan
	@$(RUN_TESTS) $(BUILD) --timeout-multiplier 4 \
		--then $(ASAN_TESTS) --then $(TSAN_TESTS) \
		$(foreach qemu,system user-newest,--then $(qemu):$(BUILD) $(addprefix --suite ,$(USER_SUITES)) --timeout-multiplier 4)

.PHONY: test-ready
test-ready:
	@scripts/setup --what test
	@scripts/qemus
	@scripts/qemus user || true
	@scripts/qemus user-newest || true
	@scripts/uftraces
	@scripts/npm-packages
	@# A build that was set up before the tests' libraries were there looks for them again.
	@[ ! -f $(BUILD)/build.ninja ] || meson setup --reconfigure $(BUILD) >/dev/null
	@$(MAKE) --no-print-directory all

# Measures every speed claim
bench:
	@scripts/setup --what bench
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) bench/run

# Installs below PREFIX (/usr/local), inside DESTDIR
install: all
	@$(if $(PREFIX),meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX)) >/dev/null && ninja -C $(BUILD) --quiet >/dev/null &&) \
		DESTDIR=$(DESTDIR) scripts/install $(BUILD)
	@$(call tell_loader)

# Removes what the last install of this build has put there
uninstall:
	@scripts/install --remove $(BUILD)
	@$(call tell_loader)

# The loader's cache, where the system's own was changed
define tell_loader
[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig
endef

# Builds Debian packages of the committed tree into BUILD/deb
.PHONY: deb
deb:
	@scripts/setup --what deb
	@scripts/make-deb $(BUILD)/deb

# Removes what was built
clean:
	rm -rf $(BUILD) build-asan build-tsan build-coverage build-fuzz

ASAN_TESTS = build-asan --suite unit --suite faults --suite preload --timeout-multiplier 4
# What the thread sanitizer takes for races
export TSAN_OPTIONS ?= suppressions=$(CURDIR)/tests/tsan.supp
TSAN_TESTS = build-tsan --suite unit --timeout-multiplier 4

.PHONY: build-asan build-tsan
build-asan:
	@$(call setup_build,$@,-Db_sanitize=address$(comma)undefined -Dbuildtype=debugoptimized)
	@ninja -C $@ --quiet
build-tsan:
	@$(call setup_build,$@,-Db_sanitize=thread -Dbuildtype=debugoptimized)
	@ninja -C $@ --quiet

# Runs tests of units, faults, guests and machines with the address and undefined behaviour sanitizers
asan: build-asan
	@$(RUN_TESTS) $(ASAN_TESTS)

# Runs the unit tests with the thread sanitizer
tsan: build-tsan
	@$(RUN_TESTS) $(TSAN_TESTS)

# Runs the tests with coverage and writes build-coverage/report/index.html
coverage:
	@$(call setup_build,build-coverage,-Db_coverage=true -Dbuildtype=debug)
	@ninja -C build-coverage --quiet
	@$(RUN_TESTS) build-coverage --no-suite long --timeout-multiplier 4
	@lcov --quiet --capture --directory build-coverage --output-file build-coverage/all.info
	@lcov --quiet --extract build-coverage/all.info '*/src/*' --output-file build-coverage/src.info
	@genhtml --quiet build-coverage/src.info --output-directory build-coverage/report
	@lcov --summary build-coverage/src.info; echo build-coverage/report/index.html

# Runs every fuzz target for FUZZ_SECONDS (30; 0: its corpus alone)
fuzz:
	@CC=clang; export CC; $(call setup_build,build-fuzz,-Dfuzz=true -Db_lundef=false -Db_sanitize=address$(comma)undefined -Dbuildtype=debugoptimized)
	@ninja -C build-fuzz --quiet
	@tests/tools/run-fuzz build-fuzz $(FUZZ_SECONDS)

# Formats the source; format-check only looks
format:
	@find src include examples tests bench scripts -name '*.[ch]' ! -path '*/data/*' 2>/dev/null | xargs clang-format -i
format-check:
	@tests/layers/format.sh .

# Has git check the layout of what is committed
hooks:
	@git config core.hooksPath scripts/hooks

help:
	@awk '/^# / { text = substr($$0, 3) } /^[a-z-]+:/ && text != "" { sub(/:.*/, "", $$1); \
		printf "make %-13s %s\n", $$1, text; text = "" } /^$$/ { text = "" }' Makefile

comma := ,
