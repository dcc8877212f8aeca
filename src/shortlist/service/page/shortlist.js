// The view of a live shortlist: what it shows, and what enters and leaves.

import { byId, element, later, list, number, options, summary, time } from "./elements.js";
import { ask, follow, pathOf } from "./service.js";

const MOST_NEWS = 50;
const EVERY = 5000; // what expires is no event unless the deployment tells departures
const STATES = { live: "live", reconnecting: "reconnecting…" };
let stop = new AbortController();
let shown = new Map();
let departed = new Set();

export async function show(fail) {
  const { items } = await ask("/shortlists?limit=1000");
  const select = byId("shortlist");
  const chosen = items.some((each) => each.id === select.value) ? select.value : items[0]?.id;
  const pairs = items.map((each) => [each.id, `${each.id} (${each.subscriber})`]);
  options(select, pairs, chosen);
  select.onchange = () => open(select.value, fail);
  if (chosen === undefined) {
    byId("about").textContent = "There is no shortlist yet: compose a subscription.";
    return;
  }
  await open(chosen, fail);
}

export function hide() {
  stop.abort();
}

async function open(shortlist, fail) {
  stop.abort();
  stop = new AbortController();
  const { signal } = stop;
  const failed = (error) => signal.aborted || fail(error);
  shown = new Map();
  departed = new Set();
  byId("news").replaceChildren();
  const back = byId("held-back");
  back.ontoggle = () => back.open && heldBack(shortlist).catch(failed);
  if (back.open) heldBack(shortlist).catch(failed);
  byId("connection").textContent = "connecting…";
  try {
    const content = await refreshed(shortlist);
    const refresh = later(() => refreshed(shortlist, signal).catch(failed), 300);
    const timer = setInterval(refresh, EVERY);
    signal.addEventListener("abort", () => clearInterval(timer));
    await follow(shortlist, content.after, {
      signal,
      state: (name) => (byId("connection").textContent = STATES[name]),
      told: (kind, document) => {
        tell(kind, document);
        if (kind === "departure") departed.add(identity(document));
        refresh();
      },
    });
  } catch (error) {
    failed(error);
  }
}

async function refreshed(shortlist, signal) {
  const content = await ask(pathOf("shortlists", shortlist, "content?with_data=true"), { signal });
  const policy = content.policy.join(", then ");
  const when = content.time === null ? "nothing has come yet" : `as of ${content.time}`;
  byId("about").textContent = `${policy}; ${when}`;
  const best = Math.max(...content.shows.map((entry) => Math.abs(entry.score)), 1e-9);
  const entries = content.shows.map((entry) => made(entry, shortlist, best));
  const opened = [...document.querySelectorAll(".why[open]")].map((each) => each.dataset.of);
  byId("content").replaceChildren(...entries);
  for (const each of document.querySelectorAll(".why")) {
    each.open = opened.includes(each.dataset.of);
  }
  byId("nothing").hidden = entries.length > 0;
  const now = new Map(content.shows.map((entry) => [identity(entry), entry]));
  for (const [name, entry] of shown) {
    const isTold = departed.delete(name);
    if (!now.has(name) && !isTold) tell("departure", { ...entry, time: content.time });
  }
  shown = now;
  return content;
}

async function heldBack(shortlist) {
  const { publications, replayed, items } = await ask(
    pathOf("shortlists", shortlist, "held-back"),
  );
  const rest = `; ${number(replayed)} of them are judged by the subscriptions of now, had nothing come before`;
  byId("held-back-about").textContent =
    `${number(items.length)} of the last ${number(publications)} publications match and were not delivered` +
    `${replayed ? rest : ""}.`;
  list("held-back-list", items, (each) => [
    time(each.time),
    element("span", { className: "left" }, each.reason),
    element("span", {}, `${each.publication} from ${each.source}, score ${number(each.score)}`),
  ]);
}

const identity = (entry) => JSON.stringify([entry.source, entry.publication]);

function made(entry, shortlist, best) {
  const parts = [
    entry.subscription && `by ${entry.subscription}`,
    entry.possibility !== null && degrees(entry),
    entry.waiting && "waits to be delivered",
    entry.until && `until ${new Date(entry.until).toLocaleTimeString()}`,
  ].filter(Boolean);
  const why = element(
    "details",
    { className: "why", "data-of": identity(entry) },
    element("summary", {}, "Why?"),
    element("ul"),
  );
  why.ontoggle = () => why.open && explain(why, entry, shortlist);
  const isNew = shown.size > 0 && !shown.has(identity(entry));
  return element(
    "li",
    { className: isNew ? "entry new" : "entry" },
    element("span", { className: "rank" }, `${entry.rank}`),
    element(
      "div",
      { className: "what" },
      element("strong", {}, entry.publication),
      ` from ${entry.source}, `,
      time(entry.published),
      summary(entry.data),
      parts.length ? element("small", {}, parts.join("; ")) : null,
    ),
    element(
      "div",
      { className: "score" },
      number(entry.score),
      element("meter", { max: best, value: Math.max(entry.score, 0), "aria-hidden": "true" }),
    ),
    why,
  );
}

function degrees({ possibility, necessity }) {
  return possibility === necessity
    ? `matches to the degree ${number(possibility)}`
    : `may match to the degree ${number(possibility)}, must to ${number(necessity)}`;
}

async function explain(why, entry, shortlist) {
  const reasons = why.querySelector("ul");
  const asked = new URLSearchParams({ publication: entry.publication, source: entry.source });
  try {
    const path = pathOf("shortlists", shortlist, "explanations");
    const { items, from } = await ask(`${path}?${asked}`);
    const told = items.map((each) => element("li", {}, time(each.time), ` ${each.reason}`));
    const { subscriptions } = items.findLast((each) => each.subscriptions) ?? { subscriptions: [] };
    reasons.replaceChildren(...told, ...subscriptions.map(reason), element("li", {}, element("small", {}, from)));
  } catch (error) {
    reasons.replaceChildren(element("li", {}, error.message));
  }
}

function reason(subscription) {
  const score = subscription.score === null ? "" : `, score ${number(subscription.score)}`;
  const predicates = subscription.predicates.map(({ text, possibility, necessity, note }) => {
    const degree = possibility === necessity ? number(possibility) : `${necessity}–${possibility}`;
    return element("li", {}, `${degree}  `, element("code", {}, text), note ? `: ${note}` : "");
  });
  return element(
    "li",
    {},
    element("strong", {}, subscription.id),
    `: ${subscription.reason}${score}`,
    predicates.length ? element("ul", {}, ...predicates) : null,
  );
}

function tell(kind, document) {
  const hasLeft = kind === "departure" && document.reason !== "returned";
  const rank = document.rank ? ` at ${document.rank}` : "";
  const cause = document.cause === "promotion" ? ", promoted" : "";
  const why = document.reason ? `: ${document.reason}` : "";
  const said = hasLeft ? `left${why}` : `entered${rank}${cause}`;
  const news = byId("news");
  const what = element("span", { className: hasLeft ? "left" : "entered" }, said);
  const about = element("span", {}, `${document.publication} from ${document.source}`);
  news.prepend(element("li", {}, time(document.time), what, about));
  while (news.children.length > MOST_NEWS) news.lastChild.remove();
}
