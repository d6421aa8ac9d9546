/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/unwinder.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/elf_section.h"
#include "base/heap.h"
#include "host/user_address.h"
#include "unwind/dsos.h"

/* Limits of cached address spaces and files; they take memory, and little time to make again. */
#define MAX_SESSIONS 256
#define MAX_DSOS 2048
/* Memory limit of the caches, and the samples between two checks of it. */
#define MAX_HELD (128ULL << 20)
#define LOOK_AT_HELD 64

/* More than the registers that one frame restores. */
#define MAX_READS 32

/* libdwfl's state for one layout: a module for each file that has had a frame. */
struct session {
	uint64_t layout_id; /* 0: free */
	uint64_t used;	    /* number of the last sample that used it */
	Dwfl *dwfl;
};

/* State of the unwinding of one sample. */
struct walk {
	struct unwinder *unwinder;
	const struct unwind_sample *sample;
	const struct maps *maps;
	struct session *session;
	enum unwind_status status;
	struct unwind_regs start; /* libdwfl starts with these */
	uint32_t max_frames;
	uint32_t nr;
	uint64_t sp;	    /* of the latest frame */
	uint64_t last;	    /* the latest frame itself */
	Dwarf_Word link;    /* arm64: its link register; 0: unknown */
	uint64_t look_up;   /* where the CFI of the latest frame is looked up */
	/* Values read while it was unwound, the latest ones: the return address is among them. */
	uint64_t reads[MAX_READS];
	size_t nr_reads;
	bool was_activation; /* the latest frame was interrupted, or is what interrupts */
	bool missed;	    /* a read outside of the copy was attempted meanwhile */
	bool no_base;	    /* the latest frame's frame pointer is 0, which marks the root */
	bool unreadable;    /* it is in a file that could not be opened */
	bool conflict;	    /* the session has another file at a place: it must be made anew */
	bool made;	    /* arm64: it is in code of no file */
	bool again;	    /* libdwfl is to begin again, with its caller */
	bool resumed;	    /* it has, and has come to no frame yet */
	bool interrupted;   /* that caller was interrupted by a signal: all registers are known */
};

struct unwinder {
	const struct machine *machine;
	struct dsos dsos;
	Elf *own; /* tells libdwfl the architecture */
	int own_fd;
	struct session sessions[MAX_SESSIONS];
	uint64_t samples;
	uint64_t nr_sessions; /* ever made */
	uint64_t address_mask; /* user_address__mask() */
	uint64_t heap_before; /* bytes in use when the unwinder was made */
	struct walk *walk;    /* for libdwfl's callbacks */
	volatile uint64_t *place;
	uint64_t ips[UNWIND_MAX_FRAMES];
};

const char *unwind__status_name(enum unwind_status status)
{
	static const char *const names[UNWIND_NR_STATUS] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_CUT_STACK] = "beyond the copy of the stack",
		[UNWIND_CUT_CFI] = "no unwind information",
		[UNWIND_CUT_GARBAGE] = "garbage",
		[UNWIND_CUT_LIMIT] = "too many frames",
		[UNWIND_NO_MAPS] = "unknown process",
		[UNWIND_32BIT] = "32-bit program",
		[UNWIND_FAILED] = "failed",
	};

	return status < UNWIND_NR_STATUS ? names[status] : "?";
}

/* Gives libdwfl a reference to the module's file, which all sessions share. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	const struct dso *dso = *userdata;

	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	*elf = elf_begin(-1, ELF_C_READ_MMAP, dso->elf);
	if (!*elf)
		*elf = elf_begin(-1, ELF_C_READ, dso->elf);
	return -1;
}

/* No search for debug files: their names would be chosen by the target. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **debug_name)
{
	const struct dso *dso = *userdata;
	int fd = dso->elf ? elf_section__minidebug(dso->elf) : -ENOENT;

	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)debug_name;
	return fd < 0 ? -1 : fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	*thread_arg = arg;
	return tid == 1;
}

/*
 * On arm64 a function may sign its return address before it stores it, in bits that are 0 in user
 * addresses. A value that without these bits is a mapped address is taken as that address.
 */
