// Compares two lists of lines by Myers' algorithm.

const EDITS_MOST = 1500; // texts with more edits are shown as one block

function common(a, b, from, end) {
	let n = 0;
	while (n < end && a[from(a, n)] === b[from(b, n)]) n++;
	return n;
}

// Decides which way the furthest path to diagonal k takes: down (an added line) or right.
const goesDown = (v, zero, d, k) => k === -d || (k !== d && v[zero + k - 1] < v[zero + k + 1]);

// Finds the fewest edits. Returns pairs [x, y] of equal lines, or none if there are too many edits.
function match(a, b) {
	const most = Math.min(a.length + b.length, EDITS_MOST);
	const zero = most + 1;
	const v = new Int32Array(2 * most + 3); // furthest x on each diagonal
	const trace = [];
	for (let d = 0; d <= most; d++) {
		trace.push(v.slice());
		for (let k = -d; k <= d; k += 2) {
			let x = goesDown(v, zero, d, k) ? v[zero + k + 1] : v[zero + k - 1] + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
			v[zero + k] = x;
			if (x >= a.length && x - k >= b.length) return walk(trace, zero, a.length, b.length);
		}
	}
	return [];
}

function walk(trace, zero, x, y) {
	const pairs = [];
	for (let d = trace.length - 1; d >= 0; d--) {
		const k = x - y;
		const down = goesDown(trace[d], zero, d, k);
		const fromX = d ? trace[d][zero + k + (down ? 1 : -1)] : 0;
		const fromY = d ? fromX - k - (down ? 1 : -1) : 0;
		while (x > fromX && y > fromY) pairs.push([--x, --y]);
		x = fromX;
		y = fromY;
	}
	return pairs.reverse();
}

// Returns rows {sign, text, a, b}: the sign is " ", "-" or "+", and a and b are the numbers of the
// line in each list.
export function diff(a, b) {
	const most = Math.min(a.length, b.length);
	const head = common(a, b, (_, i) => i, most);
	const tail = common(a, b, (list, i) => list.length - 1 - i, most - head);
	const middle = match(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
	const rows = [];
	let x = 0;
	let y = 0;
	const upTo = (endX, endY) => {
		while (x < endX) rows.push({ sign: "-", text: a[x], a: ++x });
		while (y < endY) rows.push({ sign: "+", text: b[y], b: ++y });
	};
	const same = () => rows.push({ sign: " ", text: a[x], a: ++x, b: ++y });
	while (x < head) same();
	for (const [i, j] of middle) {
		upTo(head + i, head + j);
		same();
	}
	upTo(a.length - tail, b.length - tail);
	while (x < a.length) same();
	return rows;
}

// Keeps the changed rows and a few around them. A gap is a row {gap: number of rows}.
export function hunks(rows, around = 3) {
	const out = [];
	const near = new Uint8Array(rows.length);
	rows.forEach((row, i) => {
		if (row.sign === " ") return;
		near.fill(1, Math.max(0, i - around), i + around + 1);
	});
	rows.forEach((row, i) => {
		if (near[i]) out.push(row);
		else if (out.at(-1)?.gap) out.at(-1).gap++;
		else out.push({ gap: 1 });
	});
	return out;
}
