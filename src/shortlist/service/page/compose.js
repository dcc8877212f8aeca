// The view in which a subscription is composed: problems at once, and a preview.

import { Curves } from "./curves.js";
import { byId, element, later, list, number, options, summary, time } from "./elements.js";
import { ask, pathOf, Problem } from "./service.js";

const FIELDS = { id: "name", where: "where", score: "score", subscriber: "subscriber" };
const ASKED = { k: ["top-k", "window"], window: ["window"] }; // by policies
const MOST_SHOWN = 20;
let latest = 0;
let vocabulary = {};
const curves = new Curves(byId("curves"), (text) => {
  byId("where").value = text;
  byId("where").dispatchEvent(new Event("input", { bubbles: true }));
});

export async function show(fail) {
  const [declared, { items }, me] = await Promise.all([
    ask("/vocabulary"),
    ask("/shortlists?limit=1000"),
    ask("/me"),
  ]);
  const pairs = items.map((each) => [each.id, `the shortlist ${each.id} (${each.subscriber})`]);
  options(byId("target"), [["", "a shortlist of its own"], ...pairs], byId("target").value);
  vocabulary = declared;
  byId("where-hint").textContent = hint(vocabulary);
  if (me.owner !== null) byId("subscriber").placeholder = me.owner;
  const form = byId("compose");
  const check = later(() => checked().catch(fail), 250);
  form.oninput = () => {
    arrange();
    check();
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    subscribe().catch(fail);
  };
  arrange();
  await checked();
}

function hint(declared) {
  const terms = Object.entries(declared)
    .filter(([, { terms }]) => Object.keys(terms || {}).length)
    .map(([name, { terms }]) => `${name} is ${Object.keys(terms).join(" or ")}`);
  const known = terms.length ? ` Terms: ${terms.join("; ")}.` : "";
  return `Such as rent < 900 and city = 'Oslo'; empty: everything.${known}`;
}

function arrange() {
  curves.draw(byId("where").value, vocabulary);
  byId("curves-hint").hidden = !byId("curves").children.length;
  const kind = byId("policy").value;
  byId("own").hidden = byId("target").value !== "";
  for (const [id, kinds] of Object.entries(ASKED)) {
    const isAsked = kinds.includes(kind);
    byId(id).hidden = !isAsked;
    document.querySelector(`label[for=${id}]`).hidden = !isAsked;
  }
}

function composed() {
  const document = {};
  for (const [field, id] of Object.entries(FIELDS)) {
    const text = byId(id).value.trim();
    if (text) document[field] = text;
  }
  const target = byId("target").value;
  if (target) {
    delete document.subscriber;
    return { ...document, shortlist: target };
  }
  const kind = byId("policy").value;
  const policy = { kind };
  if (kind !== "everything") policy.k = Number(byId("k").value);
  if (kind === "window") policy.window = byId("window").value.trim();
  return { ...document, policy };
}

async function checked() {
  const number = ++latest;
  const body = composed();
  try {
    await ask("/check", { method: "POST", body });
  } catch (error) {
    if (number !== latest) return;
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    mark(error.problems, body);
    return;
  }
  if (number !== latest) return;
  mark([], body);
  try {
    const found = await ask("/try", { method: "POST", body });
    if (number === latest) preview(found);
  } catch (error) {
    if (error.status !== 429) throw error;
    byId("preview-about").textContent = "No preview yet: too many are under way.";
  }
}

function mark(problems, body) {
  for (const place of ["id", "where", "score", "subscriber", "policy", "other"]) {
    const mine = problems.filter((each) => placeOf(each) === place);
    byId(`${place}-problem`).replaceChildren(...mine.flatMap((each) => said(each, body[place])));
    const input = byId(FIELDS[place] || place);
    if (input) input.setAttribute("aria-invalid", String(mine.length > 0));
  }
  byId("subscribe").disabled = problems.length > 0;
  if (problems.length) {
    byId("preview-about").textContent = "No preview: the subscription cannot be read yet.";
    byId("preview").replaceChildren();
  }
}

function placeOf(problem) {
  const first = (problem.field || "other").split(/[.[]/)[0];
  return first in FIELDS || first === "policy" ? first : "other";
}

function said(problem, text) {
  const where = problem.column ? `column ${problem.column}: ` : "";
  const place = placeOf(problem) === "other" && problem.field ? `${problem.field}: ` : "";
  const message = element("span", {}, `${place}${where}${problem.message}`);
  if (!problem.column || typeof text !== "string" || text.includes("\n")) return [message];
  const pointer = `${text}\n${" ".repeat(problem.column - 1)}^`;
  const drawn = element("span", { className: "pointer", "aria-hidden": "true" }, pointer);
  return [message, drawn];
}

function preview({ publications, deliveries }) {
  const count = (many, one, several) => `${number(many)} ${many === 1 ? one : several}`;
  byId("preview-about").textContent =
    `${count(deliveries.length, "delivery", "deliveries")} of the last ` +
    `${count(publications, "publication", "publications")}, had it been alone on its shortlist.`;
  list("preview", deliveries.slice(-MOST_SHOWN).reverse(), (each) => [
    time(each.time),
    element("span", {}, each.rank ? `#${each.rank}` : ""),
    element("span", {}, number(each.score)),
    element("strong", {}, each.publication),
    summary(each.data),
  ]);
}

async function subscribe() {
  const verdict = byId("verdict");
  const { id, ...body } = composed();
  if (!id) {
    mark([{ field: "id", message: "expected an id, by which it can be changed later" }], body);
    byId("name").focus();
    return;
  }
  verdict.textContent = "sent; waiting for the deployment…";
  try {
    const done = await ask(pathOf("subscriptions", id), { method: "PUT", body });
    verdict.textContent = done.effect || `${id} is live, as of offset ${done.offset}`;
  } catch (error) {
    verdict.textContent = error.message;
    if (!(error instanceof Problem)) throw error;
    if (error.status === 422) mark(error.problems, { id, ...body });
  }
}
