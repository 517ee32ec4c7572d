// The address alone determines the view: every choice is first written to the address.
const PAGE = 50;
const FIELDS = ["dataset", "judge", "aspect", "perturbation", "system", "status", "find", "order", "page", "target", "other", "people", "score"];
const ORDERS = [["", "farthest from the ratings first"], ["study", "as in the study"], ["item", "by item"], ["low", "lowest score first"], ["high", "highest score first"]];
const form = document.querySelector("form");
const table = document.querySelector("main > table");
const pages = document.querySelector("main > nav");
const line = document.querySelector("[role=status]");
const only = document.querySelector(".only");
const number = pages.querySelector("input");
let ticket = 0;

const read = () => {
  const told = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(FIELDS.map((name) => [name, told.get(name) ?? ""]));
};
const hashOf = (state) => `#${new URLSearchParams(FIELDS.filter((name) => state[name] !== "" && state[name] !== undefined).map((name) => [name, state[name]]))}`;
const go = (changes) => { location.hash = hashOf({ ...read(), page: "", ...changes }); };
const shownNumber = (value) => (value === null ? "–" : String(value).replace("-", "−"));
const rounded = (value) => shownNumber(value === null ? null : Number(value.toFixed(Math.abs(value) < 100 ? 3 : 0)));
const whose = (data) => ({ people: "People's rating", planned: "Planned rating", model: "Model's rating" }[data.ratings] ?? "Rating");
const mean = (values) => Number((values.reduce((sum, one) => sum + one, 0) / values.length).toPrecision(5));

// --- the choices -----------------------------------------------------------------------------

function fill(name, options, value) {
  const select = form.elements[name];
  const known = options.some(([id]) => id === value);
  const all = known ? options : [...options, [value, `${value} (not in this dataset)`]];
  select.replaceChildren(...all.map(([id, label]) => make("option", { value: id }, label)));
  select.value = value;
  return known;
}

// Fill the form; return the parts of the address that this study does not have.
function choose(state, d) {
  const data = study.datasets[d];
  const used = new Set(data.cells.map(([, j]) => j));
  const judges = study.judges.filter((one, j) => used.has(j)).map(([id]) => [id, id]);
  const systems = new Set(data.sets.flatMap((set) => set[3].systems));
  const fields = {
    dataset: study.datasets.map(({ id, name }) => [id, name]),
    judge: [["", "all"], ...judges],
    aspect: [["", "all"], ...data.aspects],
    perturbation: [["", "all"], ...data.sets.map(([id, label]) => [id, label])],
    system: [["", "all"], ...[...systems].filter(Boolean).sort().map((id) => [id, id])],
    status: [["", "all"], ...study.statuses],
    order: ORDERS,
  };
  const unknown = Object.entries(fields).filter(([name, options]) => !fill(name, options, state[name]));
  if (document.activeElement !== form.elements.find) form.elements.find.value = state.find;
  return unknown.map(([name]) => `${name} “${state[name]}”`);
}

// --- the chosen judgments ----------------------------------------------------------------------

// The chosen texts of a set, or null for all.
function wanted(data, names, state) {
  const find = state.find.toLowerCase();
  if (!find && !state.target && !state.system) return null;
  names.lower ??= names.ids.map((id, at) => `${id}\n${data.items.ids[names.items[at]]}`.toLowerCase());
  return names.ids.map((id, at) => (!find || names.lower[at].includes(find)) && (!state.system || names.systems[at] === state.system) && (!state.target || id === state.target));
}

function chosenCells(data, state) {
  const judge = study.judges.findIndex(([id]) => id === state.judge);
  const aspect = data.aspects.findIndex(([id]) => id === state.aspect);
  const set = data.sets.findIndex(([id]) => id === state.perturbation);
  return data.cells.flatMap(([s, j, a], cell) => ((!state.judge || j === judge) && (!state.aspect || a === aspect) && (!state.perturbation || s === set) ? [cell] : []));
}

