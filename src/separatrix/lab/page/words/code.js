/**
 * The run as Python: a short NumPy loop that reproduces it, and the library's call that does the same.
 *
 * Both are whole programs with the points in them (or read from points.csv, where there are many) and leave the weights
 * in `w` and `b`. Scores are summed in the order in which the page sums them.
 */

/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").Points} Points */

const MOST_INLINE = 200;
const MOST_ORDER = 1000;
const NUMPY = "import numpy as np";
const LIBRARY = "import separatrix as sx";
const READER = "import csv";

/**
 * @param {Derivation} derivation
 * @param {string[]} [labels] of −1, +1 and 2, as points.csv has them
 * @returns {{loop: string, library: string}}
 */
export function pythonCode(derivation, labels = ["-1", "1", "2"]) {
  const data = dataLines(derivation, labels);
  const first = derivation.points.n <= MOST_INLINE ? [NUMPY] : [READER, "", NUMPY];
  return {
    loop: [...first, "", ...data, "", ...loopLines(derivation), ""].join("\n"),
    library: [...first, LIBRARY, "", ...data, "", ...libraryLines(derivation), ""].join("\n"),
  };
}

/** @param {number} x */
function py(x) {
  return Object.is(x, -0) ? "0" : String(x);
}

/** @param {ArrayLike<number>} values */
function list(values) {
  return `[${Array.from(values, py).join(", ")}]`;
}

/** @param {Derivation} derivation @param {string[]} names @returns {string[]} */
function dataLines(derivation, names) {
  const { points, learner } = derivation;
  const labels = Array.from(points.label, (label) => (learner.kind === "softmax" ? (label === -1 ? 0 : label) : label === 1 ? 1 : -1));
  const rows = Array.from({ length: points.n }, (_, i) => `[${py(points.x1[i])}, ${py(points.x2[i])}]`);
  const lines =
    points.n <= MOST_INLINE
      ? [`X = np.array([${rows.join(", ")}], dtype=float)`, `y = np.array(${list(labels)})`]
      : fileLines(learner, names);
  return [...lines, ...liftLines(learner)];
}

/** Return the lines that read the points that the lab exports. @param {Learner} learner @param {string[]} names @returns {string[]} */
function fileLines(learner, names) {
  const code = learner.kind === "softmax" ? `${JSON.stringify(names)}.index(label)` : `1 if label == ${JSON.stringify(names[1] ?? "1")} else -1`;
  return [
    'with open("points.csv", encoding="utf-8") as file:  # exported from the lab',
    "    rows = list(csv.reader(file))[1:]",
    "X = np.array([[float(a), float(b)] for a, b, _ in rows])",
    `y = np.array([${code} for *_, label in rows])`,
  ];
}

/** @param {Learner} learner @returns {string[]} */
function liftLines(learner) {
  switch (learner.lift) {
    case "distance":
      return [`X = (X[:, :1] - ${py(learner.centre)}) ** 2`];
    case "rings":
      return ["X = np.column_stack([X, X[:, 0] ** 2 + X[:, 1] ** 2])"];
    case "product":
      return ["X = np.column_stack([X, X[:, 0] * X[:, 1]])"];
    case "degree2":
      return ["X = np.column_stack([X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])"];
    default:
      return [];
  }
}

/** @param {Derivation} derivation @returns {string[]} */
function loopLines(derivation) {
  switch (derivation.learner.kind) {
    case "lms":
    case "logistic":
      return descentLoop(derivation);
    case "softmax":
      return softmaxLoop(derivation);
    case "svm":
      return svmLoop(derivation, derivation.learner.C);
    case "halfspace":
      return programLoop(derivation);
    case "margin":
      return svmLoop(derivation, Infinity);
    case "kernel":
      return kernelLoop(derivation);
    case "zero-one":
      return zeroOneLoop(derivation);
    default:
      return derivation.learner.update === "batch" ? batchLoop(derivation) : singleLoop(derivation);
  }
}

/** Return the start as two assignments' right sides. @param {Derivation} derivation */
function startOf({ learner, features }) {
  const start = learner.start ?? [];
  const given = learner.intercept ? start.slice(1, 1 + features.p) : start.slice(0, features.p);
  const w = given.some(Boolean) ? `np.array(${list(Array.from({ length: features.p }, (_, j) => given[j] ?? 0))}, dtype=float)` : `np.zeros(${features.p})`;
  return { w, b: py(learner.intercept && start[0] ? start[0] : 0) + (learner.intercept && start[0] ? "" : ".0") };
}

