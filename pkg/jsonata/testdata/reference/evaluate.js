// Answers each line {expr, data?, vars?} of standard input with {result} or
// {code} as the jsonata package in the folder of the first argument has it.
// The clock stands still at the second argument, in milliseconds.
// {code: "crash"} is an error of JavaScript itself, not one of the language.
'use strict';
const [, , folder, clock] = process.argv;
const RealDate = Date;
const Frozen = class Date extends RealDate {
  constructor(...args) { if (args.length === 0) { super(Number(clock)); } else { super(...args); } }
  static now() { return Number(clock); }
};
globalThis.Date = Frozen;
const jsonata = require(folder);

// ascii writes a string as JSON with escapes for all that is not ASCII, so that
// lone surrogates survive the way.
const ascii = s => JSON.stringify(s).replace(/[\u007f-\uffff]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// encode writes a value like JSON, but says where a function, undefined or a
// number that is not finite stands.
function encode(v, depth = 0) {
  if (depth > 200) return 'deep';
  if (v === undefined) return 'undefined';
  if (v === null || typeof v === 'boolean') return String(v);
  if (typeof v === 'number') return String(v === 0 ? 0 : v);
  if (typeof v === 'string') return ascii(v);
  if (typeof v === 'function' || v._jsonata_lambda || v._jsonata_function) return 'function';
  if (Array.isArray(v)) return '[' + Array.from(v, e => encode(e, depth + 1)).join(',') + ']';
  return '{' + Object.keys(v).map(k => ascii(k) + ':' + encode(v[k], depth + 1)).join(',') + '}';
}

async function answer(line) {
  const {id, expr, data, vars} = JSON.parse(line);
  let out;
  try {
    out = {id, result: encode(await jsonata(expr).evaluate(data, vars))};
    if (out.result.length > 100000) out.result = 'long';
  } catch (e) {
    out = {id, code: e && e.code || 'crash', message: String(e && e.message).slice(0, 200), position: e && e.position, token: e && e.token};
    if (typeof out.position !== 'number') delete out.position;
    if (typeof out.token !== 'string') delete out.token;
    if (!/^[SDTU]\d{4}$/.test(out.code)) out.code = 'crash';
  }
  process.stdout.write(JSON.stringify(out) + '\n');
}

// One after the other, so that the first question without an answer is the one
// that does not end.
let last = Promise.resolve();
require('readline').createInterface({input: process.stdin}).on('line', line => {
  last = last.then(() => answer(line));
});
