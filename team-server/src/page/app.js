// Shows what the API gives. Every text of a memory goes into the page as text (`textContent`), never as
// markup; the token is kept for this tab and sent to this server only.
"use strict";

const DELETED = "<!-- memdir: deleted -->\n";
const STORED = "memdir-team-token";
const element = (id) => document.getElementById(id);

let token = null;
let repository = null;
let entries = {};
// Answers that come late, for something that is no longer looked at, are not shown.
let turn = 0;

async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(query ? `${path}?${query}` : path, {
    headers: { authorization: `Bearer ${token}` },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
  const body = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(body.error.message), { status: response.status });
  }
  return body;
}

function say(text) {
  element("message").textContent = text;
}

// Does something for what was chosen last; what goes wrong is said.
async function follow(work) {
  const mine = ++turn;
  const isCurrent = () => mine === turn;
  say("");
  try {
    await work(isCurrent);
  } catch (error) {
    if (!isCurrent()) return;
    if (error.status === 401) leave();
    say(error.message);
  }
}

function choice(text, isCurrent, choose) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-current", String(isCurrent));
  button.addEventListener("click", () => {
    for (const other of button.closest("ul, tbody").querySelectorAll("button")) {
      other.setAttribute("aria-current", String(other === button));
    }
    choose();
  });
  return button;
}

function listItem(child) {
  const item = document.createElement("li");
  item.append(child);
  return item;
}

function enter() {
  return follow(async (isCurrent) => {
    const { repositories } = await ask("/api/repositories");
    if (!isCurrent()) return;
    sessionStorage.setItem(STORED, token);
    element("token").value = "";
    element("enter").hidden = true;
    element("content").hidden = false;
    element("leave").hidden = false;
    const items = repositories.map(({ repo, entries }) =>
      listItem(choice(`${repo} (${entries})`, false, () => showRepository(repo))));
    element("repositories").replaceChildren(...items);
    if (repositories.length === 0) say("There is nothing yet that this token may read.");
  });
}

function leave() {
  turn += 1;
  token = null;
  repository = null;
  entries = {};
  sessionStorage.removeItem(STORED);
  clearMemory();
  for (const id of ["repositories", "memories"]) element(id).replaceChildren();
  element("enter").hidden = false;
  element("content").hidden = true;
  element("leave").hidden = true;
  say("");
}

function showRepository(name) {
  return follow(async (isCurrent) => {
    const memory = await ask("/api/claude_code/team_memory", { repo: name });
    if (!isCurrent()) return;
    repository = name;
    entries = memory.content.entries;
    clearMemory();
    listMemories();
  });
}

function listMemories() {
  const wanted = element("filter").value.toLowerCase();
  const found = Object.keys(entries).sort().filter((key) =>
    key.toLowerCase().includes(wanted) || entries[key].toLowerCase().includes(wanted));
  const items = found.map((key) => {
    const label = entries[key] === DELETED ? `${key} (deleted)` : key;
    return listItem(choice(label, false, () => showMemory(key)));
  });
  element("memories").replaceChildren(...items);
}

function clearMemory() {
  for (const id of ["shown", "text"]) element(id).textContent = "";
  element("memory-title").textContent = "Memory";
  element("history").replaceChildren();
  element("older").hidden = true;
}

function showMemory(key) {
  clearMemory();
  element("memory-title").textContent = key;
  element("text").textContent = entries[key];
  return showHistory(key, null);
}

function showHistory(key, before) {
  return follow(async (isCurrent) => {
    const parameters = before === null ? {} : { before };
    const { revisions, more } = await ask("/api/history", { repo: repository, key, ...parameters });
    if (!isCurrent()) return;
    for (const revision of revisions) {
      const row = element("history").insertRow();
      row.insertCell().append(choice(String(revision.version), false, () => showRevision(key, revision)));
      const time = new Date(revision.writtenAt).toLocaleString();
      for (const text of [revision.author, time, String(revision.bytes)]) {
        row.insertCell().textContent = text;
      }
    }
    const last = revisions.at(-1);
    const older = element("older");
    older.hidden = !more;
    older.onclick = () => showHistory(key, last.version);
  });
}

function showRevision(key, { version }) {
  return follow(async (isCurrent) => {
    const { revisions } = await ask("/api/history", { repo: repository, key, version });
    if (!isCurrent()) return;
    const [revision] = revisions;
    const time = new Date(revision.writtenAt).toLocaleString();
    element("shown").textContent = `Version ${version}, by ${revision.author}, ${time}`;
    element("text").textContent = revision.content;
  });
}

element("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = element("token").value.trim();
  enter();
});
element("leave").addEventListener("click", leave);
element("filter").addEventListener("input", listMemories);
token = sessionStorage.getItem(STORED);
if (token !== null) enter();