static uint64_t without_signature(const struct walk *walk, uint64_t value)
{
	uint64_t address = value & walk->unwinder->address_mask;

	if (address == value || !maps__find(walk->maps, walk->sample->time, address - 1))
		return value;
	return address;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct walk *walk = ((struct unwinder *)arg)->walk;
	const Dwarf_Word *regs = walk->start.r;

#ifdef __aarch64__
	Dwarf_Word link = without_signature(walk, regs[USER_REG_LR]);

	/* The program counter is no register of libdw's. */
	dwfl_thread_state_register_pc(thread, regs[UNWIND_PC]);
	if (walk->resumed && !walk->interrupted)
		return dwfl_thread_state_registers(thread, UNWIND_FP, 1, &regs[UNWIND_FP]) &&
		       dwfl_thread_state_registers(thread, UNWIND_SP, 1, &regs[UNWIND_SP]);
	return dwfl_thread_state_registers(thread, 0, USER_REG_LR, regs) &&
	       dwfl_thread_state_registers(thread, USER_REG_LR, 1, &link) &&
	       dwfl_thread_state_registers(thread, UNWIND_SP, 1, &regs[UNWIND_SP]);
#else
	return dwfl_thread_state_registers(thread, 0, UNWIND_NR_REGS, regs);
#endif
}

/* Reads the copy of the stack only: other memory may have changed since. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *value, void *arg)
{
	struct walk *walk = ((struct unwinder *)arg)->walk;
	const struct unwind_sample *sample = walk->sample;
	uint64_t offset = addr - sample->regs.r[UNWIND_SP];

	(void)dwfl;
	if (addr < sample->regs.r[UNWIND_SP] || sample->stack_bytes < sizeof(*value) ||
	    offset > sample->stack_bytes - sizeof(*value)) {
		walk->missed = true;
		return false;
	}
	memcpy(value, (const char *)sample->stack + offset, sizeof(*value));
	*value = without_signature(walk, *value);
	walk->reads[walk->nr_reads++ % MAX_READS] = *value;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static void session__end(struct session *session)
{
	if (session->dwfl)
		dwfl_end(session->dwfl);
	*session = (struct session){ 0 };
}

static int session__begin(struct unwinder *unwinder, struct session *session, uint64_t layout_id)
{
	session->dwfl = dwfl_begin(&callbacks);
	if (!session->dwfl)
		return -ENOMEM;
	if (!dwfl_attach_state(session->dwfl, unwinder->own, 1, &thread_callbacks, unwinder)) {
		session__end(session);
		return -ENOMEM;
	}
	session->layout_id = layout_id;
	unwinder->nr_sessions++;
	return 0;
}

static struct session *find_maps(struct unwinder *unwinder, uint64_t layout_id)
{
	for (size_t i = 0; i < MAX_SESSIONS; i++) {
		if (unwinder->sessions[i].layout_id == layout_id)
			return &unwinder->sessions[i];
	}
	return NULL;
}

/* Of the sessions in use; NULL: there is none. */
static struct session *oldest_session(struct unwinder *unwinder)
{
	struct session *oldest = NULL, *session;

	for (size_t i = 0; i < MAX_SESSIONS; i++) {
		session = &unwinder->sessions[i];
		if (session->layout_id && (!oldest || session->used < oldest->used))
			oldest = session;
	}
	return oldest;
}

/* Sessions may hold unpacked data of their files, which takes far more memory than these do. */
static void keep_held_small(struct unwinder *unwinder)
{
	struct session *oldest;

	while (heap__used() > unwinder->heap_before + MAX_HELD) {
		oldest = oldest_session(unwinder);
		if (!oldest)
			return;
		session__end(oldest);
	}
}

/* The session of the layout, else a free one or the least recently used, made anew. */
static struct session *find_session(struct unwinder *unwinder, uint64_t layout_id)
{
	struct session *session = find_maps(unwinder, layout_id);

	if (session)
		return session;
	keep_held_small(unwinder);
	session = find_maps(unwinder, 0);
	if (!session) {
		session = oldest_session(unwinder);
		session__end(session);
	}
	return session__begin(unwinder, session, layout_id) ? NULL : session;
}

static void forget_all(struct unwinder *unwinder)
{
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		session__end(&unwinder->sessions[i]);
	dsos__clear(&unwinder->dsos);
}

