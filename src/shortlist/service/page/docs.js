// The OpenAPI document, readable.

import { byId, element } from "./elements.js";

const answer = await fetch("/openapi.json");
const { info, paths } = await answer.json();
byId("about").textContent = `${info.title} ${info.version}: ${info.description}`;

const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, route]) => [method, path, route]),
);
const groups = Object.groupBy(routes, ([, , route]) => route.tags?.[0] ?? "others");

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
  ...Object.entries(groups).flatMap(([tag, some]) => [
    element("h3", {}, `For ${tag}`),
    element("ol", {}, ...some.map(drawn)),
  ]),
);
