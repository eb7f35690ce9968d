// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * badread FILE - read FILE to a mapped address, to one that is not mapped, and to a buffer whose
 * second page is not mapped.  Print the result of each read() in a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void try_read(const char *path, const char *what, void *to, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, to, size);

	printf("%s: %s\n", what, n < 0 ? strerror(errno) : "read");
	close(fd);
}

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two, *one = NULL;

	if (argc != 2)
		return 1;
	two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (two == MAP_FAILED || munmap(two + page, page))
		return 1;
	one = two + page - 1;
	try_read(argv[1], "mapped", two, 64);
	try_read(argv[1], "not mapped", (void *)page, 64);
	try_read(argv[1], "half mapped", one, 64);
	return 0;
}