/* True if libdwfl has the file at the address; a conflict ends the walk. */
static bool has_module(struct walk *walk, const struct dso *dso, uint64_t addr)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->session->dwfl, addr);
	void **userdata = NULL;

	if (!module)
		return false;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	walk->conflict = userdata && *userdata != dso;
	return true;
}

/*
 * True if the frame information may be out of reach: then the frame pointer is not to be trusted.
 * Code made at run time has none, and runtimes keep it in a memfd.
 */
static bool is_unreadable(const struct dso *dso, const struct mapped_file *file)
{
	return dso->err && dso->err != -ENOEXEC && file->ino &&
	       strncmp(file->path, "/memfd:", strlen("/memfd:"));
}

/* Reports the file that is mapped at the address to libdwfl. 0 or -ENOMEM. */
static int report_module(struct walk *walk, const struct maps_entry *map, uint64_t addr)
{
	struct unwinder *unwinder = walk->unwinder;
	const struct dso_process process = { .pid = walk->sample->pid,
					     .alive = walk->sample->time };
	const struct dso *dso;
	Dwfl_Module *module;
	void **userdata;
	uint64_t bias;

	dso = dsos__get(&unwinder->dsos, unwinder->machine, &process, map);
	if (!dso)
		return -ENOMEM;
	if (dso->is_32bit)
		walk->status = UNWIND_32BIT;
	walk->unreadable = is_unreadable(dso, map->file);
#ifdef __aarch64__
	walk->made = dso->err && !walk->unreadable;
#endif
	if (unwinder->place)
		*unwinder->place = map->file->id;
	if (dso__bias(dso, map, &bias) || has_module(walk, dso, addr))
		return 0;
	dwfl_report_begin_add(walk->session->dwfl);
	module = dwfl_report_module(walk->session->dwfl, map->file->path, bias + dso->low,
				    bias + dso->high);
	if (dwfl_report_end(walk->session->dwfl, NULL, NULL) || !module)
		return -ENOMEM;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = (void *)(uintptr_t)dso;
	return 0;
}

/*
 * The mapping that a frame is in. A return address may lie behind the last byte of its
 * function; where a signal interrupted, it is the address itself.
 */
static const struct maps_entry *find_map(const struct walk *walk, uint64_t pc)
{
	const struct maps_entry *map = NULL;

	if (walk->nr)
		map = maps__find(walk->maps, walk->sample->time, pc - 1);
	return map ? map : maps__find(walk->maps, walk->sample->time, pc);
}

/*
 * The stack pointer rises with each return, with two exceptions: a leaf may keep its return address
 * in a register, as vfork(2) does, and a signal handler may have a stack of its own.
 */
static bool has_risen(const struct walk *walk, uint64_t sp, bool activation)
{
	if (!walk->nr || sp > walk->sp || (activation && walk->was_activation))
		return true;
	return sp == walk->sp && walk->was_activation;
}

/*
 * Return addresses lie on the stack, except those of leaves: wrong frame information may locate one
 * in a register, and then a function seems to call itself until the copy ends. On arm64, where
 * libdw follows frame pointers, it has been read with the frame before.
 */
static bool is_return_address(const struct walk *walk, uint64_t pc)
{
	size_t nr = walk->nr_reads < MAX_READS ? walk->nr_reads : MAX_READS;

	for (size_t i = 0; i < nr; i++) {
		if (walk->reads[i] == pc)
			return true;
	}
	return !walk->nr || walk->was_activation || (pc == walk->link && pc != walk->last);
}

static bool is_sane(struct walk *walk, Dwfl_Frame *frame, uint64_t pc, bool activation)
{
	Dwarf_Word sp;

	if (!activation && !maps__find(walk->maps, walk->sample->time, pc - 1))
		return false;
	if (dwfl_frame_reg(frame, UNWIND_SP, &sp) || !has_risen(walk, sp, activation))
		return false;
	walk->sp = sp;
	return true;
}

static int stop(struct walk *walk, enum unwind_status status)
{
	walk->status = status;
	return DWARF_CB_ABORT;
}

