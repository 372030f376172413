import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toText } from "../fallbacks/static-html.mjs";
import { choose, litmusPicture, shownOf } from "../src/figures/litmus/first.js";
import { JUDGES, outcomes } from "../src/figures/litmus/model.js";
import { PRESETS, PROGRAMS, orderingsIn, preset, slotsOf } from "../src/figures/litmus/programs.js";
import { asText } from "../src/figures/litmus/table.js";
import { layout, picture } from "../src/figures/litmus/view.js";
import { codeLines, conclusion, labelOf, partsOf, stepsOf, verdict } from "../src/figures/litmus/words.js";

const ORDER = { rlx: 0, acq: 1, rel: 2, ar: 3, sc: 7 };

/** `"x=1.rlx; y.acq; F.sc; x+1.ar"`: a store, a load, a fence, and a read-modify-write that leaves 1. */
function programOf(...threads) {
  const orders = [];
  const parsed = threads.map((text, thread) => {
    const ops = [];
    let fence = 0;
    for (const part of text.split("; ")) {
      const [code, order] = part.split(".");
      if (code === "F") {
        fence = ORDER[order];
        continue;
      }
      if (ops.length > 0) orders.push(fence);
      fence = 0;
      const [, at, sign, value] = /^(\w)([=+]?)(\d?)$/.exec(code) ?? [];
      ops.push({ kind: sign === "=" ? "store" : sign === "+" ? "swap" : "load", at, value: Number(value || 1), fixed: false, isQuiet: sign === "=" });
      orders.push(ORDER[order]);
    }
    return { name: `T${thread}`, ops };
  });
  return { program: { name: "", says: "", threads: parsed, bad: "", fear: "" }, orders };
}

/** Where it can happen that the reads return this: `r` in Rust, `x` on x86, `a` on ARM. */
function where(key, ...threads) {
  const { program, orders } = programOf(...threads);
  assert.equal(slotsOf(program).length, orders.length);
  const found = outcomes(program, orders).find((outcome) => outcome.key === key);
  assert(found, `${key} of ${threads}`);
  return JUDGES.map((judge) => (found.can[judge] ? judge.charAt(0) : "-")).join("");
}

