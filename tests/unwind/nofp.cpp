// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <functional>
#include <memory>
#include <unistd.h>
#include <vector>

struct Waiter {
	virtual ~Waiter() = default;
	virtual int wait(int n) = 0;
};

struct Pause : Waiter {
	__attribute__((noinline)) int wait(int n) override
	{
		std::vector<int> room(16, n);

		pause();
		return room[3];
	}
};

template <typename T> __attribute__((noinline)) static int nest(T &&call, int depth)
{
	std::vector<int> numbers{ 3, 1, 2 };

	if (depth)
		return nest(call, depth - 1) + 1;
	std::sort(numbers.begin(), numbers.end(),
		  [&](int a, int b) { return call(a) < call(b); });
	return numbers[0];
}

int main()
{
	std::unique_ptr<Waiter> waiter = std::make_unique<Pause>();
	std::function<int(int)> call = [&](int n) { return waiter->wait(n) + n; };

	return nest(call, 5);
}