/* Adds the frame if it makes sense, and notes its facts for the end of the walk. */
static bool add_frame(struct walk *walk, Dwfl_Frame *frame, Dwarf_Addr pc)
{
	bool activation = false;
	Dwarf_Word base;

	if (!is_return_address(walk, pc))
		return false;
	walk->missed = false;
	walk->nr_reads = 0;
	walk->no_base = !dwfl_frame_reg(frame, UNWIND_FP, &base) && !base;
	walk->last = pc;
#ifdef __aarch64__
	if (dwfl_frame_reg(frame, USER_REG_LR, &walk->link))
		walk->link = 0;
#endif
	/* This already unwinds the frame, to see whether it is a signal's. */
	dwfl_frame_pc(frame, &pc, &activation);
	/* The frame that libdwfl starts again with is a return address all the same. */
	activation = activation && (!walk->resumed || walk->interrupted);
	walk->resumed = false;
	if (!is_sane(walk, frame, pc, activation))
		return false;
	walk->was_activation = activation;
	walk->look_up = pc - !activation;
	walk->unwinder->ips[walk->nr++] = pc;
	return true;
}

#ifdef __aarch64__
static bool covers(Dwarf_CFI *cfi, Dwarf_Addr pc)
{
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	free(frame);
	return true;
}

/* Assembler code and the vDSO of newer kernels have none. */
static bool has_frame_information(const struct walk *walk)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->session->dwfl, walk->look_up);
	Dwarf_Addr bias = 0;

	return module &&
	       (covers(dwfl_module_eh_cfi(module, &bias), walk->look_up - bias) ||
		covers(dwfl_module_dwarf_cfi(module, &bias), walk->look_up - bias));
}

/*
 * True if a function without frame information, interrupted or in a system call, has no frame
 * record: then only the link register holds its return address. With a record, which yields caller,
 * the register holds the same until the function's first call, and then an address in the function.
 */
static bool has_no_record(const struct walk *walk, Dwarf_Word caller)
{
	const struct maps_entry *map = find_map(walk, walk->last);

	return walk->was_activation && walk->link && walk->link != caller && map &&
	       (walk->link < map->start || walk->link >= map->end) &&
	       maps__find(walk->maps, walk->sample->time, walk->link - 1);
}

/* Makes libdwfl go on with this frame. */
static int go_on(struct walk *walk, Dwarf_Word base, Dwarf_Word sp, Dwarf_Word pc)
{
	walk->start.r[UNWIND_FP] = base;
	walk->start.r[UNWIND_SP] = sp;
	walk->start.r[UNWIND_PC] = pc;
	walk->again = true;
	walk->interrupted = false;
	return DWARF_CB_ABORT;
}

/*
 * Without frame information, libdw steps to the address in the link register and takes the frame
 * record as the caller's: the former is right for a leaf only, the latter for any other function.
 * Such code, as code made at run time, keeps frame records, the latest of which leads to its
 * caller, unless it is a leaf.
 */
static int leave_by_frame_record(struct walk *walk, Dwfl_Frame *frame)
{
	Dwarf_Word base, sp, caller_base, caller = 0;
	bool is_read;

	if (dwfl_frame_reg(frame, UNWIND_FP, &base) || dwfl_frame_reg(frame, UNWIND_SP, &sp))
		return stop(walk, UNWIND_CUT_CFI);
	walk->nr_reads = 0;
	is_read = base && read_memory(NULL, base, &caller_base, walk->unwinder) &&
		  read_memory(NULL, base + sizeof(base), &caller, walk->unwinder);
	if (has_no_record(walk, caller))
		return go_on(walk, base, sp, walk->link);
	if (!base)
		return stop(walk, walk->nr > 1 ? UNWIND_COMPLETE : UNWIND_CUT_CFI);
	if (!is_read)
		return stop(walk, UNWIND_CUT_STACK);
	if (!caller)
		return stop(walk, UNWIND_COMPLETE);
	return go_on(walk, caller_base, base + 2 * sizeof(base), caller);
}

/*
 * True at the return of a signal handler, in the vDSO, whose frame information does not mark it and
 * is of no use. gdb and libgcc recognize it by the same two instructions.
 */