// [cell, row] of all chosen judgments.
function matches(data, cells, state) {
  const status = 1 << study.statuses.findIndex(([id]) => id === state.status);
  const sets = new Map();
  const found = [];
  for (const cell of cells) {
    const columns = data.columns[cell];
    const s = data.cells[cell][0];
    if (!sets.has(s)) sets.set(s, wanted(data, data.sets[s][3], state));
    const texts = sets.get(s);
    const other = state.other ? data.sets[s][3].ids.indexOf(state.other) : null;
    for (let row = 0; row < columns.v.length; row++) {
      const t = columns.t[row], b = columns.b[row];
      if (texts && !texts[t] && (b === null || state.target || !texts[b])) continue;
      if (other !== null && b !== other) continue;
      if (state.status && !(columns.u[row] & status)) continue;
      if (state.score && columns.v[row] !== Number(state.score)) continue;
      if (state.people) {
        const a = data.cells[cell][2];
        if (labelOf(data.sets[s][3].ratings[a]?.[t] ?? [], data.labels[a]?.[1] ?? true) !== Number(state.people)) continue;
      }
      found.push([cell, row]);
    }
  }
  return found;
}

// The position of people's label for a text: the lower median if labels are ordered, else that of more than half of them.
function labelOf(values, ordered) {
  const sorted = [...values].sort((a, b) => a - b);
  if (ordered) return sorted[(sorted.length - 1) >> 1];
  return sorted.find((one) => 2 * sorted.filter((other) => other === one).length > sorted.length);
}

// The mid-rank of each value, divided by the number of values.
function midRanks(values) {
  const first = new Map(), last = new Map();
  [...values].sort((a, b) => a - b).forEach((value, at) => {
    if (!first.has(value)) first.set(value, at);
    last.set(value, at);
  });
  return values.map((value) => (first.get(value) + last.get(value) + 1) / 2 / values.length);
}

// Row -> the difference between the rank of its score in the cell and that of its mean rating; both
// ranks are from the worst to the best.
function distances(data, cell) {
  const [s, , a] = data.cells[cell];
  const columns = data.columns[cell];
  const ratings = data.sets[s][3].ratings[a] ?? [];
  const rated = [...columns.v.keys()].filter((row) => columns.v[row] !== null && columns.b[row] === null && ratings[columns.t[row]]?.length);
  const scores = midRanks(rated.map((row) => columns.v[row]));
  const sign = data.opposed.includes(cell) ? -1 : 1;
  const people = midRanks(rated.map((row) => sign * mean(ratings[columns.t[row]])));
  return new Map(rated.map((row, at) => [row, Math.abs(scores[at] - people[at])]));
}

function ordered(data, found, order) {
  if (!order) {
    const cells = new Map([...new Set(found.map(([cell]) => cell))].map((cell) => [cell, distances(data, cell)]));
    const far = ([cell, row]) => cells.get(cell).get(row) ?? -1;
    return found.sort((a, b) => far(b) - far(a)); // rows without a rating come last, in order
  }
  if (order === "item") {
    const key = ([cell, row]) => data.sets[data.cells[cell][0]][3].items[data.columns[cell].t[row]];
    const keys = new Map(found.map((one) => [one, key(one)]));
    return found.sort((a, b) => keys.get(a) - keys.get(b)); // other rows stay in order
  }
  if (order === "low" || order === "high") {
    const sign = order === "low" ? 1 : -1;
    const score = ([cell, row]) => data.columns[cell].v[row];
    const known = found.filter((one) => score(one) !== null);
    return [...known.sort((a, b) => sign * (score(a) - score(b))), ...found.filter((one) => score(one) === null)];
  }
  return found;
}

// --- the display of judgments ------------------------------------------------------------------

function rowOf(data, [cell, row]) {
  const [s, j, a] = data.cells[cell];
  const columns = data.columns[cell];
  const t = columns.t[row], b = columns.b[row];
  const names = data.sets[s][3];
  const ratings = b === null ? (names.ratings[a]?.[t] ?? []) : [];
  const statuses = study.statuses.filter((one, at) => columns.u[row] & (1 << at)).map(([, told]) => told);
  return { cell, row, s, j, a, t, b, names, ratings, statuses, score: columns.v[row], columns };
}

