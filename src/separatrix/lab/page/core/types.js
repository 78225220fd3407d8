/**
 * The records that core, words, stories and state/link.js exchange, and the functions that make them.
 *
 * ```
 * core/points.js       makePoints(rows) → Points            rows: [x1, x2, label][]; label +1, −1, or 2 (third class)
 *                      pointRows(points) → [x1, x2, label][]
 *                      movePoint(points, i, x1, x2), flipPoint(points, i), addPoint(points, x1, x2, label),
 *                      removePoint(points, i) → new Points (input untouched); snap(x) → nearest tenth
 * core/learners.js     defaults(kind) → Learner; OPTIONS[kind] → OptionField[] (for the drawer);
 *                      checkLearner(learner) → null or the fault; LEARNERS → [{kind, name, about}]
 * core/derive.js       derive(points, learner, previous?) → Derivation     pure; `previous` only speeds it up
 *                      advance(derivation, milliseconds, clock?) → boolean  continues an unfinished trace, true if done
 *                      versionAt(trace, tick) → index of the weights after `tick` ticks (0 ≤ tick ≤ trace.length)
 *                      weightsAt(trace, version, out?) → Float64Array (p)   intercept first if there is one
 *                      modelAt(derivation, tick) → Model       (the run's weights then; at the end those of `keep`)
 *                      blend(trace, tick) → Float64Array       weights between ticks (tick may be fractional)
 *                      wrongRows(derivation, model, out?: Uint8Array) → count of rows that the model gets wrong
 *                      nextMistake(trace, tick), previousMistake(trace, tick) → tick
 * core/model.js        score(model, x1, x2) → number (two classes); predict(model, x1, x2) → label;
 *                      scores3(model, x1, x2, out) (softmax); planeOf(model) → [b, w1, w2] or null if not a line
 *                      distance(model, x1, x2) → signed distance to the line (null if not a line)
 * core/verdict.js      judge(points, intercept) → Verdict       always exact, any doubles, both in the same frame
 *                      judgeFeatures(features, signs, intercept) → Verdict of lifted rows (p ≥ 1)
 * core/hull.js         hull(x1, x2, rows) → Int32Array of rows, counter-clockwise; clipHulls(points, verdict) → polygon
 *                      (flat [x, y, …]) of the hulls' intersection, for hatching
 * core/bound.js        boundOf(features, learner, verdict) → Bound; ceilingAt(bound, t), floorAt(bound, t);
 *                      updatesAtMost(bound, radius, gamma, columns) → the bound of certificates, with rounding;
 *                      boundTime(bound, trace, version) → t (updates; corrected mistakes of the batch rule)
 * core/losses.js       LOSSES: [{id, name, value(margin), slope(margin)}]
 * core/lift.js         LIFTS: [{id, name, columns}]; lift(points, learner) → Features; liftPoint(learner, x1, x2, out)
 * core/orders.js       allOrders(points, learner) → {orders, mistakes: Uint8Array, lines: number, counts: Map}
 * core/labellings.js   labellings(x1, x2) → [{labels: Int8Array, separable: boolean}] all 2ⁿ, n ≤ 10
 * core/zero_one.js     fewestMistakes(points, intercept) → {mistakes, wrong: number[], w} exact; n ≤ 400
 * core/certificate.js  certificates(derivation) → [{name, json}]    each accepted by `separatrix verify`
 * core/csv.js          readCsv(text, name) → Table; offers(table, target) → Offer[] (best pair first);
 *                      choose(table, target, pair, standardise) → Chosen; traceCsv(derivation) → string;
 *                      pointsCsv(points, names, labels) → string
 * words/number.js      num(x, digits?) "−1 234.5"; vec([..]) "(5, 1)"; counted(n, "mistake", plural?) "5 mistakes";
 *                      percent(share); power(x)
 * words/markup.js      pieces(text) → Piece[]; plain(text) → string without marks; escape(text) for users' text
 * words/sentence.js    verdictWords(derivation, labels?) → {title, why}; heroWords(derivation, tick); boundWords(derivation);
 *                      stepWords(derivation, tick) → {title, text}; weightWords(derivation, tick);
 *                      pointWords(derivation, tick, i); statusWords(derivation); lossWords(derivation, tick)
 *                      figureLabel(derivation, tick) → plain text for aria-label. All others return marked-up text.
 * words/claims.js      separabilityClaim, marginClaim, mistakesClaim, …: words of certificates, the library's own
 * words/code.js        pythonCode(derivation, labels?) → {loop, library}     two runnable Python texts
 * stories/index.js     STORIES: Story[]; storyById(id) → Story | null
 * state/link.js        encodeLink(LinkState) → "#v1;…" (null: too many points); decodeLink(hash) → {ok: true, state} |
 *                      {ok: false, reason: "none" | "newer" | "broken", message}
 * parts/gif.js         encodeGif(width, height, palette, frames, delays) → Uint8Array   (palette: Uint8Array rgb, ≤ 256)
 *                      quantise(rgba, palette, cache?) → Uint8Array of palette places
 * ```
 *
 * Text that core/words/stories return is *marked up* with five marks, never HTML: `*w*` mathematics (serif italic),
 * `[+blue]` class 1, `[-orange]` class 2, `[=17]` proved (plum), `[#5]` a live number. A backslash makes the next
 * character literal; `escape` does so for text of users. `pieces` cuts it up; set each piece as textContent.
 *
 * A *tick* is one unit of the time strip: a visit of a row (perceptron, stochastic rules, kernel) or one step (batch
 * gradient, Newton, SVM passes). Position 0 is before the first tick. `trace.row[k]` and `trace.wrong[k]` belong to
 * tick k, k = 0 … length − 1; `trace.version[k]` is the index of the weights after it.
 *
 * Budget: `derive` spends at most ~4 ms on a trace (`Learner.budget`, visits) and returns it with status "running" if
 * more is to come; call `advance` in later frames. Verdict and bound never wait.
 */

