// Displays texts: always as text, never as markup.
const LONGEST = 5000; // a text of up to this many characters is shown in full
const CONTEXT = 150, CHANGED = 1000, MOST = 20000; // characters of longer texts: around changes, of a change, in total
const BLOCK = 20000; // a very long text is laid out in blocks of this many characters
const SAME = 0, DELETED = 1, INSERTED = 2, MOVED = 3, ERROR = 4, GAP = 5;
const TAGS = ["span", "del", "ins", "mark", "mark"];
const CODES = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff]|[\u{e0000}-\u{e0fff}]/gu;
const HIDDEN = /^[\s\p{M}\p{Cf}]+$/u;
const SIGNS = { " ": "␣", "\n": "↵", "\t": "⇥" };

const hex = (sign) => sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const coded = (text) => String(text).replace(CODES, (sign) => `⟨U+${hex(sign)}⟩`);
const counted = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const plural = (number, one, many = `${one}s`) => `${counted(number)} ${number === 1 ? one : many}`;

function make(tag, told = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(told)) {
    if (name === "class") element.className = value; else element.setAttribute(name, value);
  }
  element.append(...inside.map((one) => (typeof one === "string" ? coded(one) : one)));
  return element;
}

// Never cut within a surrogate pair.
const cutAt = (text, at) => (/[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at);

// The pieces of a long text near a change, and the number of characters left out.
function shortened(pieces) {
  const length = pieces.reduce((sum, [, text]) => sum + text.length, 0);
  if (length <= LONGEST) return pieces;
  if (pieces.length === 1) {
    const end = cutAt(pieces[0][1], LONGEST);
    return [[pieces[0][0], pieces[0][1].slice(0, end), pieces[0][2]], [GAP, plural(length - end, "more character")]];
  }
  const found = [];
  let shown = 0, passed = 0;
  for (const [kind, text, number] of pieces) {
    if (shown > MOST) return [...found, [GAP, plural(length - passed, "more character")]];
    const kept = kind === SAME ? CONTEXT : CHANGED;
    passed += text.length;
    if (text.length <= 3 * kept) {
      found.push([kind, text, number]);
      shown += text.length;
    } else {
      const start = cutAt(text, kept), end = cutAt(text, text.length - kept);
      found.push([kind, text.slice(0, start), number], [GAP, plural(end - start, "character")], [kind, text.slice(end), number]);
      shown += 2 * kept;
    }
  }
  return found;
}

function signOf(text) {
  if (!HIDDEN.test(text) || text.search(CODES) >= 0) return "";
  return Array.from(text).slice(0, 8).map((one) => SIGNS[one] ?? `U+${hex(one)} `).join("").trim();
}

// A text with a line of a megabyte is laid out in blocks: those that are not visible cost nothing.
function inBlocks(text) {
  const found = [];
  for (let at = 0; at < text.length;) {
    const end = text.length - at <= BLOCK ? text.length : cutAt(text, at + BLOCK);
    found.push(make("span", { class: "block" }, text.slice(at, end)));
    at = end;
  }
  return found;
}

function drawn([kind, text, number], all) {
  if (kind === GAP) {
    const button = make("button", { type: "button", class: "more" }, `… ${text}: show all`);
    button.addEventListener("click", all);
    return [button];
  }
  if (kind === SAME) return text.length > BLOCK ? inBlocks(text) : [coded(text)];
  const element = make(TAGS[kind]);
  if (kind === MOVED) element.append(make("sup", {}, String(number)));
  if (kind === ERROR) element.className = `shade-${number.shade}${number.own.length > 1 ? " several" : ""}`;
  element.append(...(text.length > BLOCK ? inBlocks(text) : [coded(text)]));
  if (kind === ERROR && number.ends.length) element.append(make("sup", {}, number.ends.join(" ")));
  const sign = kind === DELETED || kind === INSERTED ? signOf(text) : "";
  if (sign) element.dataset.sign = sign;
  return [element];
}

// A paragraph with the pieces of a text; a long text is first shown shortened.
function paragraph(pieces, style = "") {
  const element = make("p", { class: `text ${style}`.trim(), dir: "auto" });
  const show = (shown) => element.replaceChildren(...shown.flatMap((one) => drawn(one, all)));
  const all = () => {
    show(pieces);
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  };
  show(shortened(pieces.filter(([, text]) => text)));
  if (!pieces.some(([, text]) => text)) element.append(make("em", {}, "(no text)"));
  return element;
}

const unpacked = (packed) => packed.map((one) => (typeof one === "string" ? [SAME, one] : one));
// The text that was judged: a text with marks, after its changes are made.
const textOf = (view) => (typeof view === "string" ? view : unpacked(view[view.length - 1]).filter(([kind]) => kind !== DELETED).map(([, text]) => text).join(""));

// A text, cut at every start and end of an error; `errors` are [start, end, severity, ...].
function markedBy(text, errors) {
  const placed = errors.map(([start, end, severity], at) => ({ start, end, severity, at })).filter(({ start, end }) => start !== null && end !== null && start < end);
  const cuts = [...new Set([0, text.length, ...placed.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, at) => {
    const end = cuts[at + 1];
    const own = placed.filter((one) => one.start <= start && end <= one.end);
    if (!own.length) return [SAME, text.slice(start, end)];
    const shade = Math.max(...own.map(({ severity }) => Math.min(Math.max(Math.round(severity ?? 0), 0), 5)));
    return [ERROR, text.slice(start, end), { shade, own, ends: own.filter((one) => one.end === end).map((one) => one.at + 1) }];
  });
}
