// Applies json-logic-js to the lines {"rule", "data"} on stdin and writes one
// line each: the value, or "error" where the rule throws. The first argument
// is the folder of the package.
const logic = require(process.argv[2]);
const lines = require('readline').createInterface({input: process.stdin});

console.log = () => {}; // what the operator log writes

// JSON cannot tell these apart.
const show = v => {
  if (v === undefined) return 'undefined';
  if (typeof v === 'number' && !Number.isFinite(v)) return String(v);
  if (Array.isArray(v)) return '[' + v.map(show).join(',') + ']';
  return JSON.stringify(v);
};

lines.on('line', line => {
  const {rule, data} = JSON.parse(line);
  let out;
  try {
    out = show(logic.apply(rule, data));
  } catch {
    out = 'error';
  }
  process.stdout.write(out + '\n');
});