/**
 * @typedef {object} Points            columns of one data set; arrays are never written after they are made
 * @property {number} n
 * @property {Float64Array} x1
 * @property {Float64Array} x2
 * @property {Int8Array} label          +1, −1, or 2 for a third class (which two-class learners take as −1)
 * @property {number} classes           classes present (1, 2 or 3)
 */

/** @typedef {"perceptron"|"lms"|"logistic"|"softmax"|"halfspace"|"margin"|"svm"|"kernel"|"zero-one"} Kind */
/** @typedef {"none"|"distance"|"rings"|"product"|"degree2"} LiftId */

/**
 * @typedef {object} Learner            all options are present for every kind; a kind ignores those of others
 * @property {Kind} kind
 * @property {boolean} intercept
 * @property {LiftId} lift              "distance": one column (x1 − centre)²; "rings": x1, x2, x1² + x2²; "product": x1, x2, x1·x2
 * @property {number} centre            μ of the lift "distance"
 * @property {"single"|"batch"|"stochastic"|"newton"} update   perceptron: single, batch; lms: batch, stochastic;
 *                                      logistic: batch, stochastic, newton; softmax: batch, newton
 * @property {"cyclic"|"random"|"shuffled"} order
 * @property {number} rate              0: chosen automatically (lms, logistic, softmax)
 * @property {"constant"|"inverse"} schedule
 * @property {number[]|null} start      weights, intercept first if there is one; null: zeros
 * @property {"positive"|"negative"|"mistake"|"correct"} tie
 * @property {"last"|"best"|"average"|"vote"} keep
 * @property {number} margin            of the perceptron with margin; 0: none
 * @property {number} maxUpdates
 * @property {number} maxSteps          limit of ticks, of the learners that make steps
 * @property {number} seed              of random and shuffled orders
 * @property {Int32Array|null} draws    rows to visit, replayed in place of a seeded order (golden traces)
 * @property {number} decay             of the inverse schedule row by row: rate / (1 + decay·k); 0: chosen
 * @property {number} strength          penalty of logistic and softmax: ½·strength·‖w‖² on a mean loss; 0: none
 * @property {"hinge"|"squared_hinge"} loss   of the svm
 * @property {number} C                 of the svm: ½‖w‖² + C Σ loss
 * @property {"rbf"|"polynomial"|"linear"} kernel
 * @property {number} gamma             of the rbf and polynomial kernel: exp(−γ‖x−z‖²), (γ x·z + shift)^degree
 * @property {number} degree
 * @property {number} shift
 */

/**
 * @typedef {object} OptionField        one control of the drawer
 * @property {string} name              property of Learner
 * @property {string} label
 * @property {string} about             one sentence
 * @property {"choice"|"number"|"flag"|"vector"} type
 * @property {{value: string, label: string}[]} [choices]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [whole]
 */