// Each line: a name by which the test is published, the outcome, where it can happen, the threads.
const PUBLISHED = [
  // The C++20 standard, [atomics.order]; Batty et al., "Mathematizing C++ Concurrency", POPL 2011;
  // for the machines Sewell et al., "x86-TSO", CACM 2010, and Pulte et al., POPL 2018 (Armv8).
  ["SB, relaxed", "0 0", "rxa", "x=1.rlx; y.rlx", "y=1.rlx; x.rlx"],
  ["SB, release and acquire", "0 0", "rxa", "x=1.rel; y.acq", "y=1.rel; x.acq"],
  ["SB, SeqCst", "0 0", "---", "x=1.sc; y.sc", "y=1.sc; x.sc"],
  ["SB, SeqCst fences", "0 0", "---", "x=1.rlx; F.sc; y.rlx", "y=1.rlx; F.sc; x.rlx"],
  ["SB, one SeqCst fence", "0 0", "rxa", "x=1.rlx; F.sc; y.rlx", "y=1.rlx; x.rlx"],
  ["MP, relaxed", "1 0", "r-a", "x=1.rlx; y=1.rlx", "y.rlx; x.rlx"],
  ["MP, release and relaxed", "1 0", "r-a", "x=1.rlx; y=1.rel", "y.rlx; x.rlx"],
  ["MP, relaxed and acquire", "1 0", "r-a", "x=1.rlx; y=1.rlx", "y.acq; x.rlx"],
  ["MP, release and acquire", "1 0", "---", "x=1.rlx; y=1.rel", "y.acq; x.rlx"],
  ["MP, release fence and acquire fence", "1 0", "---", "x=1.rlx; F.rel; y=1.rlx", "y.rlx; F.acq; x.rlx"],
  ["MP, release fence alone", "1 0", "r-a", "x=1.rlx; F.rel; y=1.rlx", "y.rlx; x.rlx"],
  ["LB, relaxed", "1 1", "r-a", "x.rlx; y=1.rlx", "y.rlx; x=1.rlx"],
  ["LB, acquire alone", "1 1", "r--", "x.acq; y=1.rlx", "y.acq; x=1.rlx"],
  ["LB, release and acquire", "1 1", "---", "x.acq; y=1.rel", "y.acq; x=1.rel"],
  ["IRIW, relaxed", "1 0 1 0", "r-a", "x=1.rlx", "y=1.rlx", "x.rlx; y.rlx", "y.rlx; x.rlx"],
  ["IRIW, acquire", "1 0 1 0", "r--", "x=1.rel", "y=1.rel", "x.acq; y.acq", "y.acq; x.acq"],
  ["IRIW, SeqCst", "1 0 1 0", "---", "x=1.sc", "y=1.sc", "x.sc; y.sc", "y.sc; x.sc"],
  ["WRC, release and acquire", "1 1 0", "---", "x=1.rel", "x.acq; y=1.rel", "y.acq; x.acq"],
  ["WRC, relaxed", "1 1 0", "r-a", "x=1.rlx", "x.rlx; y=1.rlx", "y.rlx; x.rlx"],
  ["ISA2, release and acquire", "1 1 0", "---", "x=1.rlx; y=1.rel", "y.acq; z=1.rel", "z.acq; x.rlx"],
  // Last values are read by a thread that has seen both writes.
  ["CoRR", "1 0", "---", "x=1.rlx", "x.rlx; x.rlx"],
  ["CoRR, two writes", "2 1", "rxa", "x=1.rlx", "x=2.rlx", "x.rlx; x.rlx"],
  ["CoRR of two readers", "1 2 2 1", "---", "x=1.rlx", "x=2.rlx", "x.rlx; x.rlx", "x.rlx; x.rlx"],
  ["CoWR", "0", "---", "x=1.rlx; x.rlx"],
  ["CoRW", "1", "---", "x.rlx; x=1.rlx"],
  ["2+2W, relaxed", "1 2 1 2", "r-a", "x=2.rlx; y=1.rlx", "y=2.rlx; x=1.rlx", "x.rlx; x.rlx", "y.rlx; y.rlx"],
  ["2+2W, SeqCst", "1 2 1 2", "---", "x=2.sc; y=1.sc", "y=2.sc; x=1.sc", "x.rlx; x.rlx", "y.rlx; y.rlx"],
  // Lahav et al., "Repairing Sequential Consistency in C/C++11", PLDI 2017, and Boehm, Giroux and
  // Vafeiades, P0668R5, whose changes are in C++20: stronger fences, and the weaker Z6.U.
  ["RWC with SeqCst fences", "1 0 0", "---", "x=1.rlx", "x.rlx; F.sc; y.rlx", "y=1.rlx; F.sc; x.rlx"],
  ["IRIW with SeqCst fences", "1 0 1 0", "---", "x=1.rlx", "y=1.rlx", "x.rlx; F.sc; y.rlx", "y.rlx; F.sc; x.rlx"],
];

test("the models agree with published litmus tests", () => {
  for (const [name, key, expected, ...threads] of PUBLISHED) {
    assert.equal(where(key, ...threads), expected, name);
  }
});

test("Z6.U is allowed, as P0668 says that it must be", () => {
  const threads = ["x=1.sc; y=1.rel", "y+2.sc; y.rlx", "y=3.sc; x.sc"];
  assert.equal(where("1 3 0", ...threads).charAt(0), "r");
  assert.equal(where("1 3 0", "x=1.sc; y=1.sc", "y+2.sc; y.sc", "y=3.sc; x.sc").charAt(0), "-", "with SeqCst everywhere it isn't");
});

// [intro.races] of C++20, and Mara Bos, "Rust Atomics and Locks", chapter 3.
test("a read-modify-write continues a release sequence, and a store ends it", () => {
  assert.equal(where("1 2 0", "x=1.rlx; y=1.rel", "y+2.rlx", "y.acq; x.rlx"), "---");
  assert.match(where("2 0", "x=1.rlx; y=1.rel", "y=2.rlx", "y.acq; x.rlx"), /^r/);
});

test("a read-modify-write of one word on both sides is enough for what two stores aren't", () => {
  // Dekker's pattern through z, as the page on sleepers says: of two RMWs, the later sees what came before the earlier.
  const threads = ["x=1.rlx; z+1.ar; y.rlx", "y=1.rlx; z+1.ar; x.rlx"];
  for (const order of ["0", "1"]) for (const other of ["0", "1"]) {
    const { program, orders } = programOf(...threads);
    assert(!outcomes(program, orders).some(({ key, can }) => key === `${order} 0 ${other} 0` && can.rust));
  }
});

/** Every choice of orderings. */
function* choices(program) {
  const slots = slotsOf(program);
  const most = slots.reduce((product, { choices }) => product * choices.length, 1);
  for (let number = 0; number < most; number += 1) {
    let left = number;
    yield slots.map(({ choices }) => {
      const one = choices[left % choices.length];
      left = Math.floor(left / choices.length);
      return one;
    });
  }
}

