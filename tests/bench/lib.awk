# SPDX-License-Identifier: GPL-2.0-only
# lib.awk: figures of several rounds by row and name, their median and range.

function put(row, name, value) { values[row, name, ++count[row, name]] = value + 0 }
function sort(row, name,   n, i, j, t) {
	n = count[row, name]
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && values[row, name, j] < values[row, name, j - 1]; j--) {
			t = values[row, name, j]
			values[row, name, j] = values[row, name, j - 1]
			values[row, name, j - 1] = t
		}
	return n
}
function median(row, name,   n) {
	n = sort(row, name)
	if (!n) return ""
	if (n % 2) return values[row, name, (n + 1) / 2]
	return (values[row, name, n / 2] + values[row, name, n / 2 + 1]) / 2
}
function range(row, name, format,   n) {
	n = sort(row, name)
	if (!n) return "-"
	return sprintf(format " [" format "-" format "]", median(row, name),
		values[row, name, 1], values[row, name, n])
}
function show(row, name, format) {
	return count[row, name] ? sprintf(format, median(row, name)) : "-"
}
# What looks like a number becomes one: as text, 100000 is less than 65536.
function fields(   i, at, value) {
	split("", f)
	for (i = 4; i <= NF; i++) {
		at = index($i, "=")
		value = substr($i, at + 1)
		f[substr($i, 1, at - 1)] = value ~ /^[0-9]+[.]?[0-9]*$/ ? value + 0 : value
	}
}
