// Measures the tasks of a page's main thread with Chromium's own trace.

// Times in ms of the longest task while `act` runs: processor time, and time by the clock, which
// other programs of the machine lengthen.
export async function longestTask(browser, page, act) {
	await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] });
	await act();
	const { traceEvents } = JSON.parse(await browser.stopTracing());
	const mains = new Set(
		traceEvents.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`),
	);
	const longest = { cpu: 0, clock: 0, tasks: 0 };
	for (const { name, pid, tid, dur, tdur } of traceEvents) {
		if (!name.endsWith("RunTask") || dur === undefined || !mains.has(`${pid} ${tid}`)) continue;
		longest.tasks++;
		longest.cpu = Math.max(longest.cpu, (tdur ?? dur) / 1000);
		longest.clock = Math.max(longest.clock, dur / 1000);
	}
	return longest;
}

// Scrolls a list as fast as frames are shown.
export function scroll(page, selector, pixels, frames) {
	return page.evaluate(
		async ([name, by, n]) => {
			const list = document.querySelector(name);
			for (let i = 0; i < n; i++) {
				list.scrollTop += by;
				await new Promise(requestAnimationFrame);
			}
		},
		[selector, pixels, frames],
	);
}
