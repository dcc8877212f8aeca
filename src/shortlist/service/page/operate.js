// The operator's view: how the deployment is doing.

import { byId, element, list, number, shape } from "./elements.js";
import { draw as drawNetwork } from "./network.js";
import { ask } from "./service.js";

const EVERY = 2000;
const USAGE_EVERY = 5; // it is read from the deliveries themselves
const SAMPLES = 60;
let timer;
let before = null;
let round = 0;
const rates = [];

export async function show(fail) {
  hide();
  round = 0;
  await refreshed(fail);
}

export function hide() {
  clearTimeout(timer);
}

async function refreshed(fail) {
  try {
    const asked = ["/status", "/rejects?limit=5", "/network"].map((path) => ask(path));
    const [status, { items }, network] = await Promise.all(asked);
    draw(status, items);
    drawNetwork(network);
    if (round++ % USAGE_EVERY === 0) spread(await ask("/usage"));
    fail(null);
  } catch (error) {
    fail(error);
  }
  timer = setTimeout(() => refreshed(fail), EVERY);
}

function draw(status, rejects) {
  const figures = {
    lag: `${number(status.lag.entries)} entries, ${status.lag.seconds.toFixed(1)} s`,
    "publications in": number(status.published),
    "deliveries out": number(status.deliveries),
    "of them promotions": number(status.promotions),
    commands: number(status.commands),
    subscriptions: number(status.subscriptions ?? 0),
    shortlists: number(status.shortlists ?? 0),
    state: `${number(Math.round(status["state bytes"] / 1024))} kB in ${number(status.shards)} ${status.shards === 1 ? "shard" : "shards"}`,
    "last commit": `${status["seconds since commit"].toFixed(1)} s ago`,
  };
  byId("figures").replaceChildren(
    ...Object.entries(figures).map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value)),
    ),
  );
  list("warnings", status.warnings, (text) => [text]);
  counted("reasons", status.rejects);
  counted("suppressed", status.suppressed);
  list("rejects", rejects, (each) => [
    element("span", { className: "left" }, each.reason),
    element("code", {}, each.line.slice(0, 160)),
  ]);
  sample(status);
}

// A table of how often, the most frequent first.
function counted(id, counts) {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  const cells = sorted.map(([why, count]) => [why, number(count)]);
  rows(id, cells);
}

function rows(id, cells) {
  const filled = cells.length ? cells : [["nothing"]];
  byId(id).replaceChildren(
    ...filled.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell)))),
  );
}

function spread(usage) {
  byId("spread-about").textContent =
    `Of the last ${number(usage.deliveries)} deliveries: entropy ${usage.entropy.toFixed(2)} of ` +
    `${usage["most entropy"].toFixed(2)} bits, fairness ${usage.fairness.toFixed(2)}, over all live subscriptions.`;
  const busiest = usage.subscriptions.map(({ id, shortlist, deliveries }) => [
    shortlist === id ? id : `${id} (${shortlist})`,
    number(deliveries),
  ]);
  rows("busiest", busiest);
}

function sample({ published, deliveries }) {
  const now = performance.now();
  if (before !== null) {
    const seconds = (now - before.now) / 1000;
    rates.push([
      Math.max(published - before.published, 0) / seconds,
      Math.max(deliveries - before.deliveries, 0) / seconds,
    ]);
    if (rates.length > SAMPLES) rates.shift();
  }
  before = { now, published, deliveries };
  const most = Math.max(...rates.flat(), 1);
  const path = (which) =>
    rates
      .map((pair, place) => `${(place * 300) / (SAMPLES - 1)},${76 - (pair[which] / most) * 60}`)
      .join(" L");
  const drawn = ["in", "out"].map((name, which) =>
    shape("path", { class: name, d: rates.length ? `M${path(which)}` : "" }),
  );
  const scale = shape("text", { x: 4, y: 11 });
  scale.textContent = `${number(Number(most.toPrecision(3)))} a second`;
  byId("rates").replaceChildren(...drawn, scale);
}
