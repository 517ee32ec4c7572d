"use strict";
const form = document.querySelector("form");
const line = form.querySelector("[role=status]");
const { survey, task } = form.dataset;
// The saved file contains no name: a random number distinguishes voters.
const anyone = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
// A page keeps its answers in this browser, separately for each file.
const place = `judgescope:${survey}:${location.pathname}`;
let voter = anyone();

// Questions without an answer are included, too.
function given() {
  const names = [...form.elements].map((input) => input.name).filter(Boolean);
  return Object.fromEntries([...names.map((name) => [name, ""]), ...new FormData(form)]);
}

function put() {
  try {
    localStorage.setItem(place, JSON.stringify({ voter, answers: given() }));
  } catch {
    line.textContent = "This browser cannot store your answers: save them before you close the page.";
  }
}

function fetched() {
  try {
    const kept = JSON.parse(localStorage.getItem(place));
    return typeof kept?.voter === "string" && kept.answers ? kept : null;
  } catch {
    return null;
  }
}

const before = fetched();
if (before) {
  voter = before.voter;
  for (const input of form.elements) {
    if (input.type === "radio") input.checked = before.answers[input.name] === input.value;
  }
}
form.addEventListener("change", put);
form.addEventListener("reset", (event) => {
  if (!confirm("Clear all answers on this page?")) return event.preventDefault();
  voter = anyone();
  setTimeout(put); // after the answers are cleared
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const answers = given();
  const open = Object.values(answers).filter((answer) => !answer).length;
  const text = JSON.stringify({ survey, task, voter, answers }, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `${task}-${voter}.json`;
  link.click();
  const left = open ? ` ${open} of ${Object.keys(answers).length} questions have no answer yet.` : "";
  line.textContent = `Saved as ${link.download}. Please send this file.${left}`;
});
