# Lockstep: make help lists the targets.
CC      ?= gcc
BUILD   ?= build
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wmissing-prototypes -Wdouble-promotion
ARCH    ?= native
CFLAGS  ?= -O3 -g
LOCK_CFLAGS := -std=gnu11 $(CFLAGS) -march=$(ARCH) -ffp-contract=fast -fopenmp $(WARN) -MMD -MP -Isrc -I. \
  -DLOCKSTEP_DATA_DIR='"$(CURDIR)/data"' $(shell pkg-config --cflags openblas libcjson zlib libcurl libcrypto)
LIBS    := $(shell pkg-config --libs openblas libcjson zlib libcurl libcrypto) -lm

SOURCES := $(wildcard src/*/*.c cpu/*/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
CORE    := $(filter-out $(BUILD)/obj/src/cli/main.o,$(OBJECTS))
TESTS   := $(wildcard tests/test_*.c)

all: $(BUILD)/lockstep
objects: $(OBJECTS)

$(BUILD)/lockstep: $(OBJECTS)
	$(CC) $(LOCK_CFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests: $(CORE) $(TESTS:%.c=$(BUILD)/obj/%.o)
	$(CC) $(LOCK_CFLAGS) -o $@ $^ $(LIBS) -lcriterion
$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(LOCK_CFLAGS) -c -o $@ $<
test: $(BUILD)/lockstep $(BUILD)/tests
	$(BUILD)/tests
clean:
	rm -rf $(BUILD)
.PHONY: all objects test clean
-include $(OBJECTS:.o=.d)
