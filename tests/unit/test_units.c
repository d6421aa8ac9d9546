/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>

#include <kselftest_harness.h>

#include "base/units.h"

struct row {
	const char *text;
	int err;
	uint64_t value;
};

#define ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))
#define UNTOUCHED 0xabcdef

TEST(times_are_read_with_and_without_unit)
{
	static const struct row rows[] = {
		{ "0", 0, 0 }, { "500", 0, 500000000 }, { "1.5ms", 0, 1500000 },
		{ "0.5", 0, 500000 }, { ".5", 0, 500000 }, { "5.", 0, 5000000 },
		{ "7ns", 0, 7 }, { "1.9ns", 0, 1 }, { "3us", 0, 3000 }, { "2s", 0, 2000000000 },
		{ "0.000000001s", 0, 1 }, { "0.0000000019s", 0, 1 },
		{ "1.00000000000000000000000000001ms", 0, 1000000 },
		{ "000001ms", 0, 1000000 },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "18446744073.709551615s", 0, UINT64_MAX },
		{ "18446744073.709551616s", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 }, { "18446744073709551616ns", -ERANGE, 0 },
		{ "184467440737095516150", -ERANGE, 0 }, { "20000000000s", -ERANGE, 0 },
		{ "18446744073709551615", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { ".", -EINVAL, 0 }, { "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ms", -EINVAL, 0 }, { "1e3", -EINVAL, 0 },
		{ "1m", -EINVAL, 0 }, { "1msx", -EINVAL, 0 }, { "1MS", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 }, { "1.2.3", -EINVAL, 0 }, { "0x10", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 }, { "1\xc2\xb5s", -EINVAL, 0 },
	};
	uint64_t ns;
	size_t i;

	for (i = 0; i < ROWS(rows); i++) {
		ns = UNTOUCHED;
		EXPECT_EQ(rows[i].err, units__parse_time(rows[i].text, NSEC_PER_MSEC, &ns))
			TH_LOG("row %zu", i);
		EXPECT_EQ(rows[i].err ? UNTOUCHED : rows[i].value, ns) TH_LOG("row %zu", i);
	}
	ASSERT_EQ(0, units__parse_time("2.5", NSEC_PER_SEC, &ns));
	EXPECT_EQ(2500000000, ns);
}

TEST(sizes_are_read_as_perf_reads_them)
{
	static const struct row rows[] = {
		{ "0", 0, 0 }, { "4096", 0, 4096 }, { "4096B", 0, 4096 }, { "1K", 0, 1024 },
		{ "1k", 0, 1024 }, { "512m", 0, 512u << 20 }, { "1.5G", 0, 1610612736 },
		{ "0.5K", 0, 512 }, { "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551615B", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 }, { "17179869184G", -ERANGE, 0 },
		{ "17179869183G", 0, 17179869183ULL << 30 },
		{ "", -EINVAL, 0 }, { "K", -EINVAL, 0 }, { "-1", -EINVAL, 0 }, { "1T", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 }, { "1 K", -EINVAL, 0 }, { "1e3", -EINVAL, 0 },
	};
	uint64_t bytes;
	size_t i;

	for (i = 0; i < ROWS(rows); i++) {
		bytes = UNTOUCHED;
		EXPECT_EQ(rows[i].err, units__parse_size(rows[i].text, &bytes))
			TH_LOG("row %zu", i);
		EXPECT_EQ(rows[i].err ? UNTOUCHED : rows[i].value, bytes) TH_LOG("row %zu", i);
	}
}

TEST(numbers_are_read_up_to_their_greatest)
{
	static const struct row rows[] = {
		{ "0", 0, 0 }, { "007", 0, 7 }, { "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 }, { "184467440737095516150", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 }, { "1.0", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "0x1", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};
	uint64_t number;
	size_t i;

	for (i = 0; i < ROWS(rows); i++) {
		number = UNTOUCHED;
		EXPECT_EQ(rows[i].err, units__parse_number(rows[i].text, UINT64_MAX, &number))
			TH_LOG("row %zu", i);
		EXPECT_EQ(rows[i].err ? UNTOUCHED : rows[i].value, number) TH_LOG("row %zu", i);
	}
	EXPECT_EQ(0, units__parse_number("127", 127, &number));
	EXPECT_EQ(-ERANGE, units__parse_number("128", 127, &number));
	EXPECT_EQ(127, number);
}

TEST(times_are_shown_in_the_unit_that_fits)
{
	char buf[64], tiny[4];

	EXPECT_STREQ("0 ns", units__format_time(0, buf, sizeof(buf)));
	EXPECT_STREQ("999 ns", units__format_time(999, buf, sizeof(buf)));
	EXPECT_STREQ("1.000 us", units__format_time(1000, buf, sizeof(buf)));
	EXPECT_STREQ("1.500 ms", units__format_time(1500000, buf, sizeof(buf)));
	EXPECT_STREQ("12.345 s", units__format_time(12345000000, buf, sizeof(buf)));
	EXPECT_STREQ("18446744073.710 s", units__format_time(UINT64_MAX, buf, sizeof(buf)));
	EXPECT_STREQ("999", units__format_time(999, tiny, sizeof(tiny)));
	EXPECT_STREQ("0.000 MB", units__format_size(0, buf, sizeof(buf)));
	EXPECT_STREQ("1.500 MB", units__format_size(1572864, buf, sizeof(buf)));
}

TEST(percentages_are_read_in_millionths)
{
	static const char *const bad[] = { "",    "%",   "101", "-1", "1s",
					   "1ms", "3 %", "1e1", "..", "100.1" };
	uint32_t ppm = 7;

	EXPECT_EQ(0, units__parse_percent("3", &ppm));
	EXPECT_EQ(30000, ppm);
	EXPECT_EQ(0, units__parse_percent("0.5%", &ppm));
	EXPECT_EQ(5000, ppm);
	EXPECT_EQ(0, units__parse_percent("0", &ppm));
	EXPECT_EQ(0, ppm);
	EXPECT_EQ(0, units__parse_percent("100", &ppm));
	EXPECT_EQ(1000000, ppm);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, units__parse_percent(bad[i], &ppm))
		TH_LOG("%s", bad[i]);
	}
	EXPECT_EQ(1000000, ppm);
}

TEST_HARNESS_MAIN