/** Return when a score is a mistake, as a condition. @param {Learner} learner */
function mistake(learner) {
  if (learner.margin > 0) return `y[i] * score < ${py(learner.margin)}`;
  if (learner.tie === "mistake") return "y[i] * score <= 0";
  if (learner.tie === "correct") return "y[i] * score < 0";
  return `y[i] * score < 0 or (score == 0 and y[i] != ${learner.tie === "positive" ? 1 : -1})`;
}

/** Return the line that chooses a row, and those before the loop that it needs. @param {Derivation} derivation @returns {{before: string[], row: string}} */
function orderLines({ learner, trace }) {
  if (learner.order === "cyclic") return { before: [], row: "i = visit % len(X)" };
  const order = trace.row.slice(0, Math.min(trace.length, MOST_ORDER));
  const note = trace.length > MOST_ORDER ? "  # the first visits of the lab's run" : "  # as drawn in the lab";
  return { before: [`order = ${list(order)}${note}`], row: "i = order[visit]" };
}

/** @param {Derivation} derivation @returns {string[]} */
function singleLoop(derivation) {
  const { learner, trace } = derivation;
  const start = startOf(derivation);
  const { before, row } = orderLines(derivation);
  const limit = learner.order === "cyclic" ? `updates < ${trace.status === "cycle" ? trace.updates : learner.maxUpdates}` : `visit < ${Math.min(trace.length, MOST_ORDER)}`;
  const stop = learner.order === "cyclic" ? `streak < len(X) and ${limit}` : limit;
  const rate = `${py(learner.rate)} * y[i]${learner.schedule === "inverse" ? " / updates" : ""}`;
  const keep = keepLines(learner);
  return [
    ...before,
    `w, b, updates, streak, visit = ${start.w}, ${start.b}, 0, 0, 0`,
    ...keep.before,
    `while ${stop}:`,
    `    ${row}`,
    `    score = sum(X[i] * w)${learner.intercept ? " + b" : ""}`,
    `    if ${mistake(learner)}:`,
    ...keep.mistake.map((line) => `        ${line}`),
    "        updates, streak = updates + 1, 0",
    `        step = ${rate}`,
    `        w = w + step * X[i]`,
    ...(learner.intercept ? ["        b = b + step"] : []),
    "    else:",
    "        streak += 1",
    "    visit += 1",
    ...keep.visit.map((line) => `    ${line}`),
    ...keep.after,
    'print(f"w = {w}, b = {b}, {updates} mistakes in {visit} visits")',
  ];
}

/** Return the lines needed to keep other weights than the last. @param {Learner} learner */
function keepLines(learner) {
  const wrong = learner.tie === "negative" ? "np.where(X @ w + b > 0, 1, -1) != y" : learner.tie === "mistake" ? "y * (X @ w + b) <= 0" : learner.tie === "correct" ? "y * (X @ w + b) < 0" : "np.where(X @ w + b >= 0, 1, -1) != y";
  const judge = `if (${wrong}).sum() < best[0]: best = ((${wrong}).sum(), w, b)`;
  /** @type {{before: string[], mistake: string[], visit: string[], after: string[]}} */
  const none = { before: [], mistake: [], visit: [], after: [] };
  if (learner.keep === "average") return { ...none, before: ["total = np.zeros(len(w) + 1)"], visit: ["total += [*w, b]"], after: ["*w, b = total / visit", "w = np.array(w)"] };
  if (learner.keep === "vote") {
    return { ...none, before: ["voters, counts = [(w, b)], [0]"], visit: ["if streak == 0: voters.append((w, b)); counts.append(1)", "else: counts[-1] += 1"] };
  }
  if (learner.keep === "best") {
    return {
      before: ["best, record = (len(X) + 1, w, b), -1"],
      mistake: ["if streak > record:", "    record = streak", `    ${judge}`],
      visit: [`if visit % len(X) == 0 or streak == len(X) or updates == ${learner.maxUpdates}:`, `    ${judge}`],
      after: ["_, w, b = best"],
    };
  }
  return none;
}