static bool is_signal_return(const struct maps_entry *map, uint64_t pc)
{
	static const uint32_t code[] = { 0xd2801168, 0xd4000001 }; /* mov x8, 139; svc 0 */
	const char *own = (const char *)getauxval(AT_SYSINFO_EHDR);

	return own && !strcmp(map->file->path, "[vdso]") && pc >= map->start &&
	       map->end - map->start >= sizeof(code) && pc <= map->end - sizeof(code) &&
	       !memcmp(own + (pc - map->start), code, sizeof(code));
}

/* The registers of the interrupted code lie above the handler's frame. */
static int leave_signal_handler(struct walk *walk, Dwfl_Frame *frame)
{
	Dwarf_Word at;

	if (dwfl_frame_reg(frame, UNWIND_SP, &at))
		return stop(walk, UNWIND_CUT_CFI);
	at += sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, regs);
	walk->nr_reads = 0;
	/* x0 to x30, sp and pc, as DWARF numbers them. */
	for (int i = 0; i < UNWIND_NR_REGS; i++, at += sizeof(uint64_t)) {
		if (!read_memory(NULL, at, &walk->start.r[i], walk->unwinder))
			return stop(walk, UNWIND_CUT_STACK);
	}
	walk->again = true;
	walk->interrupted = true;
	walk->was_activation = true;
	return DWARF_CB_ABORT;
}
#endif

/* Called with each frame, before libdwfl looks for its caller. */
static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	const struct maps_entry *map;
	Dwarf_Addr pc;

	if (walk->nr == walk->max_frames)
		return stop(walk, UNWIND_CUT_LIMIT);
	if (!dwfl_frame_pc(frame, &pc, NULL))
		return stop(walk, UNWIND_CUT_CFI);
	map = find_map(walk, pc);
	if (!map)
		return stop(walk, UNWIND_CUT_GARBAGE);
	if (report_module(walk, map, walk->nr ? pc - 1 : pc))
		return stop(walk, UNWIND_FAILED);
	if (walk->conflict || walk->status == UNWIND_32BIT)
		return DWARF_CB_ABORT;
	if (!add_frame(walk, frame, pc))
		return stop(walk, UNWIND_CUT_GARBAGE);
#ifdef __aarch64__
	if (is_signal_return(map, pc))
		return leave_signal_handler(walk, frame);
	if (walk->made || (!walk->unreadable && !has_frame_information(walk)))
		return leave_by_frame_record(walk, frame);
#endif
	return walk->unreadable ? stop(walk, UNWIND_CUT_CFI) : DWARF_CB_OK;
}

/* True if the last frame's CFI marks a root: it has no return address. */
static bool is_marked_root(const struct walk *walk, Dwarf_CFI *cfi, Dwarf_Addr bias)
{
	Dwarf_Op room[3], *ops = NULL;
	Dwarf_Frame *frame;
	size_t nr_ops = 0;
	bool root;

	if (!cfi || dwarf_cfi_addrframe(cfi, walk->look_up - bias, &frame))
		return false;
	root = !dwarf_frame_register(frame, USER_REG_RETURN, room, &ops, &nr_ops) && !nr_ops &&
	       ops == room;
	free(frame);
	return root;
}

static bool is_root(const struct walk *walk)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->session->dwfl, walk->look_up);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;

	if (module) {
		cfi = dwfl_module_eh_cfi(module, &bias);
		if (is_marked_root(walk, cfi, bias))
			return true;
		cfi = dwfl_module_dwarf_cfi(module, &bias);
		if (is_marked_root(walk, cfi, bias))
			return true;
	}
	/* A return address of 0, read last, since its register has the greatest number. */
	return !walk->missed && walk->nr_reads &&
	       !walk->reads[(walk->nr_reads - 1) % MAX_READS];
}

/* libdwfl ends alike at a register that it cannot read and at the undefined one of a root. */
static enum unwind_status status_of_end(const struct walk *walk, int ret)
{
	if (!ret && is_root(walk))
		return UNWIND_COMPLETE;
	if (ret && walk->no_base && walk->nr > 1)
		return UNWIND_COMPLETE;
	return walk->missed ? UNWIND_CUT_STACK : UNWIND_CUT_CFI;
}