/**
 * @typedef {object} Features           rows as a learner sees them, without the intercept's ones
 * @property {number} n
 * @property {number} p                 columns
 * @property {Float64Array} values      row by row, n × p
 * @property {Float64Array} signs       ±1
 * @property {string[]} names
 */

/** @typedef {"running"|"converged"|"cycle"|"max updates"|"max steps"|"diverged"|"runs off"|"optimal"|"infeasible"|"empty"} Status */

/**
 * @typedef {object} Trace
 * @property {Kind} kind
 * @property {boolean} intercept
 * @property {number} p                 weights per version (intercept included; softmax: 3 × (columns + 1); kernel: 0)
 * @property {number} n
 * @property {Status} status
 * @property {boolean} done
 * @property {number} length            ticks so far
 * @property {boolean} byRow            whether a tick visits one row
 * @property {Int32Array} row           row of each tick; −1 where a tick is a pass over all rows
 * @property {Uint8Array} wrong         1 where the tick was a mistake (an update of the perceptron)
 * @property {Float64Array} score       score of the visited row before the update (NaN where a tick is a pass)
 * @property {Int32Array} version       index of the weights after each tick
 * @property {number} updates           versions − 1: the T of the mistake bound
 * @property {Float64Array} weights     (updates + 1) × p, version 0 is the start (may be longer: read by version)
 * @property {Float64Array} squaredNorm ‖w‖² per version
 * @property {Int32Array} updateTick    tick (1-based position) after which version k+1 holds, k = 0 … updates − 1
 * @property {Float64Array|null} objective      mean loss per version (learners that descend)
 * @property {Float64Array|null} gradientNorm   per version
 * @property {Float64Array|null} rates          rate of each update
 * @property {Float64Array} kept        what `keep` keeps at the end (weights; the last ones unless asked otherwise)
 * @property {{weights: Float64Array, counts: Float64Array}|null} vote
 * @property {{from: number, to: number}|null} cycle   after tick `to` the weights are where they were after `from`
 * @property {Int32Array|null} alpha    kernel: mistakes per row at the end (alphaAt(trace, version) for earlier)
 * @property {{gap: number, upper: number, lower: number}|null} gap   certified gap of margin and svm
 * @property {number} passes            full passes made
 */

/**
 * @typedef {object} Model
 * @property {"line"|"lifted"|"kernel"|"softmax"|"vote"|"none"} shape
 * @property {Learner} learner
 * @property {Float64Array} w           intercept first if `learner.intercept` ("line": length 2 or 3)
 * @property {Float64Array|null} voters
 * @property {Float64Array|null} counts
 * @property {Points|null} points       kernel: the rows, with `alpha`
 * @property {Float64Array|null} alpha  kernel: mistakes per row; softmax: 1 for each class that is there
 */

/**
 * @typedef {object} Margin             widest margin as drawn: |w·x + b| ≥ γ with ‖(w1, w2)‖ = 1
 * @property {number} gamma
 * @property {number} b
 * @property {number} w1
 * @property {number} w2
 * @property {number[]} pins            rows at distance γ
 * @property {[number, number]} near1   nearest points of the two hulls (through the origin: a pin and its foot)
 * @property {[number, number]} near2
 */

/**
 * @typedef {object} Witness            Σ λ over + rows of x = Σ λ over − rows of x (through the origin: Σ λ y x = 0)
 * @property {number[]} rows            two to four rows
 * @property {number[]} multipliers     floats, per row; each class sums to 1 (through the origin: all sum to 1)
 * @property {string[]} exact           the same as rationals "a/b"
 * @property {[number, number]} point   common point of the hulls (through the origin: 0)
 * @property {"segments"|"triangle"|"on segment"|"same place"|"origin"} shape
 */

/**
 * @typedef {object} Verdict
 * @property {"separable"|"quasi"|"overlap"|"one class"|"empty"|"undecided"} kind   "one class" is separable for the library
 * @property {boolean} intercept        false: of lines through the origin
 * @property {Float64Array|null} direction   z·direction ≥ 0 on all rows with exact signs; intercept first if any
 * @property {string[]|null} exactDirection  the same as exact rationals (JSON)
 * @property {number[]} left            rows that no direction separates (all of them: overlap)
 * @property {Margin|null} margin       if separable (two classes)
 * @property {Witness|null} witness     if overlap or quasi
 * @property {Int32Array} hullPlus      rows on the hull of the + class, counter-clockwise (2-D only)
 * @property {Int32Array} hullMinus
 */