function ratedAs(data, one) {
  if (!data.labels[one.a]) return rounded(mean(one.ratings));
  const [names, ordered] = data.labels[one.a];
  return names[labelOf(one.ratings, ordered)] ?? "–";
}

// A judge's label in words; numbers of a judge with a threshold stay numbers.
function scoredAs(data, one, written = rounded) {
  const names = study.numbers.includes(one.j) ? undefined : data.labels[one.a]?.[0];
  return names?.[one.score] ?? written(one.score);
}

const link = (data, one, changes = {}) => hashOf({
  dataset: data.id, judge: study.judges[one.j][0], aspect: data.aspects[one.a][0], perturbation: data.sets[one.s][0],
  target: one.names.ids[one.t], other: one.b === null ? "" : one.names.ids[one.b], ...changes,
});

function small(...parts) {
  return make("small", {}, parts.filter(Boolean).join(" · "));
}

function lineOf(data, one) {
  const id = one.names.ids[one.t];
  const opener = make("button", { type: "button", class: "opener", "aria-expanded": "false" }, make("bdi", {}, id));
  if (one.b !== null) opener.append(" against ", make("bdi", {}, one.names.ids[one.b]));
  const bad = one.statuses.filter((told) => told !== "ok");
  const line_ = make("tr", {},
    make("th", { scope: "row" }, opener, small(data.sets[one.s][1], one.names.systems[one.t]), make("small", { class: "beginning", dir: "auto" }, one.names.beginnings[one.t])),
    make("td", {}, make("code", {}, study.judges[one.j][0]), small(data.aspects[one.a][1])),
    make("td", { class: "number" }, scoredAs(data, one), ...(bad.length ? [make("small", { class: "status-bad" }, bad.join(", "))] : [])),
    make("td", { class: "number" }, one.ratings.length ? ratedAs(data, one) : "–"));
  opener.addEventListener("click", () => toggle(data, one, line_, opener));
  return line_;
}

async function toggle(data, one, line_, opener) {
  const panel = line_.nextElementSibling;
  const closed = opener.getAttribute("aria-expanded") === "false";
  opener.setAttribute("aria-expanded", String(closed));
  line_.classList.toggle("open", closed);
  if (panel?.classList.contains("panel")) {
    panel.hidden = !closed;
    return;
  }
  const cell = make("td", { colspan: "4" }, "…");
  line_.after(make("tr", { class: "panel" }, cell));
  try {
    await loadRow(data, one);
    cell.replaceChildren(...panelOf(data, one));
  } catch (error) {
    cell.replaceChildren(make("p", { class: "warning" }, error.message));
  }
}

const facts = (pairs) => make("dl", { class: "data" }, ...pairs.filter(([, told]) => told).map(([name, ...told]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...told))));
const identity = (id) => make("bdi", { class: "id" }, id);

function panelOf(data, one) {
  const { names, t, b, columns, row } = one;
  const item = names.items[t];
  const [source, references] = data.sources[item];
  const draws = columns.rows[row];
  const missing = draws.filter(([, value]) => value === null || value === undefined).length;
  const estimator = columns.words[columns.e[row]];
  const drawn_ = draws.length > 1 || missing ? ` (${estimator ?? "no score"} of ${plural(draws.length, "draw")}${missing ? `, ${missing} without a value` : ""})` : "";
  const about = data.sets[one.s][2];
  const rated = one.ratings.length > 1 ? ` (mean of ${one.ratings.map(shownNumber).join(", ")})` : "";
  return [
    facts([
      ["Item", identity(data.items.ids[item])],
      ["Texts", `${data.sets[one.s][1]}${about ? `. ${about}` : ""}`],
      ["Errors put in", names.steps && String(names.steps[t])],
      ["Judge", make("code", {}, study.judges[one.j][0]), ` (${study.judges[one.j][1]})`],
      ["Score", `${scoredAs(data, one, shownNumber)}${drawn_}`],
      [whose(data), one.ratings.length ? (data.labels[one.a] ? one.ratings.map((value) => data.labels[one.a][0][value]).join(", ") : `${shownNumber(mean(one.ratings))}${rated}`) : ""],
      ["Links", make("a", { href: link(data, one) }, "only this judgment"), ", ", make("a", { href: link(data, one, { judge: "", aspect: "", other: "" }) }, "all judgments of this text"), ", ", make("a", { href: link(data, one, { target: "", other: "" }) }, "all of this cell")],
    ]),
    ...textBlocks(b === null ? "The text" : "The first text", data.texts[one.s][t]),
    ...(b === null ? [] : textBlocks("The second text", data.texts[one.s][b])),
    make("h2", {}, "What the judge says"),
    ...draws.map((draw, at) => drawOf(one, draw, at, draws.length, textOf(data.texts[one.s][t]))),
    ...block("Source", source),
    ...references.flatMap((text, at) => block(references.length > 1 ? `Reference ${at + 1}` : "Reference", text)),
  ];
}