test("no machine shows what Rust's model forbids, whatever is chosen", () => {
  let tried = 0;
  for (const [id, program] of Object.entries(PROGRAMS)) {
    for (const orders of choices(program)) {
      // Of the largest, every seventh.
      tried += 1;
      if (tried % 7 !== 0 && slotsOf(program).length > 6) continue;
      const all = outcomes(program, orders);
      for (const { key, can, witness, why, clash } of all) {
        assert.equal(clash.length, why === "hb" ? 4 : 0, `${id} ${orders}: ${key}`);
        assert(can.rust || !(can.x86 || can.arm), `${id} ${orders}: ${key}`);
        assert.equal(can.rust, witness !== undefined, `${id} ${orders}: ${key}`);
      }
      assert(all.some(({ witness }) => witness?.kind === "steps"), "one step after the other is always possible");
    }
  }
  assert(tried > 2000);
});

test("a stronger ordering allows nothing new", () => {
  for (const [id, program] of Object.entries(PROGRAMS)) {
    const allowed = (orders) => outcomes(program, orders).flatMap(({ key, can }) => JUDGES.filter((judge) => can[judge]).map((judge) => `${judge} ${key}`));
    for (const start of PRESETS.map((one) => preset(program, one.id))) {
      const before = new Set(allowed(start));
      slotsOf(program).forEach(({ choices }, index) => {
        for (const order of choices.filter((one) => (one & start[index]) === start[index])) {
          for (const one of allowed(start.with(index, order))) assert(before.has(one), `${id}: ${one} with ${order} at ${index} of ${start}`);
        }
      });
    }
  }
});

test("an order that is shown gives the outcome, and leaves the program's order only where it says so", () => {
  for (const program of Object.values(PROGRAMS)) {
    for (const { id } of PRESETS) {
      for (const outcome of outcomes(program, preset(program, id))) {
        const { witness } = outcome;
        if (!witness || witness.kind === "rust") continue;
        const memory = {};
        const read = [];
        for (const { event, reads, writes } of witness.accesses) {
          const { op, at, value } = witness.events[event];
          if (!op) continue;
          if (reads) read[event] = memory[at] ?? 0;
          if (writes) memory[at] = value;
        }
        const told = witness.events.flatMap(({ op }, event) => (op && !op.isQuiet ? [read[event]] : []));
        assert.equal(told.join(" "), outcome.key, `${program.name} ${id}`);
        const steps = stepsOf(witness);
        assert.equal(steps.some(({ overtakes }) => overtakes), witness.kind !== "steps", `${program.name} ${id} ${outcome.key}`);
      }
    }
  }
});

const GOLDEN = new URL("../../tools/primitives/tests/litmus.txt", import.meta.url);

test("what is claimed is what the tests in Rust run, on loom and on this machine", () => {
  const lines = Object.entries(PROGRAMS).flatMap(([id, program]) => PRESETS.map((one) => {
    const all = outcomes(program, preset(program, one.id));
    return `${id} ${one.id}: ${JUDGES.map((judge) => `${judge} ${all.filter(({ can }) => can[judge]).map(({ key }) => key.replaceAll(" ", "")).join(" ")}`).join("; ")}`;
  }));
  assert.equal(`${lines.join("\n")}\n`, readFileSync(GOLDEN, "utf8"));
});

test("the bug of std needs a swap, not a stronger ordering", () => {
  const can = (id, orderings) => shownOf(choose(id, orderings)).chosen.can;
  assert.deepEqual(can("unpark", "seqcst"), { rust: true, x86: false, arm: true });
  assert.deepEqual(can("swap", "pairs"), { rust: false, x86: false, arm: false });
  assert.deepEqual(can("parked", "pairs"), { rust: true, x86: true, arm: true });
  assert.deepEqual(can("parked", "fences"), { rust: false, x86: false, arm: false });
  const { program } = shownOf(choose("parked"));
  const oneFence = slotsOf(program).map(({ op, thread }) => (op || thread === 1 ? 0 : 7));
  assert.deepEqual(outcomes(program, oneFence).find(({ key }) => key === "0 0").can, { rust: true, x86: false, arm: true }, "no test on x86 can miss the worker's fence");
});