/**
 * @typedef {object} Bound
 * @property {boolean} exists
 * @property {number} R                 longest row as the perceptron sees it (with its 1 if there is an intercept)
 * @property {number} R2
 * @property {number} farthest          row of length R
 * @property {number} gamma             widest margin as the perceptron sees it (0: none)
 * @property {Float64Array|null} separator   unit weights of margin γ
 * @property {number[]} pins
 * @property {number} ratio             (R/γ)²
 * @property {number} most              most updates that this rate, start, schedule and margin allow (whole; may be Infinity)
 * @property {boolean} textbook         whether `most` is ⌊(R/γ)²⌋
 * @property {number} startNorm2
 * @property {number} startAhead        w*·w₀
 * @property {number} rate
 * @property {boolean} inverse
 * @property {number} asked             margin m asked for
 * @property {number} rows              1, or n of the batch rule (n R² stands for R²)
 */

/**
 * @typedef {object} Derivation
 * @property {Points} points
 * @property {Learner} learner
 * @property {Features} features
 * @property {Trace} trace
 * @property {Verdict} verdict          of the plane's points (lifted learners: of the lifted rows)
 * @property {Verdict} planeVerdict     of the plane's points, always
 * @property {Bound} bound
 */

/** @typedef {{text: string, role: "plain"|"math"|"plus"|"minus"|"proof"|"number"}} Piece */

/**
 * @typedef {object} StoryState         the input of a story
 * @property {Points} points
 * @property {Derivation[]} runs        one per pane
 * @property {number} tick
 * @property {string|null} guess        id of the choice taken
 */

/**
 * @typedef {object} Choice
 * @property {string} id
 * @property {string} label
 * @property {[number, number]} [range] drawn into the chart
 * @property {string} reply             the reply when it is chosen (marked up)
 */

/**
 * @typedef {object} Chapter
 * @property {"predict"|"watch"|"why"|"break"|"challenge"} id
 * @property {string} name              "Predict", …
 * @property {(state: StoryState) => {title: string, text: string}} say     marked up
 * @property {Partial<Learner>} [set]   options that the chapter sets (first pane)
 * @property {[number, number, number][]} [points]    data that the chapter sets
 * @property {"start"|"end"|"stay"} at  where the clock stands when the chapter opens
 * @property {boolean} [proof]          whether the proof is drawn
 * @property {"gamma"|"order"|"centre"|"lift"|"kernel"} [controls]   the controls beside the text
 */

/**
 * @typedef {object} Story
 * @property {string} id
 * @property {string} name              for the shelf
 * @property {[number, number, number][]} points
 * @property {Learner[]} learners       one per pane
 * @property {"bound"|"losses"|"likelihood"|"lifted"|"orders"|"labellings"|"kernel"} evidence
 * @property {{ask: string, choices: Choice[], truth: string}} question
 * @property {Chapter[]} chapters
 * @property {(state: StoryState) => {won: boolean, title: string, text: string}} challenge
 * @property {(gamma: number) => [number, number, number][]} [atMargin]   story "margin": its points at a margin
 */

/**
 * @typedef {object} LinkState
 * @property {string} story             id, or "own"
 * @property {Learner[]} learners
 * @property {number} tick
 * @property {number} chapter
 * @property {[number, number, number][]|null} points    null: the story's own
 * @property {string[]} names           of the two columns (own data), else []
 * @property {string[]} labels          of − and + (and the third), else []
 */

/**
 * @typedef {object} TableColumn
 * @property {string} name
 * @property {"number"|"category"|"text"|"empty"} type
 * @property {Float64Array|null} numbers     NaN where missing
 * @property {string[]} cells
 * @property {number} missing
 * @property {string[]} levels              of a category, at most 50
 */

/** @typedef {{name: string, rows: number, columns: TableColumn[], targets: string[], problem: string|null}} Table */
/** @typedef {{pair: [string, string], score: number}} Offer */

/**
 * @typedef {object} Chosen
 * @property {Points} points
 * @property {[string, string]} names    with " (standardised)" where a column is
 * @property {string[]} labels           of −1, +1 (and 2)
 * @property {number} leftOut
 * @property {string} why                which rows were left out, and why; which columns are standardised (marked up)
 * @property {({mean: number, spread: number}|null)[]} scales   of each column; null: as it is in the table
 * @property {string|null} problem
 */

export {};
