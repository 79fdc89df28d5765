# Lockstep. `make help` lists the targets; `make` builds build/lockstep.
#
# What the machine offers is found by tools/probe.sh, which writes $(BUILD)/config.mk (for this file)
# and $(BUILD)/probed.h (for the program). Change a setting on the command line, such as
# `make ARCH=x86-64-v3`, and what depends on it is built anew.

VERSION := 0.1.0

BUILD   ?= build
PREFIX  ?= /usr/local
ARCH    ?= native# for -march; x86-64-v3 runs on most PCs since 2015
CFLAGS  ?= -O3 -g
STRICT  ?= 0#      1: no fused multiply-add, so that every product is rounded (lessons on rounding)
V       ?= 0#      1: show each command
CUDA    ?= auto#   1: build backend cuda with nvcc; auto: where there are nvcc and a GPU
SIMT    ?= 1#      0: without the interpreter
OPENBLAS ?= auto#  openmp, pthread or serial: take only this build of it

ifeq ($(origin CC),default)
CC := gcc
endif
export CC ARCH OPENBLAS

# Without a -j of the user's, use every processor this shell may run on.
ifeq ($(MAKELEVEL)$(filter -j% --jobs%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-print-directory
Q := $(if $(filter 1,$(V)),,@)

# ---- sources: picked up by folder --------------------------------------------------------------
SOURCES := $(sort $(wildcard src/*/*.c cpu/*/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
CORE    := $(filter-out $(BUILD)/obj/src/cli/main.o,$(OBJECTS))
KERNELS := $(sort $(wildcard cuda/*.cu))
TESTS   := $(sort $(wildcard tests/test_*.c))
TEST_OBJECTS := $(TESTS:%.c=$(BUILD)/obj/%.o)
TSAN_OBJECT  := $(BUILD)/obj/tests/tsan/criterion_arena.o

# ---- flags -------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wmissing-prototypes \
            -Wdouble-promotion
# Arithmetic that is "fast" because it is wrong in the corners (NaN, order of sums) has no place in a
# program that compares processors to the bit.
FORBIDDEN := $(filter -ffast-math -Ofast -funsafe-math% -ffinite-math% -fassociative-math \
               -freciprocal-math -fno-signed-zeros,$(CFLAGS))
$(if $(FORBIDDEN),$(error CFLAGS has $(FORBIDDEN): Lockstep is never built with it))

# The targets below start make again or need nothing from the probe; the others read its findings.
OUTER := deps demo test lint check-layers asan tsan nvcc uninstall clean help
ifneq ($(if $(MAKECMDGOALS),$(filter-out $(OUTER),$(MAKECMDGOALS)),all),)
include $(BUILD)/config.mk
endif

# Neither changes a result: nothing here reads errno after sqrtf, or the floating point exception
# flags. With them, loops over sqrtf and over a ? b : c become vector instructions (adam: 8 times).
NO_SIDE_EFFECTS := -fno-math-errno -fno-trapping-math
CONTRACT := $(NO_SIDE_EFFECTS) -ffp-contract=$(if $(filter 1,$(STRICT)),off,fast)
CODE     := -std=gnu11 $(CFLAGS) $(PROBED_ARCH) $(CONTRACT) -fopenmp $(SANITIZE)
COMPILE  := $(CC) $(CODE) $(WARNINGS) -MMD -MP -I$(BUILD) -Isrc -I. $(PROBED_CFLAGS)
LINK     := $(CC) $(CODE) $(LDFLAGS)
LIBS     := $(PROBED_LIBS) -lm

# The two backends of cuda/*.cu: each is built, or stood in for by a name that says why it is not.
GPU := $(if $(filter auto,$(CUDA)),$(shell nvidia-smi -L 2> /dev/null | grep -c GPU))
WITH_CUDA := $(if $(NVCC),$(filter-out 0,$(if $(filter auto,$(CUDA)),$(GPU),$(CUDA))))
WITH_SIMT := $(if $(SANITIZE),,$(filter 1,$(SIMT)))
CUDA_OBJECTS := $(KERNELS:cuda/%.cu=$(BUILD)/cuda/%.o)
BACKENDS := $(if $(WITH_CUDA),$(CUDA_OBJECTS),$(BUILD)/obj/cuda/absent/cuda.o) \
            $(if $(WITH_SIMT),$(BUILD)/simt/backend.o,$(BUILD)/obj/cuda/absent/simt.o)
LIBS += $(if $(WITH_CUDA),-L$(dir $(NVCC))../lib64 -lcudart_static -ldl -lrt -pthread) \
        $(if $(WITH_CUDA)$(WITH_SIMT),-lstdc++ -pthread)

# ---- building ----------------------------------------------------------------------------------
all: $(BUILD)/lockstep
	@: # so that make says nothing where nothing was to do
objects: $(OBJECTS)
test-objects: $(TEST_OBJECTS)
test-programs: $(BUILD)/lockstep $(BUILD)/tests
	@:

$(BUILD)/lockstep: $(OBJECTS) $(BACKENDS)
	@echo "  LINK $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/tests: $(CORE) $(BACKENDS) $(TEST_OBJECTS) $(if $(findstring thread,$(SANITIZE)),$(TSAN_OBJECT))
	@echo "  LINK $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS) $(CRITERION_LIBS)

$(BUILD)/obj/%.o: %.c $(BUILD)/command | $(BUILD)/config.h
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(COMPILE) -c -o $@ $<

$(TEST_OBJECTS): PROBED_CFLAGS += $(CRITERION_CFLAGS)

# These three are looked at each time, but change only when their contents do.
$(BUILD)/config.mk: tools/probe.sh Makefile $(BUILD)/probe-settings
	@tools/probe.sh $(BUILD)

$(BUILD)/probe-settings: FORCE
	@echo '$(CC) $(ARCH) $(OPENBLAS)' | tools/write_if_changed.sh $@

$(BUILD)/command: FORCE
	@echo '$(COMPILE)' | tools/write_if_changed.sh $@

$(BUILD)/config.h: FORCE
	@{ echo '/* Written by make: what was built, how, and where its data lies. */'; \
	   echo '#define LOCKSTEP_VERSION "$(VERSION)$(REVISION)"'; \
	   echo '#define LOCKSTEP_BUILD "$(strip $(PROBED_COMPILER) $(CODE))"'; \
	   echo '#define LOCKSTEP_DATA_DIR "$(CURDIR)/data"'; \
	   echo '#define LOCKSTEP_INSTALL_DATA_DIR "$(PREFIX)/share/lockstep/data"'; \
	   cat $(BUILD)/probed.h; } | tools/write_if_changed.sh $@
REVISION = $(shell git describe --always --dirty=.changed --exclude='*' 2>/dev/null | sed 's/^/+/')
FORCE:

# ---- running -----------------------------------------------------------------------------------
DEMO := race --model mlp --data mnist-small --backends serial,openmp,openblas --seconds 20

deps:
	@tools/install-deps.sh test

demo:
	@tools/install-deps.sh build
	@$(MAKE) all
	$(BUILD)/lockstep $(DEMO)

# FILTER='matmul/*' runs only those tests; tests/*.sh are counted with them.
test:
	@tools/install-deps.sh test
	@$(MAKE) test-programs simt-tests
	@tools/run_tests.sh $(BUILD) $(FILTER)

lint:
	@tools/install-deps.sh test lint
	@$(MAKE) lint-checks

lint-checks: $(BUILD)/config.h
	@CHECK_FLAGS='-std=gnu11 -fopenmp $(PROBED_ARCH) -I$(BUILD) -Isrc -I. $(PROBED_CFLAGS) \
	  $(CRITERION_CFLAGS)' tools/lint.sh

check-layers:
	@tools/check_layers.sh

# The whole suite under the address and undefined-behaviour sanitizers.
asan:
	@tools/install-deps.sh test
	@PROBE_QUIET=1 $(MAKE) BUILD=build/asan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
	   SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' test-programs
	@TEST_TIMEOUT=900 tools/run_tests.sh build/asan $(FILTER)

# The suite under the thread sanitizer, after a proof that it can tell a race from none. Only LLVM's
# OpenMP runtime tells it about barriers (through Archer), hence clang; a second runtime in the same
# process would do so behind its back, hence the OpenBLAS that has no threads. Warnings are gcc's task.
tsan:
	@tools/install-deps.sh test tsan
	@$(TSAN_RUN) tools/tsan_proof.sh build/tsan
	@PROBE_QUIET=1 $(MAKE) BUILD=build/tsan CC=clang OPENBLAS=serial CFLAGS='-O2 -g' \
	   SANITIZE='-fsanitize=thread' WARNINGS=-w test-programs
	@TEST_TIMEOUT=900 $(TSAN_RUN) tools/run_tests.sh build/tsan $(FILTER)
TSAN_RUN = OMP_TOOL_LIBRARIES=$$(tools/probe.sh --archer) \
  TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:abort_on_error=1

# Compiles the CUDA sources for three generations of GPUs (T4, A100, H100); needs no GPU.
CUDA_SOURCES := $(KERNELS) $(sort $(wildcard tests/conformance/*.cu))
nvcc:
	@$(MAKE) nvcc-objects
nvcc-objects: $(CUDA_SOURCES:%.cu=$(BUILD)/nvcc/%.o)
$(BUILD)/nvcc/%.o: %.cu
	@mkdir -p $(@D)
	@echo "  NVCC $<"
	$(Q)$(NVCC) -O3 -Isrc -I. -Xcompiler -Wall,-Wextra -gencode arch=compute_75,code=sm_75 \
	  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c -o $@ $<

COMMA := ,
# Backend cuda of the program itself: for the GPU that is here, or the same three generations.
CUDA_ARCH := $(if $(filter-out 0,$(GPU)),-arch=native,-gencode arch=compute_75,code=sm_75 \
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90$(COMMA)compute_90])
$(BUILD)/cuda/%.o: cuda/%.cu cuda/cuda.h cuda/backends.h $(wildcard src/ops/*.h)
	@mkdir -p $(@D)
	@echo "  NVCC $<"
	$(Q)$(NVCC) -O3 -lineinfo -Isrc -I. -Xcompiler -Wall,-Wextra $(CUDA_ARCH) -c -o $@ $<

# ---- the SIMT interpreter: .cu files for machines without a GPU -------------------------------
# The source step turns launches into C++; g++ compiles the result against cuda/simt/. Kernels are
# compiled with -O2 (-O3 makes them no faster) and short loops of known length unrolled, as nvcc does.
# Never with sanitizers: fibers have stacks of their own.
CXX          := g++
SIMT_LIBRARY := $(BUILD)/simt/libsimt.a
SIMT_OBJECTS := $(patsubst cuda/simt/%.cpp,$(BUILD)/simt/lib/%.o,$(sort $(wildcard cuda/simt/*.cpp)))
SIMT_TESTS   := $(patsubst %.cu,$(BUILD)/simt/%,$(sort $(wildcard tests/conformance/*.cu)))
SIMT_CODE    := -std=gnu++17 -O2 -fpeel-loops -g $(PROBED_ARCH) $(CONTRACT)
SIMT_LINK    := $(CXX) $(SIMT_CODE)
SIMT_COMPILE := $(CXX) $(SIMT_CODE) -Wall -Wextra -Wshadow -MMD -MP $(PROBED_CFLAGS)

simt: $(SIMT_LIBRARY) $(BUILD)/simt/translate
simt-tests: $(SIMT_TESTS) $(BUILD)/simt/tests/conformance/warp_width_64

$(BUILD)/simt/command: FORCE
	@mkdir -p $(@D)
	@echo '$(SIMT_COMPILE)' | tools/write_if_changed.sh $@

$(BUILD)/simt/translate: cuda/simt/translate.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARNINGS) -o $@ $<

$(BUILD)/simt/lib/%.o: cuda/simt/%.cpp $(BUILD)/simt/command
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	$(Q)$(SIMT_COMPILE) -c -o $@ $<

$(SIMT_LIBRARY): $(SIMT_OBJECTS)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/simt/%.cpp: %.cu $(BUILD)/simt/translate
	@mkdir -p $(@D)
	$(Q)$(BUILD)/simt/translate $< $@

# Quoted includes are looked for beside the .cu file, as nvcc does.
$(BUILD)/simt/%.o: $(BUILD)/simt/%.cpp $(BUILD)/simt/command
	@echo "  SIMT $*.cu"
	$(Q)$(SIMT_COMPILE) -DLOCKSTEP_SIMT -iquote $(dir $*) -Isrc -I. -isystem cuda/simt/include \
	  -include cuda_runtime.h -c -o $@ $<

# Backend simt in one object that shows nothing but its name, not even as a template that the linker
# might take from elsewhere (groups are dissolved): the kernels of backend cuda, which may
# stand beside it, are called the same.
SIMT_KERNELS := $(KERNELS:%.cu=$(BUILD)/simt/%.o)
$(BUILD)/simt/backend.o: $(SIMT_KERNELS) $(SIMT_OBJECTS)
	$(Q)ld -r --force-group-allocation -o $@ $^
	$(Q)objcopy --keep-global-symbol=backend_simt $@

$(SIMT_TESTS): %: %.o $(SIMT_LIBRARY)
	$(Q)$(SIMT_LINK) -o $@ $^ -Wl,--as-needed $(LIBS) -pthread

# The same source for warps of 64 lanes.
SIMT_WIDE := $(BUILD)/simt/tests/conformance/warp_width_64
$(SIMT_WIDE).o: $(BUILD)/simt/tests/conformance/warp_width.cpp $(BUILD)/simt/command
	$(Q)$(SIMT_COMPILE) -DSIMT_WARP_WIDTH=64 -iquote tests/conformance -isystem cuda/simt/include \
	  -include cuda_runtime.h -c -o $@ $<
$(SIMT_WIDE): $(SIMT_WIDE).o $(SIMT_LIBRARY)
	$(Q)$(SIMT_LINK) -o $@ $^ -pthread

.SECONDARY: $(SIMT_TESTS:=.cpp) $(SIMT_TESTS:=.o) $(SIMT_KERNELS:.o=.cpp)
-include $(SIMT_OBJECTS:.o=.d) $(SIMT_TESTS:=.d) $(SIMT_WIDE).d $(SIMT_KERNELS:.o=.d)

# ---- installing --------------------------------------------------------------------------------
SHARE := $(DESTDIR)$(PREFIX)/share/lockstep

install: $(BUILD)/lockstep
	@:
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/tools
	install -m 755 $(BUILD)/lockstep $(DESTDIR)$(PREFIX)/bin/lockstep
	install -m 644 LICENSE $(SHARE)/LICENSE
	install -m 644 tools/bench_pytorch.py $(SHARE)/tools/
	cp -R data models $(SHARE)/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/lockstep
	rm -rf $(SHARE)

clean:
	rm -rf $(BUILD)

help:
	@echo "make             build build/lockstep, after a look at what this machine offers"
	@echo "make deps        install what the build and the tests need (Debian, Ubuntu), else list it"
	@echo "make demo        train one network on every CPU backend, side by side, for 20 s"
	@echo "make test        build and run the tests; FILTER='base/*' runs some of them"
	@echo "make lint        compiler warnings as errors, clang-tidy, cppcheck, format, layers, scripts"
	@echo "make asan        the tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan        the tests under the thread sanitizer (clang, LLVM's OpenMP with Archer)"
	@echo "make nvcc        compile the CUDA sources, where nvcc is; needs no GPU"
	@echo "make install     into PREFIX ($(PREFIX)), below DESTDIR if given; make uninstall undoes it"
	@echo "make clean       remove $(BUILD)/"
	@echo "Settings: ARCH=native|x86-64-v3|...  STRICT=1 (no fused multiply-add)  CC=clang  V=1"
	@echo "          CFLAGS='-O2 -g'  OPENBLAS=openmp|pthread|serial  BUILD=folder"

.PHONY: all objects test-objects test-programs simt simt-tests deps demo test lint \
        lint-checks check-layers asan \
        tsan nvcc nvcc-objects install uninstall clean help FORCE
.DELETE_ON_ERROR:
-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)