function block(title, text) {
  if (!text) return [];
  const box = make("div", { class: "boxed", tabindex: "0", role: "region", "aria-label": title }, paragraph([[SAME, text]]));
  return [make("h2", {}, title), box];
}

function textBlocks(title, view) {
  if (typeof view === "string") return [make("h2", {}, title), paragraph([[SAME, view]])];
  const told = view.length > 1 ? ["before the change", "as it was judged"] : ["with its changes marked"];
  return view.flatMap((packed, at) => [make("h2", {}, `${title}, ${told[at]}`), paragraph(unpacked(packed))]);
}

function drawOf(one, [reply, value, status, rule, parser, draw, hint, label, rationale, errors], at, count, text) {
  const [, ended] = study.statuses[status];
  const words = one.columns.words;
  const told = [
    ...(count > 1 ? [`draw ${(draw ?? at) + 1} of ${count}`] : []),
    ...(ended === "ok" ? [] : [ended]),
    value === null || value === undefined ? "no value" : `read as ${shownNumber(value)}`,
    ...(label ? [`label “${label}”`] : []),
    ...(rule === null || rule === undefined ? [] : [`by the rule “${words[rule]}”`]),
    ...(parser === null || parser === undefined ? [] : [`parser ${words[parser]}`]),
    ...(hint ? [`given the hint “${hint}”`] : []),
  ];
  const found = make("div", { class: "draw" }, make("p", ended === "ok" ? {} : { class: "status-bad" }, told.join(" · ")));
  if (reply === null || reply === undefined) found.append(make("p", { class: "small" }, "No reply: computed from other judges' results."));
  else found.append(paragraph([[SAME, reply]], "reply"));
  if (rationale) found.append(make("p", { class: "small" }, "Why:"), paragraph([[SAME, rationale]]));
  if (errors) found.append(...errorsOf(errors, text));
  return found;
}

function errorsOf(errors, text) {
  if (!errors.length) return [make("p", { class: "small" }, "It lists no errors.")];
  const list = errors.map(([start, , severity, category, explanation, match, quoted]) => {
    const where = start === null ? (quoted ? "not found in the text" : "without a location") : match ? `found: ${match}` : "";
    const parts = [quoted && `“${quoted}”`, severity === null ? "" : `severity ${severity}`, category, where].filter(Boolean).join(", ");
    return make("li", {}, paragraphless(`${parts}${explanation ? `: ${explanation}` : ""}`));
  });
  const marked = make("div", { class: "marked" }, make("p", { class: "small" }, "The text with the judge's errors marked:"), paragraph(markedBy(text, errors)));
  return [marked, make("ol", { class: "found" }, ...list)];
}

// The details of an error are on its line; very long ones are first shown shortened, too.
function paragraphless(text) {
  const told = paragraph([[SAME, text]]);
  told.className = "";
  return told;
}

// --- the list ----------------------------------------------------------------------------------

