# SPDX-License-Identifier: GPL-2.0-or-later
# The core's rule for calls through slots (core-module/DESIGN.md, CONFIG_CFI_CLANG): a function that makes
# one is __nocfi, and a __nocfi function makes no other indirect call.  Prints each line that breaks it.

# The first line of a function, at the beginning of a line; its parameters may follow on others.
/^[a-z_].*\(/ && !/;[ \t]*$/ && !/=/ { exempt = /__nocfi/; inside = 1 }
/^}/ { inside = 0 }

inside && /^[ \t]/ {
	slot = /(^|[^a-z_])(pp_kernel|x86|arm64|mips)\.[a-z_]+\(/
	other = /(^|[^a-z_])pp_arch\.[a-z_.]+\(|->[a-z_]+\(/
	if (slot && !exempt)
		print FILENAME ":" FNR ": calls through a slot, and is not __nocfi"
	if (other && exempt)
		print FILENAME ":" FNR ": calls indirectly, and is __nocfi"
}
