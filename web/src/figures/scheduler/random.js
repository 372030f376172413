// Marsaglia's xorshift, with 32 bits: the same numbers for the same seed.

/** @param {number} seed @returns {number} a state that isn't zero */
export function seeded(seed) {
  return Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1;
}

/** @param {number} random @param {number} limit @returns {[number, number]} a number below `limit`, and the state after it */
export function below(random, limit) {
  let next = random ^ (random << 13);
  next ^= next >>> 17;
  next = (next ^ (next << 5)) >>> 0;
  return [next % limit, next];
}
