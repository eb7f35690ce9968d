/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search in sorted arrays.
 *
 * Both searches are macros, so that the compiler inlines the condition or the comparison: the
 * differ looks up relocations by their millions.
 */
#ifndef POKEPATCH_SEARCH_H
#define POKEPATCH_SEARCH_H

#include <stddef.h>

/*
 * first_index - the first index from 0 to @count - 1 at which @condition holds, or @count if it
 * holds at none.
 * @index: the name of a size_t that @condition reads
 * @condition: must hold at every index behind one at which it holds; evaluated O(log @count) times
 *
 *	size_t first = first_index(i, list->count, list->spans[i].start >= address);
 *
 * The same search finds the last element that starts at or before an address: its index is one
 * less than the first index at which an element starts behind the address.
 */
#define first_index(index, count, condition)							   \
	({											   \
		size_t _low = 0, _high = (count);						   \
												   \
		while (_low < _high) {								   \
			size_t index = _low + (_high - _low) / 2;				   \
												   \
			if (condition)								   \
				_high = index;							   \
			else									   \
				_low = index + 1;						   \
		}										   \
		_low;										   \
	})

/*
 * sorted_find - the first element of a sorted array that equals @key, or NULL.
 * @list: the array; may be NULL if @count is 0
 * @key: any value that @order takes as its second argument
 * @order: a function or macro of an element's address and @key: negative, 0 or positive if the
 *	element is before, equal to or behind the key.  The array is sorted in that order.
 */
#define sorted_find(list, count, key, order)							   \
	({											   \
		__typeof__(&(list)[0]) _list = (list);						   \
		size_t _count = (count);							   \
		__auto_type _key = (key);							   \
		size_t _found = first_index(_i, _count, order(&_list[_i], _key) >= 0);		   \
												   \
		_found < _count && order(&_list[_found], _key) == 0 ? &_list[_found] : NULL;	   \
	})

#endif /* POKEPATCH_SEARCH_H */
