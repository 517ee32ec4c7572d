"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return b - a;
    if (typeof a === typeof b) return a.localeCompare(b);
    return typeof a === "number" ? -1 : 1;
  };
  [...heads].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    if (head.querySelector("a")) { // a link cannot stand in a button
      button.textContent = "↕";
      button.setAttribute("aria-label", `Sort by ${head.textContent}`);
      button.className = "sort";
    } else button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = at > 0 && !head.classList.contains("words"); // numbers begin with the largest
      const sign = head.getAttribute("aria-sort") === (falling ? "descending" : "ascending") ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", (sign === 1) === falling ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("title"));
        const undefinedLast = (row) => at > 0 && row.cells[at].classList.contains("undefined");
        rows.sort((a, b) => undefinedLast(a) - undefinedLast(b) || sign * compare(key(a, at), key(b, at)));
        body.append(...rows);
      }
    });
  });
}