test("what is forbidden is explained by the two that synchronize, or by the single order", () => {
  const why = (id, orderings) => {
    const { program, chosen } = shownOf(choose(id, orderings));
    return verdict(program, chosen);
  };
  assert.equal(why("mp", "fences"), "No: writer's fence releases what reader's fence acquires, so data.store happens before data.load, which can't return an older value.");
  assert.match(why("swap", "pairs"), /^No: unparker 2's state\.swap releases what parker's state\.swap acquires, so ready\.store happens before ready\.load, /);
  assert.match(why("unpark", "fences"), /^No: all SeqCst operations and fences have a single order/);
  // The load of the left, which isn't an Acquire, can't be what acquires.
  const { program, orders } = shownOf(choose("lb", "pairs"));
  const [outcome] = outcomes(program, orders.with(0, 0)).filter(({ key }) => key === program.bad);
  assert.equal(verdict(program, outcome), "No: left's y.store releases what right's y.load acquires, so x.load happens before x.store, and can't return what is written there.");
});

test("a compare-exchange that fails has the ordering of a load", () => {
  const { program, orders } = shownOf(choose("unpark", "pairs"));
  const at = slotsOf(program).findIndex(({ op }) => op?.kind === "cas");
  const shown = [0, 1, 2, 3, 7].map((order) => codeLines(program, orders.with(at, order))[1].at(-1).replace(/.*1, /, ""));
  assert.deepEqual(shown, ["Relaxed, Relaxed)", "Acquire, Acquire)", "Release, Relaxed)", "AcqRel, Acquire)", "SeqCst, SeqCst)"]);
});

const texts = (html) => [...html.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
const plain = (html) => html.replace(/<[^>]*>/g, " ").replace(/&#34;/g, '"').replace(/&#62;/g, ">").replace(/\s+/g, " ");

test("the text has what the picture has, and nothing of it stands outside", () => {
  const opened = { isOpen: true, toggle() {} };
  for (const id of Object.keys(PROGRAMS)) {
    for (const { id: orderings } of PRESETS) {
      const shown = { ...shownOf(choose(id, orderings)), isCovered: false };
      const text = plain(toText(asText(shown, false, opened)));
      for (const { key } of shown.all) assert(text.includes(labelOf(shown.program, key)), key);
      for (const width of [260, 390, 680, 1200]) {
        const settings = { width, label: "label", withProgram: true };
        const html = toText(picture(shown, settings));
        for (const [, x, wide] of html.matchAll(/<rect[^>]* x="([\d.-]+)"[^>]* width="([\d.]+)"/g)) assert(Number(x) >= 0 && Number(x) + Number(wide) <= width + 1, `${id} at ${width}`);
        const { rows, steps, height } = layout(shown, settings);
        let bottom = 0;
        for (const { y, height } of [...rows, ...steps]) {
          assert(y >= bottom);
          bottom = y + height;
        }
        assert(height >= bottom);
        for (const step of steps) assert(text.includes(`${shown.program.threads[step.thread].name}: ${step.does}`), step.does);
      }
      if (shown.chosen.can.rust) assert.match(conclusion(shown.program, shown.orders, shown.chosen), /\? Yes: Rust's memory model allows it/);
      else assert.match(conclusion(shown.program, shown.orders, shown.chosen), /\? No: /);
    }
  }
});

test("what can happen is covered while it is asked", () => {
  const shown = { ...shownOf(choose("mp", "relaxed")), isCovered: true };
  const drawn = texts(toText(picture(shown, { width: 680, label: "asked", withProgram: false })));
  assert.equal(drawn.filter((text) => text === "?").length, 12);
  assert(!drawn.some((text) => /can|How/.test(text)));
});

test("what a link or an attribute says is checked", () => {
  const { program } = shownOf(choose("sb"));
  assert.deepEqual(orderingsIn(program, "250000"), undefined);
  assert.deepEqual(orderingsIn(program, "171200"), undefined, "a store can't acquire");
  assert.deepEqual(orderingsIn(program, "271271"), [2, 7, 1, 2, 7, 1]);
  for (const text of ["", undefined, "27127", "2712711", "x71271"]) assert.equal(orderingsIn(program, text), undefined);
  assert.equal(choose("__proto__", "x").id, "mp");
  const good = { program: "mp", orderings: "relaxed", question: "?" };
  assert.match(toText(litmusPicture([], good, "x", 680)), /<svg/);
  for (const bad of [{ program: "nothing" }, { orderings: "weak" }, { program: undefined }]) assert.throws(() => litmusPicture([], { ...good, ...bad }, "x", 680), /README/);
  assert.deepEqual(partsOf(program, "0 1"), [{ thread: 0, text: "y = 0" }, { thread: 1, text: "x = 1" }]);
});