/** @param {Derivation} derivation @returns {string[]} */
function batchLoop(derivation) {
  const { learner } = derivation;
  const start = startOf(derivation);
  const wrong = mistake(learner).replaceAll("y[i]", "y").replace(" or (", ") | ((").replace(" and ", ") & (");
  const condition = wrong.includes("|") ? `(${wrong})` : wrong;
  return [
    `w, b = ${start.w}, ${start.b}`,
    `for update in range(1, ${learner.maxUpdates + 1}):`,
    `    score = X @ w${learner.intercept ? " + b" : ""}`,
    `    wrong = ${condition}`,
    "    if not wrong.any():",
    "        break",
    `    rate = ${py(learner.rate)}${learner.schedule === "inverse" ? " / update" : ""}`,
    "    w = w + rate * (y[wrong] @ X[wrong])",
    ...(learner.intercept ? ["    b = b + rate * y[wrong].sum()"] : []),
    'print(f"w = {w}, b = {b}")',
  ];
}

/** @param {Derivation} derivation */
function rateLine({ learner, features }) {
  if (learner.rate > 0) return `rate = ${py(learner.rate)}`;
  const bound = learner.kind === "lms" ? 1 : 0.25;
  const ones = learner.intercept ? "np.column_stack([np.ones(len(X)), X])" : "X";
  if (learner.update === "stochastic") return `rate = 1 / (${bound} * (${ones} ** 2).sum(axis=1).max())`;
  const penalty = learner.strength ? ` + ${py(learner.strength)}` : "";
  return `rate = 1 / (${bound} * np.linalg.norm(${ones}, 2) ** 2 / len(X)${penalty})${features.p ? "" : ""}`;
}

/** @param {Derivation} derivation @returns {string[]} */
function descentLoop(derivation) {
  const { learner } = derivation;
  const slope = learner.kind === "lms" ? "X @ w + b - y" : "-y / (1 + np.exp(y * (X @ w + b)))";
  if (learner.update === "stochastic") return stochasticLoop(derivation);
  if (learner.update === "newton") return newtonLoop(derivation);
  const start = startOf(derivation);
  const penalty = learner.strength ? ` + ${py(learner.strength)} * w` : "";
  return [
    rateLine(derivation),
    `w, b = ${start.w}, ${start.b}`,
    `for step in range(${derivation.trace.length}):`,
    `    slope = ${slope}`,
    `    w = w - rate * (X.T @ slope / len(X)${penalty})`,
    ...(learner.intercept ? ["    b = b - rate * slope.mean()"] : []),
    'print(f"w = {w}, b = {b}")',
  ];
}

/** @param {Derivation} derivation @returns {string[]} */
function stochasticLoop(derivation) {
  const { learner, trace } = derivation;
  const start = startOf(derivation);
  const { before, row } = orderLines(derivation);
  const slope = learner.kind === "lms" ? "score - y[i]" : "-y[i] / (1 + np.exp(y[i] * score))";
  const decay = learner.schedule === "inverse" ? [decayLine(learner)] : [];
  const rate = learner.schedule === "inverse" ? "rate / (1 + decay * visit)" : "rate";
  const shrink = learner.strength ? [`    w = w * (1 - ${rate} * ${py(learner.strength)})`] : [];
  const average = learner.keep === "average";
  return [
    rateLine(derivation),
    ...decay,
    ...before,
    `w, b${average ? ", history" : ""} = ${start.w}, ${start.b}${average ? ", []" : ""}`,
    `for visit in range(${Math.min(trace.length, learner.order === "cyclic" ? Infinity : MOST_ORDER)}):`,
    `    ${row}`,
    `    score = sum(X[i] * w)${learner.intercept ? " + b" : ""}`,
    `    step = -${rate} * (${slope})`,
    ...shrink,
    "    w = w + step * X[i]",
    ...(learner.intercept ? ["    b = b + step"] : []),
    ...(average ? ["    history.append([*w, b])"] : []),
    ...(average ? ["passes = len(history) // len(X)", "first = 2 ** max(0, int(np.log2(max(1, passes))) - 1) if passes > 1 else 0", "*w, b = np.mean(history[first * len(X) : passes * len(X)], axis=0)", "w = np.array(w)"] : []),
    'print(f"w = {w}, b = {b}")',
  ];
}