function show(data, found, state) {
  const last = Math.max(Math.ceil(found.length / PAGE), 1);
  const page = Math.min(Math.max(Number.parseInt(state.page, 10) || 1, 1), last);
  const rows = found.slice((page - 1) * PAGE, page * PAGE).map((one) => rowOf(data, one));
  table.querySelector(".rated").textContent = whose(data);
  const inside = table.contains(document.activeElement);
  table.tBodies[0].replaceChildren(...rows.map((one) => lineOf(data, one)));
  if (inside) table.querySelector(".opener")?.focus(); // a link within a row led here
  table.hidden = !rows.length;
  pages.hidden = last === 1;
  number.value = page;
  number.max = last;
  pages.querySelector(".of").textContent = `of ${counted(last)}`;
  for (const button of pages.querySelectorAll("button")) {
    const to = page + Number(button.value);
    // not disabled, or the keyboard focus on it would be lost
    button.setAttribute("aria-disabled", String(to < 1 || to > last));
  }
  const total = data.cells.reduce((sum, [, , , n]) => sum + n, 0);
  const range = last > 1 ? `: ${counted((page - 1) * PAGE + 1)} to ${counted(Math.min(page * PAGE, found.length))}` : "";
  say(`${plural(found.length, "judgment")} of ${counted(total)}${range}`);
  if (rows.length === 1) table.querySelector(".opener").click();
}

function say(text, failed = false) {
  line.textContent = coded(text);
  line.classList.toggle("failed", failed);
}

function nothing(text) {
  table.hidden = pages.hidden = true;
  table.tBodies[0].replaceChildren();
  say(text, true);
}

async function render() {
  const mine = ++ticket;
  try {
    await load("index.js");
    const state = read();
    state.dataset ||= study.datasets[0]?.id ?? "";
    const d = study.datasets.findIndex(({ id }) => id === state.dataset);
    if (d < 0) {
      fill("dataset", study.datasets.map(({ id, name }) => [id, name]), state.dataset);
      return nothing(`This study has no dataset “${state.dataset}”.`);
    }
    const data = study.datasets[d];
    await load(`names.${data.id}.js`);
    if (mine !== ticket) return;
    const unknown = choose(state, d);
    const label = (place) => data.labels[data.aspects.findIndex(([id]) => id === state.aspect)]?.[0][place] ?? place;
    const limits = [state.target, state.people && `rated ${label(state.people)}`, state.score && `judged ${label(state.score)}`].filter(Boolean);
    only.hidden = !limits.length;
    only.textContent = coded(`Only ${limits.join(", ")}: show all texts`);
    if (unknown.length) return nothing(`${data.name} has no ${unknown.join(", no ")}.`);
    const cells = chosenCells(data, state);
    await loadLists(d, [...new Set(cells.map((cell) => data.cells[cell][1]))]);
    if (mine !== ticket) return;
    show(data, ordered(data, matches(data, cells, state), state.order), state);
  } catch (error) {
    if (mine === ticket) nothing(error.message);
  }
}

// --- the reader's actions ----------------------------------------------------------------------

form.addEventListener("change", ({ target }) => {
  if (target.name === "find") return;
  go(target.name === "dataset" ? { dataset: target.value, judge: "", aspect: "", perturbation: "", system: "", target: "", other: "" } : { [target.name]: target.value });
});
form.elements.find.addEventListener("input", ({ target }) => {
  location.replace(hashOf({ ...read(), page: "", find: target.value }));
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  form.elements.find.value = "";
  location.hash = hashOf({ dataset: read().dataset });
});
only.addEventListener("click", () => go({ target: "", other: "", people: "", score: "" }));
pages.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const page = Number.parseInt(read().page, 10) || 1; // from the address: the view may not be updated yet
  go({ page: String(Math.min(Math.max(page + Number(button.value), 1), Number(number.max))) });
});
number.addEventListener("change", () => go({ page: number.value }));
table.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.classList.contains("opener")) return;
  const openers = [...table.querySelectorAll(".opener")];
  openers[openers.indexOf(event.target) + step]?.focus();
  event.preventDefault();
});
addEventListener("hashchange", render);
render();
