// Asks the service as a program would that was written against the generated types; prints what it was told.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };
const { GET, POST } = createClient<paths, "application/json">({ baseUrl: process.argv[2] });
const sheets = createClient<paths, "text/csv">({ baseUrl: process.argv[2] });
const question = { model: "ResNet-50", target: 0.757, as_of: "2026-07-01", limit: 3 };

const cost = await GET("/cost", { params: { query: { ...question, purchase: ["spot", "on_demand"], frontier: true } } });
// with fields=verdict the answer is a shorter one
const cheapest: components["schemas"]["Estimate"] | undefined = cost.data && "estimates" in cost.data ? cost.data.estimates[0] : undefined;
const billed: number | null | undefined = cheapest?.billed_cost;

const sheet = await sheets.GET("/cost.csv", { params: { query: question }, parseAs: "text" });
const offers = await GET("/offers", { params: { query: { provider: ["aws", "gcp"], limit: 2 } } });
const model = await GET("/models/{model}", { params: { path: { model: "resnet50" } } });
const plan = await POST("/plan", { body: [{ model: "resnet50", target: 0.757, _note: "ours" }, { model: "nosuch" }] });
const wrong = await GET("/cost", { params: { query: { model: "resnet50", target: 757 } } });
const complaint: components["schemas"]["Problem"] | undefined = wrong.error as components["schemas"]["Problem"] | undefined;

// @ts-expect-error  the types know every path
await GET("/costs", {}).catch(() => undefined);
// @ts-expect-error  and which parameters are required
await GET("/cost", { params: { query: { target: 0.757 } } });

console.log(JSON.stringify({
  billed, machine: cheapest?.instance_type, header: sheet.data?.split("\r\n")[0], providers: offers.data?.offers.map((each) => each.provider),
  recipes: model.data?.recipes.length, rows: plan.data?.rows.map((row) => [row.error, row.estimate?.recipe]),
  status: wrong.response.status, complaint: complaint?.errors?.["target"],
}));