/** @param {Learner} learner */
function decayLine(learner) {
  if (learner.decay) return `decay = ${py(learner.decay)}`;
  if (learner.kind !== "lms") return learner.strength ? `decay = rate * ${py(learner.strength)}` : "decay = 1 / len(X)";
  const ones = learner.intercept ? "np.column_stack([np.ones(len(X)), X])" : "X";
  return `decay = rate * min(v for v in np.linalg.eigvalsh(${ones}.T @ ${ones} / len(X)) if v > 1e-12)`;
}

/** @param {Derivation} derivation @returns {string[]} */
function newtonLoop(derivation) {
  const { learner, trace, features } = derivation;
  const start = startOf(derivation);
  const ones = learner.intercept ? "np.column_stack([np.ones(len(X)), X])" : "X";
  const penalty = learner.strength ? `np.diag([${learner.intercept ? "0, " : ""}${Array.from({ length: features.p }, () => py(learner.strength)).join(", ")}])` : "";
  const full = [
    `Z = ${ones}`,
    `v = ${learner.intercept ? `np.array([${start.b}, *${start.w}])` : start.w}`,
    ...(penalty ? [`P = ${penalty}`] : []),
    "def loss(v):",
    `    return np.logaddexp(0, -y * (Z @ v)).mean()${penalty ? " + v @ P @ v / 2" : ""}`,
    `for step in range(${trace.length}):`,
    "    q = 1 / (1 + np.exp(y * (Z @ v)))",
    `    gradient = -Z.T @ (y * q) / len(Z)${penalty ? " + P @ v" : ""}`,
    `    hessian = (Z.T * (q * (1 - q))) @ Z / len(Z)${penalty ? " + P" : ""}`,
    "    move, length = np.linalg.pinv(hessian, rcond=1e-13, hermitian=True) @ gradient, 1.0",
    "    while loss(v - length * move) > loss(v) - 1e-4 * length * (gradient @ move) + 1e-15 and length > 1e-12:",
    "        length /= 2",
    "    v = v - length * move",
  ];
  return [...full, learner.intercept ? "b, w = v[0], v[1:]" : "b, w = 0.0, v", 'print(f"w = {w}, b = {b}")'];
}

/** @param {Derivation} derivation @returns {string[]} */
function softmaxLoop(derivation) {
  const { learner, trace } = derivation;
  const rate = learner.rate > 0 ? py(learner.rate) : `1 / (0.5 * np.linalg.norm(Z, 2) ** 2 / len(Z)${learner.strength ? ` + ${py(learner.strength)}` : ""})`;
  const keep = learner.intercept ? "np.arange(Z.shape[1])[:, None] > 0" : "1";
  const newton = learner.update === "newton";
  return [
    `Z = ${learner.intercept ? "np.column_stack([np.ones(len(X)), X])" : "X"}`,
    "T = np.eye(3)[y]",
    `W = np.zeros((Z.shape[1], 3))${newton ? "" : `; rate = ${rate}`}`,
    "there = T.sum(axis=0) > 0",
    `for step in range(${trace.length}):`,
    "    E = np.exp(Z @ W - (Z @ W).max(axis=1, keepdims=True)) * there",
    "    P = E / E.sum(axis=1, keepdims=True)",
    `    G = Z.T @ (P - T) / len(Z)${learner.strength ? ` + ${py(learner.strength)} * W * (${keep})` : ""}`,
    ...(newton
      ? [
          "    H = sum(np.kron(np.outer(z, z), np.diag(p) - np.outer(p, p)) for z, p in zip(Z, P)) / len(Z)",
          ...(learner.strength ? [`    H += ${py(learner.strength)} * np.diag(np.repeat(np.arange(Z.shape[1]) > ${learner.intercept ? 0 : -1}, 3).astype(float))`] : []),
          "    W = W - (np.linalg.pinv(H, rcond=1e-12, hermitian=True) @ G.ravel()).reshape(W.shape)",
        ]
      : ["    W = W - rate * G"]),
    "w = W.T  # one row per class, intercept first",
    "print(w)",
  ];
}

