"use strict";
// The page's data, and how more of it is loaded. A shard calls `judgescope` with plain data, which is
// only ever used as the text of elements.
const study = { datasets: [] };
const scripts = new Map();
const policy = globalThis.trustedTypes?.createPolicy("shards", { createScriptURL: (url) => url }) ?? { createScriptURL: (url) => url };

const takes = {
  index: (told) => Object.assign(study, told),
  items: (d, told) => { study.datasets[d].items = told; study.datasets[d].sources = []; study.datasets[d].texts = []; study.datasets[d].columns = []; },
  set: (d, s, told) => { study.datasets[d].sets[s].push(told); study.datasets[d].texts[s] = []; },
  list: (d, c, told) => {
    const [b, u, e] = [told.b, told.u, told.e].map((same) => (Array.isArray(same) ? same : told.v.map(() => same)));
    study.datasets[d].columns[c] = { ...told, t: told.t ?? [...told.v.keys()], b, u, e, rows: [] };
  },
  sources: (d, first, rows) => put(study.datasets[d].sources, first, rows),
  texts: (d, s, first, rows) => put(study.datasets[d].texts[s], first, rows),
  rows: (d, c, first, rows) => put(study.datasets[d].columns[c].rows, first, rows),
};
Object.defineProperty(globalThis, "judgescope", { value: (kind, ...told) => takes[kind](...told) });

function put(shelf, first, rows) {
  for (let at = 0; at < rows.length; at++) shelf[first + at] = rows[at];
}

function load(name) {
  if (!/^[a-z0-9_.-]+\.js$/.test(name)) return Promise.reject(new Error(`no shard: ${name}`));
  if (!scripts.has(name)) {
    scripts.set(name, new Promise((done, fail) => {
      const script = document.createElement("script");
      script.onload = () => { script.remove(); done(); };
      script.onerror = () => { script.remove(); scripts.delete(name); fail(new Error(`explore/${name} cannot be read: keep the folder explore next to this page.`)); };
      script.src = policy.createScriptURL(`explore/${name}`);
      document.head.append(script);
    }));
  }
  return scripts.get(name);
}

// The number of the shard that holds a row: `parts` are [first row, shard].
function shardOf(parts, row) {
  let low = 0, high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (parts[middle][0] <= row) low = middle; else high = middle - 1;
  }
  return parts[low][1];
}

// A dataset's names, and the lists of the judges that are shown.
async function loadLists(d, judges) {
  const data = study.datasets[d];
  await load(`names.${data.id}.js`);
  await Promise.all(judges.map((j) => load(`list.${data.id}.${study.judges[j][0]}.js`)));
}

// The content of one row: its replies, its text or texts, and the source.
async function loadRow(data, one) {
  const { s, cell, row, t, b } = one;
  const names = data.sets[s][3];
  const item = names.items[t];
  const judge = study.judges[data.cells[cell][1]][0];
  await Promise.all([
    load(`rows.${data.id}.${judge}.${shardOf(data.columns[cell].parts, row)}.js`),
    load(`sources.${data.id}.${shardOf(data.items.parts, item)}.js`),
    ...[t, b].filter((at) => at !== null).map((at) => load(`texts.${data.id}.${shardOf(names.parts, at)}.js`)),
  ]);
}
