/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/cpu_watch.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"

/* The group that the kernel itself sends to; udev has another one. */
#define UEVENT_GROUP 1
#define CPU_MAX 65535

int cpu_watch__open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);
	int err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The first string of a message is "online@/devices/system/cpu/cpu1". */
bool cpu_watch__parse(const char *message, size_t size, unsigned int *cpu, bool *online)
{
	static const char on[] = "online@", off[] = "offline@", path[] = "/devices/system/cpu/cpu";
	uint64_t number;

	if (!memchr(message, '\0', size))
		return false;
	*online = !strncmp(message, on, sizeof(on) - 1);
	if (!*online && strncmp(message, off, sizeof(off) - 1))
		return false;
	message += *online ? sizeof(on) - 1 : sizeof(off) - 1;
	if (strncmp(message, path, sizeof(path) - 1) ||
	    units__parse_number(message + sizeof(path) - 1, CPU_MAX, &number))
		return false;
	*cpu = (unsigned int)number;
	return true;
}

bool cpu_watch__read(int fd, cpu_watch_fn fn, void *ctx)
{
	bool missed = false, online;
	char message[8192];
	unsigned int cpu;

	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t len = sizeof(from);
		ssize_t size = recvfrom(fd, message, sizeof(message), 0, (struct sockaddr *)&from,
					&len);

		if (size < 0 && errno == EINTR)
			continue;
		/* The socket was full; it works again after it has reported that. */
		if (size < 0 && errno == ENOBUFS) {
			missed = true;
			continue;
		}
		if (size < 0)
			return missed;
		/* Only the kernel has no port; any process may send to us. */
		if (!from.nl_pid && cpu_watch__parse(message, (size_t)size, &cpu, &online))
			fn(ctx, cpu, online);
	}
}