/** @param {Derivation} derivation @param {number} price @returns {string[]} */
function svmLoop(derivation, price) {
  const { learner } = derivation;
  const hard = price === Infinity;
  const squared = !hard && learner.loss === "squared_hinge";
  const high = hard || squared ? "np.inf" : py(price);
  const ridge = squared ? py(1 / (2 * price)) : "0.0";
  if (!learner.intercept) {
    return [
      `alpha, high, ridge = np.zeros(len(X)), ${high}, ${ridge}`,
      "Z = X * y[:, None]",
      "for sweep in range(100000):",
      "    before = alpha.copy()",
      "    for i in range(len(Z)):",
      "        slope = 1 - Z[i] @ (alpha @ Z) - ridge * alpha[i]",
      "        alpha[i] = np.clip(alpha[i] + slope / (Z[i] @ Z[i] + ridge), 0, high)",
      "    if abs(alpha - before).max() <= 1e-13 * (1 + abs(alpha).max()):",
      "        break",
      "w, b = alpha @ Z, 0.0",
      'print(f"w = {w}")',
    ];
  }
  return [
    `alpha, high, ridge = np.zeros(len(X)), ${high}, ${ridge}`,
    "for step in range(200000):  # change the pair that violates optimality most",
    "    slope = y - X @ ((alpha * y) @ X) - ridge * alpha * y",
    "    up = np.where(np.where(y > 0, alpha < high, alpha > 0), slope, -np.inf).argmax()",
    "    down = np.where(np.where(y > 0, alpha > 0, alpha < high), slope, np.inf).argmin()",
    "    if slope[up] - slope[down] <= 1e-12:",
    "        break",
    "    room = min(high - alpha[up] if y[up] > 0 else alpha[up], alpha[down] if y[down] > 0 else high - alpha[down])",
    "    move = min(room, (slope[up] - slope[down]) / (((X[up] - X[down]) ** 2).sum() + 2 * ridge))",
    "    alpha[up] += y[up] * move",
    "    alpha[down] -= y[down] * move",
    "w, b = (alpha * y) @ X, (slope[up] + slope[down]) / 2",
    'print(f"w = {w}, b = {b}")',
  ];
}

/** @param {Derivation} derivation @returns {string[]} */
function programLoop({ learner }) {
  const ones = learner.intercept ? "np.ones(len(X))" : "np.zeros(len(X))";
  return [
    "from scipy.optimize import linprog",
    "",
    `size = 2.0 ** np.round(np.log2(${learner.intercept ? "X.std(axis=0)" : "(X**2).mean(axis=0) ** 0.5"}))`,
    `rows = np.column_stack([-y[:, None] * X, -y * ${ones}, np.ones(len(X))])  # t - y (w.x + b) <= 0`,
    "bounds = [(-1 / s, 1 / s) for s in size] + [(None, None), (None, None)]",
    "w1, w2, b, t = linprog([0, 0, 0, -1], A_ub=rows, b_ub=np.zeros(len(X)), bounds=bounds).x",
    "w, b = np.array([w1, w2]) / t, b / t",
    'print(f"w = {w}, b = {b}")',
  ];
}

/** @param {Derivation} derivation @returns {string[]} */
function kernelLoop(derivation) {
  const { learner, trace } = derivation;
  const { before, row } = orderLines(derivation);
  const plus = learner.intercept ? " + 1" : "";
  const kernel =
    learner.kernel === "rbf"
      ? `np.exp(-${py(learner.gamma)} * ((X[:, None] - X[None]) ** 2).sum(axis=2))`
      : learner.kernel === "linear"
        ? "X @ X.T"
        : `(${py(learner.gamma)} * X @ X.T + ${py(learner.shift)}) ** ${py(learner.degree)}`;
  const stop = learner.order === "cyclic" ? `streak < len(X) and alpha.sum() < ${learner.maxUpdates}` : `visit < ${Math.min(trace.length, MOST_ORDER)}`;
  return [
    ...before,
    `K = ${kernel}${plus}`,
    "alpha, streak, visit = np.zeros(len(X)), 0, 0",
    `while ${stop}:`,
    `    ${row}`,
    "    score = (alpha * y) @ K[i]",
    `    if ${mistake(learner)}:`,
    "        alpha[i], streak = alpha[i] + 1, 0",
    "    else:",
    "        streak += 1",
    "    visit += 1",
    'print(f"alpha = {alpha}, {alpha.sum():.0f} mistakes in {visit} visits")',
  ];
}

