// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch: fetch kernels, load patch modules and look after them; see pokepatch(8). */
#include <stdio.h>

#include "pokepatch/cli.h"
#include "common/proc.h"

int main(int argc, char **argv)
{
	enum exit_status status = STATUS_DONE;
	struct buffer out;
	struct error *error;

	proc_catch_signals();
	error = cli_run(cli_commands, argc, argv, &out);
	if (out.length)
		fwrite(out.text, 1, out.length, stdout);
	buffer_deinit(&out);
	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = error_errno("cannot write to standard output");
	if (error) {
		fflush(stdout);
		fprintf(stderr, "pokepatch: %s\n", error->text);
		status = error->status;
		error_destroy(error);
	}
	return status;
}
