import { describe, expect, test } from "vitest";
import { generate } from "../src/codegen/generate.ts";

const SDL = `
  scalar Odd
  scalar JSON
  enum Colour { RED GREEN }
  input Where { colour: Colour!, and: [Where!], limit: Int! = 3, unused: Odd }
  input Never { x: Int }
  interface Named { name: String! }
  type Cat implements Named { name: String!, lives: Int!, colour: Colour, data: JSON! }
  type Dog implements Named { name: String!, owner: Dog }
  union Pet = Cat | Dog
  type Query { pets(where: Where, odd: [Odd!]!): [Pet!]!, named: Named, cat: Cat }
`;

describe("generated types", () => {
  test("follow the selection: aliases, fragments, lists, nulls and unions", () => {
    const text = generate(SDL, `
      query pets($where: Where, $odd: [Odd!]!, $n: Boolean = true) {
        pets(where: $where, odd: $odd) { __typename ... on Cat { ...CatParts lives } ... on Dog { owner { name } } }
        named { title: name @include(if: $n) }
      }
      fragment CatParts on Cat { colour data }`);
    expect(text).toContain('export type Colour = "RED" | "GREEN";');
    expect(text).toContain("  and?: Array<Where> | null;\n  limit?: number;\n  unused?: unknown | null;");
    expect(text).not.toContain("Never");
    expect(text).toContain("export interface PetsVariables {\n  where?: Where | null;\n  odd: Array<unknown>;\n  n?: boolean | null;\n}");
    expect(text).toContain(`export type PetsResult = {
  pets: Array<{
    __typename: "Cat";
    colour: "RED" | "GREEN" | null;
    data: Json;
    lives: number;
  } | {
    __typename: "Dog";
    owner: {
      name: string;
    } | null;
  }>;
  named: {
    title?: string;
  } | null;
};`);
    expect(text).toContain("fragment CatParts on Cat { colour data }");
  });

  test("of a schema alone are its inputs and enums", () => {
    const text = generate(SDL, "", { scalars: { Odd: "Date" } });
    expect(text).toContain("unused?: Date | null;");
    expect(text).toContain("export interface Never");
    expect(text).not.toContain("TypedDocument");
  });

  test("are refused for documents that the schema does not answer, and for nameless ones", () => {
    expect(() => generate(SDL, "query A { nothing }")).toThrow(/line 1: Cannot query field "nothing"/);
    expect(() => generate(SDL, "{ cat { name } }")).toThrow(/needs a name/);
  });
});