/** @param {Derivation} derivation @returns {string[]} */
function zeroOneLoop({ learner }) {
  const pairs = learner.intercept ? "[(p, q) for p in X for q in X if (p != q).any()]" : "[(0 * p, p) for p in X if p.any()]";
  return [
    "best = (len(X) + 1, None, None)",
    `for p, q in ${pairs}:  # lines through two points, rotated slightly`,
    "    for t, s in [(t, s) for t in (0, 1e-7, -1e-7) for s in (1, -1)]:",
    "        d = q - p",
    "        w = s * np.array([-d[1] + t * d[0], d[0] + t * d[1]])",
    `        for c in ${learner.intercept ? "(p, q, (p + q) / 2, p - 1e-7 * w, p + 1e-7 * w)" : "(0 * p,)"}:`,
    "            wrong = (np.where(X @ w - c @ w >= 0, 1, -1) != y).sum()",
    "            if wrong < best[0]:",
    "                best = (wrong, w, -c @ w)",
    "mistakes, w, b = best",
    'print(f"at least {mistakes} points are wrong: w = {w}, b = {b}")',
  ];
}

/** @param {Derivation} derivation @returns {string[]} */
function libraryLines(derivation) {
  const { learner } = derivation;
  /** @type {Record<string, string>} */
  const given = {};
  const call = libraryCall(derivation, given);
  const options = Object.entries(given).map(([name, value]) => `${name}=${value}`).join(", ");
  const lines = [`model = sx.${call}(${options}).fit(X, y)`];
  if (learner.kind === "kernel") return [...lines, "alpha = model.alpha_", "print(model.result_.message)"];
  if (learner.kind === "softmax") return [...lines, "w = np.column_stack([model.intercept_, model.coef_])", "print(w)"];
  return [...lines, "w, b = model.coef_[0], model.intercept_[0]", "print(w, b, model.result_.message)", ...(learner.kind === "perceptron" ? ["print(model.certificate_.verify(X, y))  # re-checks the mistake bound"] : [])];
}

/** Return the estimator's name, and fill in its options. @param {Derivation} derivation @param {Record<string, string>} given */
function libraryCall(derivation, given) {
  const { learner, features } = derivation;
  const text = (/** @type {string} */ value) => `"${value}"`;
  if (!learner.intercept) given.fit_intercept = "False";
  const ordered = () => {
    if (learner.order !== "cyclic") Object.assign(given, { order: text(learner.order), random_state: py(learner.seed) });
  };
  if (learner.kind === "perceptron") {
    if (learner.update === "batch") given.update = text("batch");
    else ordered();
    if (learner.rate !== 1) given.rate = py(learner.rate);
    if (learner.schedule !== "constant") given.schedule = text(learner.schedule);
    if (learner.start) given.start = list(Array.from({ length: features.p + (learner.intercept ? 1 : 0) }, (_, j) => learner.start?.[j] ?? 0));
    if (learner.tie !== "positive") given.tie = text(learner.tie);
    if (learner.keep !== "last") given.keep = text(learner.keep);
    if (learner.margin) given.margin = py(learner.margin);
    given.max_updates = py(learner.maxUpdates);
    return "Perceptron";
  }
  if (learner.kind === "lms") {
    if (learner.update === "stochastic") {
      given.update = text("stochastic");
      ordered();
      if (learner.schedule !== "constant") given.schedule = text(learner.schedule);
      if (learner.keep === "average") given.keep = text("average");
    }
    if (learner.rate) given.rate = py(learner.rate);
    if (learner.start) given.start = list(learner.start);
    return "LMSClassifier";
  }
  if (learner.kind === "svm") {
    given.strength = `1 / (${py(learner.C)} * len(X))`;
    if (learner.loss !== "hinge") given.loss = text(learner.loss);
    return "LinearSVM";
  }
  if (learner.kind === "kernel") {
    given.kernel = text(learner.kernel);
    if (learner.kernel !== "linear") given.gamma = py(learner.gamma);
    if (learner.kernel === "polynomial") Object.assign(given, { degree: py(learner.degree), offset: py(learner.shift) });
    ordered();
    if (learner.tie !== "positive") given.tie = text(learner.tie);
    given.max_updates = py(learner.maxUpdates);
    return "KernelPerceptron";
  }
  if (learner.kind === "halfspace") return "HalfspaceLP";
  if (learner.kind === "margin") return "MaxMarginClassifier";
  if (learner.kind === "zero-one") return "ZeroOneClassifier";
  if (learner.strength) given.strength = py(learner.strength);
  return "LogisticRegression";
}
