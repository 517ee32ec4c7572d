"use strict";
// Every table as a CSV file, unrounded, and a switch that shows the contents of the cells' titles.
{
  // The text of a node; small print is separated by spaces, a subscript as in the tables' files.
  const said = (node) => [...node.childNodes].map((one) => {
    if (one.nodeType !== Node.ELEMENT_NODE) return one.data;
    return one.tagName === "SUB" ? "_" + said(one).replaceAll(" ", "_") : one.tagName === "SMALL" ? ` ${said(one)}` : said(one);
  }).join("");
  const tidy = (text) => text.replace(/\s+/g, " ").trim();
  const text = (node) => tidy(said(node));

  // A cell's own text, without small print and signs.
  const plain = (cell) => {
    const copy = cell.cloneNode(true);
    for (const one of copy.querySelectorAll("small, sup, em")) one.remove();
    return text(copy);
  };
  const number = (told) => told !== "" && Number.isFinite(Number(told));
  const rounded = (told) => number(told.replace("\u2212", "-").replace(/[\s%<>]/g, ""));

  // The contents of a cell, by the names of the columns that it fills.
  const parts = (cell) => {
    const { v, lo, hi, n, missing, tied } = cell.dataset;
    const title = cell.title;
    const notes = [...cell.querySelectorAll("small:not(.more)")].slice(lo === undefined ? 0 : 1).map(text);
    const marks = [...cell.querySelectorAll("sup")].map(text);
    const shown = cell.classList.contains("undefined") ? "" : plain(cell).replace(/^–$/, "");
    const value = v !== undefined && (n !== undefined || rounded(shown)) ? v : shown;
    // counts have separate columns
    const about = n === undefined ? title : title.replace(/^n = [^;]*(; )?/, "");
    const note = [...marks, ...notes.filter((one) => !tidy(title).includes(one)), about].filter(Boolean).join("; ");
    return { "": value, low: lo, high: hi, n, missing, tied, note };
  };

  // The columns' names, with a shared heading; with their small print if two names are equal.
  const names = (table) => {
    const rows = [...table.tHead.rows];
    const groups = rows.length < 2 ? [] : [...rows[0].cells].flatMap((cell) => Array(cell.colSpan).fill(text(cell)));
    const called = (how) => [...rows.at(-1).cells].map((cell, at) => [groups[at], how(cell)].filter(Boolean).join(": ") || "row");
    const short = called(plain);
    return new Set(short).size === short.length ? short : called(text);
  };

  // The parts of a row's heading, and the heading of the group that contains the row.
  const heading = (row, title) => {
    const cell = row.cells[0];
    const [about, kind] = ["small", ".badge"].map((one) => cell.querySelector(one)).map((one) => (one ? text(one) : undefined));
    return { "": plain(cell), kind, about, group: title || undefined };
  };

  // Controls belong to the group of the rows above them.
  const records = (table) => {
    let title = "";
    return [...table.tBodies].flatMap((body) => {
      const rows = [...body.rows];
      if (rows[0]?.classList.contains("title")) title = text(rows.shift());
      else if (!body.classList.contains("controls")) title = "";
      return rows.map((row) => [heading(row, title), ...[...row.cells].slice(1).map(parts)]);
    });
  };

  // A spreadsheet would run a text that begins like a formula.
  const field = (told) => {
    const safe = !number(told) && /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(told) ? `'${told}` : told;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  // A column of the table becomes one column for each kind of content in its cells.
  const csv = (table) => {
    const rows = records(table);
    const columns = names(table).flatMap((name, at) => {
      const kinds = Object.keys(rows[0]?.[at] ?? { "": "" });
      const filled = kinds.filter((kind) => !kind || rows.some((row) => row[at][kind]));
      return filled.map((kind) => ({ name: kind ? `${name} (${kind})` : name, at, kind }));
    });
    const lines = [columns.map((one) => one.name), ...rows.map((row) => columns.map((one) => row[one.at][one.kind] ?? ""))];
    return lines.map((line) => line.map(field).join(",") + "\r\n").join("");
  };

  // File names consist of study and caption, only letters and digits; equal names are numbered.
  const slug = (told, most) => told.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, most).replace(/^-+|-+$/g, "");
  const taken = new Map();
  const file = (caption) => {
    const name = [slug(document.title.split(":")[0], 40), slug(caption, 90) || "table"].filter(Boolean).join("-");
    taken.set(name, (taken.get(name) ?? 0) + 1);
    return `${name}${taken.get(name) > 1 ? `-${taken.get(name)}` : ""}.csv`;
  };

  const button = (label, caption, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.setAttribute("aria-label", `${label}: ${caption}`);
    made.addEventListener("click", () => act(made));
    return made;
  };

  const save = (table, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  const toggle = (table, pressed) => {
    for (const old of table.querySelectorAll("small.more")) old.remove();
    for (const cell of pressed ? table.querySelectorAll("td[title]") : []) {
      const more = document.createElement("small");
      more.className = "more";
      more.textContent = cell.title;
      cell.append(more);
    }
  };

  for (const table of document.querySelectorAll("table.sortable:not(.matrix)")) {
    const caption = text(table.caption);
    const name = file(caption);
    const tools = document.createElement("p");
    tools.className = "tools";
    tools.append(button("Download CSV", caption, () => save(table, name)));
    if (table.querySelector("td[title]")) {
      const more = button("Show n, method and notes", caption, () => {
        const pressed = more.getAttribute("aria-pressed") !== "true";
        more.setAttribute("aria-pressed", pressed);
        toggle(table, pressed);
      });
      more.setAttribute("aria-pressed", "false");
      tools.append(more);
    }
    (table.closest(".scroll") ?? table).before(tools);
  }
}
const contents = document.querySelector(".contents > details");
if (contents && matchMedia("screen and (max-width: 1199px)").matches) contents.open = false;