static int walk_once(struct walk *walk)
{
	struct unwinder *unwinder = walk->unwinder;
	int ret;

	walk->session = find_session(unwinder, maps__id(walk->maps));
	if (!walk->session)
		return -ENOMEM;
	walk->session->used = ++unwinder->samples;
	walk->status = UNWIND_COMPLETE;
	walk->nr = 0;
	walk->conflict = false;
	walk->was_activation = false;
	walk->start = walk->sample->regs;
	unwinder->walk = walk;
	do {
		walk->resumed = walk->again;
		walk->again = false;
		ret = dwfl_getthread_frames(walk->session->dwfl, 1, take_frame, walk);
	} while (walk->again);
	if (ret != DWARF_CB_ABORT)
		walk->status = walk->nr ? status_of_end(walk, ret) : UNWIND_FAILED;
	unwinder->walk = NULL;
	return 0;
}

static int walk_again(struct walk *walk)
{
	int err = walk_once(walk);

	/* The mapping has replaced another: the session has to forget that one. */
	if (!err && walk->conflict) {
		session__end(walk->session);
		err = walk_once(walk);
		if (!err && walk->conflict)
			walk->status = UNWIND_CUT_GARBAGE;
	}
	if (walk->status == UNWIND_32BIT)
		walk->nr = 0;
	return err;
}

/* A file was truncated while it was read: data read from it are invalid. */
static void spoil(struct unwinder *unwinder)
{
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		session__end(&unwinder->sessions[i]);
	dsos__spoil(&unwinder->dsos, bus_guard__address());
}

int unwinder__unwind(struct unwinder *unwinder, const struct unwind_sample *sample,
		     struct unwind_result *result)
{
	struct walk walk = { .unwinder = unwinder, .sample = sample };
	uint64_t faults = bus_guard__faults();
	int err = 0;

	*result = (struct unwind_result){ .status = UNWIND_NO_MAPS, .ips = unwinder->ips };
	walk.maps = process__maps_at(
		machine__process_at(unwinder->machine, sample->pid, sample->time), sample->time);
	if (!walk.maps)
		return 0;
	walk.max_frames = sample->max_frames;
	if (!walk.max_frames || walk.max_frames > UNWIND_MAX_FRAMES)
		walk.max_frames = UNWIND_MAX_FRAMES;
	if (unwinder->dsos.nr > MAX_DSOS)
		forget_all(unwinder);
	if (unwinder->samples % LOOK_AT_HELD == 0)
		keep_held_small(unwinder);
	err = walk_again(&walk);
	if (err == -ENOMEM) {
		forget_all(unwinder);
		err = walk_again(&walk);
	}
	if (bus_guard__faults() != faults) {
		spoil(unwinder);
		walk.status = UNWIND_FAILED;
		walk.nr = 0;
	}
	if (unwinder->place)
		*unwinder->place = 0;
	result->status = walk.status;
	result->nr = walk.nr;
	return err;
}

struct unwinder *unwinder__new(const struct machine *machine, int *err)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	GElf_Ehdr header;

	*err = -ENOMEM;
	if (!unwinder)
		return NULL;
	unwinder->machine = machine;
	unwinder->address_mask = user_address__mask();
	unwinder->heap_before = heap__used();
	unwinder->own_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (unwinder->own_fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		unwinder->own = elf_begin(unwinder->own_fd, ELF_C_READ, NULL);
	if (!unwinder->own || !gelf_getehdr(unwinder->own, &header) ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)) {
		*err = unwinder->own_fd < 0 ? -errno : -ENOTSUP;
		unwinder__delete(unwinder);
		return NULL;
	}
	*err = 0;
	return unwinder;
}

void unwinder__delete(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	forget_all(unwinder);
	dsos__free(&unwinder->dsos);
	if (unwinder->own)
		elf_end(unwinder->own);
	if (unwinder->own_fd >= 0)
		close(unwinder->own_fd);
	free(unwinder);
}

void unwinder__tell_file(struct unwinder *unwinder, volatile uint64_t *place)
{
	unwinder->place = place;
	unwinder->dsos.opening = place;
}

int unwinder__avoid(struct unwinder *unwinder, uint64_t file_id)
{
	return dsos__avoid(&unwinder->dsos, file_id);
}

void unwinder__stats(const struct unwinder *unwinder, struct unwinder_stats *stats)
{
	stats->opened = unwinder->dsos.opened;
	stats->refused = unwinder->dsos.refused;
	stats->spaces = unwinder->nr_sessions;
}
