// The OpenAPI document, readable.

import { byId, element } from "./elements.js";

const answer = await fetch("/openapi.json");
const { info, paths } = await answer.json();
byId("about").textContent = `${info.title} ${info.version}: ${info.description}`;

const groups = new Map();
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, route] of Object.entries(methods)) {
    const tag = route.tags?.[0] ?? "others";
    if (!groups.has(tag)) groups.set(tag, []);
    groups.get(tag).push([method, path, route]);
  }
}

function drawn([method, path, route]) {
  const parameters = (route.parameters ?? []).map((each) =>
    element(
      "li",
      {},
      element("code", {}, each.name),
      ` in the ${each.in}${each.required ? "" : ", optional"}`,
      each.description ? `: ${each.description}` : "",
    ),
  );
  const body = route.requestBody;
  if (body) parameters.push(element("li", {}, `body: ${body.description ?? ""}`));
  return element(
    "li",
    { className: "entry" },
    element("strong", {}, method.toUpperCase()),
    element(
      "div",
      { className: "what" },
      element("code", {}, path),
      element("small", {}, route.description ?? route.summary ?? ""),
      parameters.length ? element("ul", {}, ...parameters) : null,
    ),
  );
}

byId("routes").append(
  ...[...groups].flatMap(([tag, routes]) => [
    element("h3", {}, `For ${tag}`),
    element("ol", {}, ...routes.map(drawn)),
  ]),
);
