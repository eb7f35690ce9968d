# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Addresses: of neighbours in a section that the source names, and of what a patch carries.

load helpers

named='__attribute__((section(".data..read_mostly")))'

@test "the end of a table is not the beginning of a new variable behind it" {
	compare <<-END
		struct t { long a, b, c; };
		static struct t table[4] $named = {{1}};
		NEW(static long newer $named = 7;)
		long f(void)
		{
			long sum = OLD(0) NEW(newer);
			for (struct t *p = table; p < table + 4; p++)
				sum += p->a++;
			return sum;
		}
	END
	[ "$exit_status" -eq 2 ]
	[[ "$(jq -r '.refusals[] | select(.warning | not) | .code' "$report" | sort -u)" == \
		static-ambiguous ]]
}

@test "an indexed place in a section whose variables moved" {
	compare <<-END
		static long table[8] $named = {1};
		NEW(static long newer $named = 7;)
		static long last $named = 3;
		long f(long i) { return table[i - 1]++ + last++ OLD(+ 1) NEW(+ newer++); }
	END
	[ "$exit_status" -eq 2 ]
	[[ "$(jq -r '.refusals[] | select(.warning | not) | .code' "$report" | sort -u)" == \
		static-ambiguous ]]
}

@test "places that are read and written as they stand are sure, moved or not" {
	compare <<-END
		NEW(static long newer $named = 7;)
		static long one $named = 1;
		static long two $named = 2;
		long f(void) { return one++ + two++ + OLD(1) NEW(newer++); }
	END
	carries "f changed"
	carries_data "newer new"
}

@test "ends and indexes are sure where nothing moved" {
	compare <<-END
		struct t { long a, b, c; };
		static struct t table[4] $named = {{1}};
		static long last $named = 3;
		long f(long i)
		{
			long sum = OLD(0) NEW(5);
			for (struct t *p = table; p < table + 4; p++)
				sum += p->a++;
			return sum + table[i - 1].b + last++;
		}
	END
	carries "f changed"
}

@test "what is new and stays behind: functions, variables, constant objects, stored strings" {
	compare <<-'END'
		struct ops { int (*call)(int); const char *name; };
		struct ops *live;
		void take(const void *);
		int old(int x) { return x; }
		NEW(static __attribute__((noipa)) int handler(int x) { return x + 1; })
		NEW(static const struct ops new_ops = { old, "new" };)
		NEW(static long counter;)
		int function(int x) { NEW(take(handler);) return x; }
		int object(int x) { NEW(take(&new_ops);) return x; }
		int variable(int x) { NEW(take(&counter); counter++;) return x; }
		int string(int x) { NEW(live->name = "stays";) return x; }
	END
	warned "address-escapes counter" "address-escapes handler" "address-escapes new_ops" \
		"address-escapes string"
}

@test "what does not stay behind: calls, reads, writes, ends, printed strings" {
	compare <<-'END'
		int printk(const char *, ...);
		NEW(static __attribute__((noipa)) int helper(int x) { return x + 1; })
		NEW(static long counter;)
		NEW(static const int weights[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };)
		int f(int x)
		{
			NEW(counter++; x = helper(x) + weights[x & 7]; printk("now %d", x);)
			return x;
		}
	END
	carries "f changed" "helper new"
	warned
}
