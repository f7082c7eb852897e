// Measures the jsonata package in the folder of the first argument. Each line
// of standard input asks for one thing and gets one line: {expr, data} compiles
// and gives {result}, {times} evaluates so often and gives {nanos}.
'use strict';
const jsonata = require(process.argv[1]);

// The history functions of a graph, over the same short history as ours.
const outputs = [{n: 5}, {n: 17}, {n: 41}];
const history = {
  previousNode: [() => ({factor: 5}), '<n?:x>'],
  executionCount: [() => outputs.length, '<s:n>'],
  nodeExecution: [(name, i) => outputs[i < 0 ? i + outputs.length : i], '<s-n:x>'],
  nodeExecutions: [() => outputs, '<s:a>'],
};

let expression, input;

async function answer({expr, data, times}) {
  if (expr !== undefined) {
    expression = jsonata(expr);
    for (const [name, [fn, signature]] of Object.entries(history)) expression.registerFunction(name, fn, signature);
    input = data;
    return {result: await expression.evaluate(input)};
  }
  const begin = process.hrtime.bigint();
  for (let i = 0; i < times; i++) await expression.evaluate(input);
  return {nanos: Number(process.hrtime.bigint() - begin)};
}

require('readline').createInterface({input: process.stdin}).on('line', async line => {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
});
