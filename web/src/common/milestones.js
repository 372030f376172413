// Milestones: sets of clauses that can hold while later ones aren't written yet.

/**
 * @typedef {object} Milestone
 * @property {number} number
 * @property {string} name
 * @property {number[]} clauses
 *
 * @typedef {{clause?: number | null, outcome: string}} Test
 */

/**
 * The milestone of a clause.
 *
 * @param {Milestone[]} milestones
 * @param {number | null | undefined} clause
 */
export function milestoneOf(milestones, clause) {
  return milestones.find(({ clauses }) => clause != null && clauses.includes(clause));
}

/**
 * How a milestone stands, by the tests of its clauses.
 *
 * @param {Milestone} milestone
 * @param {Test[]} tests
 * @returns {"reached" | "unwritten" | "failed" | "open"} `open` as long as tests run, or none is known
 */
export function standing({ clauses }, tests) {
  const outcomes = new Set(tests.filter(({ clause }) => clause != null && clauses.includes(clause)).map(({ outcome }) => outcome));
  if (outcomes.size === 0 || outcomes.has("waiting") || outcomes.has("running")) return "open";
  if (outcomes.has("failed")) return "failed";
  return outcomes.has("unwritten") ? "unwritten" : "reached";
}

/**
 * The last milestone that is reached, and all before it.
 *
 * @param {Milestone[]} milestones
 * @param {Test[]} tests
 */
export function lastReached(milestones, tests) {
  const end = milestones.findIndex((milestone) => standing(milestone, tests) !== "reached");
  return milestones.slice(0, end < 0 ? undefined : end).at(-1);
}
