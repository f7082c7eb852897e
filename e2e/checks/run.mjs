// Runs under control.
import assert from 'node:assert/strict'
import { sleep, until } from '../app.mjs'

// page opens page.yaml at a tool.
async function page(t, tool) {
  const up = await t.upstream()
  const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
  const p = await t.open(app)
  await p.tool.selectOption(tool)
  return { up, app, p }
}

export default {
  'a run colours nodes in order': async (t) => {
    const { up, p } = await page(t, 'holding')
    up.hold('slow')
    await p.run()
    await p.look('before', /done/)
    await p.look('waiting', /running/)
    assert.doesNotMatch(await p.name('after'), /running|done/)
    up.release('slow')
    await p.is('done')
    for (const id of ['entry', 'before', 'waiting', 'after', 'exit']) await p.look(id, /done/)
  },

  'the result is shown': async (t) => {
    const { p } = await page(t, 'simple')
    await p.run({ n: 41 })
    await p.is('done')
    await p.node('second').click()
    await p.shows('Out', /sum:?\s*42/)
    await p.node('first').click()
    await p.shows('Args', /n:?\s*41/)
  },

  'pause inside a slow call': async (t) => {
    const { up, p } = await page(t, 'holding')
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    await p.press('Pause')
    up.release('slow')
    await p.is('paused')
    assert.equal(up.of('echo').length, 0)
    await p.look('after', /paused/)
    await p.press('Resume')
    await p.is('done')
    assert.equal(up.of('echo').length, 1)
  },

  'step, step into and step out': async (t) => {
    const { p } = await page(t, 'nested')
    await p.breakpoint('report')
    await p.run()
    await p.is('paused')
    await p.look('report', /paused/)
    await p.press('Step into')
    await p.is(/paused.*(entry|first)/s)
    await p.press('Step')
    await p.is(/paused.*(first|second)/s)
    await p.press('Step out')
    await p.is(/paused.*both/s)
    await p.press('Step')
    await p.is(/paused.*exit/s)
    await p.press('Step')
    await p.is('done')
  },

  'the keys of DevTools control a run': async (t) => {
    const { p } = await page(t, 'nested')
    await p.breakpoint('report')
    await p.run()
    await p.is('paused')
    await p.page.keyboard.press('F11')
    await p.is(/paused.*(entry|first)/s)
    await p.page.keyboard.press('Shift+F11')
    await p.is(/paused.*both/s)
    await p.page.keyboard.press('F10')
    await p.is(/paused.*exit/s)
    await p.page.keyboard.press('F8')
    await p.is('done')
  },

  'a key that comes before the answer to the one before is done': async (t) => {
    const { p } = await page(t, 'nested')
    // What a command did is told before it is answered.
    const waiting = []
    await p.page.route(/\/api\/sessions\/[^/]+\/step$/, async (route) => {
      const response = await route.fetch()
      await new Promise((done) => waiting.push(done))
      await route.fulfill({ response })
    })
    await p.breakpoint('report')
    await p.run()
    await p.is('paused')
    await p.page.keyboard.press('F10')
    await p.is(/paused.*both/s)
    await p.page.keyboard.press('F10')
    await until('the first answer', () => waiting.length === 1)
    waiting.shift()()
    await until('the second step', () => waiting.length === 1)
    waiting.shift()()
    await p.is(/paused.*exit/s)
  },

  'keys that are pressed fast step once each': async (t) => {
    const { p } = await page(t, 'simple')
    await p.breakpoint('entry')
    await p.run({ n: 1 })
    await p.is(/paused.*entry/s)
    const steps = []
    p.page.on('request', (r) => r.url().endsWith('/step') && steps.push(r))
    for (let i = 0; i < 3; i++) await p.page.keyboard.press('F10')
    await p.is(/paused.*exit/s)
    assert.equal(steps.length, 3)
    await p.page.keyboard.press('F8')
    await p.is('done')
  },

  'a failure is the same one in every panel': async (t) => {
    const app = await t.app({ text: `version: "1.0"
server: {name: gone, version: "1"}
mcpServers:
  gone: {command: /nonexistent/server}
tools:
  - name: calls
    description: Calls a server that cannot be started
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: one}
      - {id: one, type: mcp, server: gone, tool: x, args: {}, next: exit}
      - {id: exit, type: exit}
` })
    const p = await t.open(app)
    await p.run()
    await p.is('failed')
    const said = async () => [await p.state(), await (await p.inspect('Out')).innerText()].join().replace(/[\d.]+ m?s/, '')
    const before = await said()
    assert.match(before, /connect/)
    const listed = p.page.waitForResponse((r) => r.url().endsWith('/api/runs'))
    const runs = await p.tab('Runs')
    await listed
    await runs.getByRole('listitem').getByText(/could not be started/).waitFor()
    assert.equal(await said(), before)
    await p.page.reload()
    await (await p.tab('Runs')).getByRole('listitem').getByRole('button').first().click()
    await p.is('failed')
    assert.equal(await said(), before)
  },

  'the start of a server does not drown the rest of the run': async (t) => {
    const up = await t.upstream()
    up.startTime = 1500
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('simple')
    await p.run({ n: 1 })
    await p.is('done')
    const timeline = (await p.tab('Timeline')).getByRole('listbox')
    await timeline.focus()
    const said = () => timeline.getByRole('option').textContent()
    await timeline.press('Home')
    await timeline.press('ArrowDown')
    await until('what of the call was the start', async () => /first, .*\d s of it up started/.test(await said()))
    await timeline.press('ArrowDown')
    assert.doesNotMatch(await said(), /started/)
  },

  'buttons are enabled when they do something': async (t) => {
    const { up, p } = await page(t, 'holding')
    const enabled = async (names) => {
      for (const name of ['Run', 'Step', 'Step into', 'Step out', 'Pause', 'Resume', 'Stop']) {
        await until(`${name} ${names.includes(name) ? 'enabled' : 'disabled'}`, async () => (await p.control(name).count()) === 0 ? !names.includes(name) : (await p.control(name).isEnabled()) === names.includes(name))
      }
    }
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    await until('Pause and Stop', async () => (await p.control('Pause').isEnabled()) && (await p.control('Stop').isEnabled()))
    for (const name of ['Step out', 'Resume']) if (await p.control(name).count()) assert.ok(await p.control(name).isDisabled(), name)
    await p.press('Pause')
    up.release('slow')
    await p.is('paused')
    await until('Resume, Step and Stop', async () => (await p.control('Resume').isEnabled()) && (await p.control('Step').isEnabled()) && (await p.control('Stop').isEnabled()))
    await p.press('Resume')
    await p.is('done')
    await enabled(['Run'])
  },

  'a breakpoint set while the run is under way': async (t) => {
    const { up, p } = await page(t, 'holding')
    up.hold('slow')
    await p.run()
    await p.look('waiting', /running/)
    const known = p.page.waitForResponse((r) => r.url().endsWith('/breakpoints'))
    await p.breakpoint('after')
    await known
    up.release('slow')
    await p.is(/paused.*after/s)
    await p.breakpoint('after')
    await p.press('Resume')
    await p.is('done')
  },

  'a breakpoint with a condition': async (t) => {
    const { p } = await page(t, 'items')
    await p.menu('twice', /^Add breakpoint with condition/)
    const dialog = p.page.getByRole('dialog', { name: /Breakpoint at/ })
    await dialog.getByRole('textbox', { name: 'Condition' }).fill('$item = 3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await p.run({ values: [1, 2, 3, 4] })
    await p.is(/paused.*twice/s)
    await p.tab('Console')
    const expression = p.prompt
    await expression.fill('$item & " is here"')
    await expression.press('Enter')
    await p.page.getByRole('log', { name: 'Console' }).getByText('3 is here').waitFor()
    await p.press('Resume')
    await p.is('done')
  },

  'break on failure': async (t) => {
    const { up, p } = await page(t, 'catching')
    up.on('flaky', () => {
      throw new Error('out of order')
    })
    await p.page.getByRole('combobox', { name: 'Break on failure' }).selectOption('any')
    await p.run()
    await p.is(/paused.*fail/is)
    await p.press('Resume')
    await p.is('done')
    await p.look('risky', /caught/)
    await p.look('instead', /done/)
  },

  'stop cancels the upstream call': async (t) => {
    const { up, p } = await page(t, 'holding')
    up.hold('slow')
    await p.run()
    await until('the call', () => up.of('slow').length === 1)
    await p.look('waiting', /running/)
    await p.press('Stop')
    await p.is('stopped')
    await until('its end', () => up.of('slow')[0].state === 'cancelled')
    assert.equal(up.of('echo').length, 0)
  },

  'iterations are told apart': async (t) => {
    const { up, p } = await page(t, 'items')
    up.on('flaky', (args) => {
      if (args.value === 20) throw new Error('twenty is too many')
      return args
    })
    await p.run({ values: [10, 20, 30] })
    await p.is('done')
    await p.node('part').click()
    await until('three executions', async () => (await p.executions()) === 3)
    for (const [n, value] of [[1, 10], [3, 30]]) {
      await p.execution(n)
      await p.shows('Args', new RegExp(`value: ${value}(?!\\d)`))
    }
    await p.inspector.getByRole('button', { name: /^Failed/ }).click()
    await until('one failed execution', async () => (await p.executions()) === 1)
    await p.execution(1)
    await p.shows('Error', /twenty is too many/)
  },

  'time travel rewinds graph and document': async (t) => {
    const { p } = await page(t, 'counting')
    await p.run({ rounds: 3, pause: 0 })
    await p.is('done')
    await p.look('done', /done/)
    await p.node('state').click()
    await until('three executions', async () => (await p.executions()) === 3)
    await p.execution(1)
    await until('nothing done behind it', async () => !/, done/.test(await p.name('done')))
    await p.execution(2)
    await p.shows('Document', /state.*n: 1(?!\d)/s)
    await p.execution(3)
    await p.shows('Document', /state.*n: 2(?!\d)/s)
  },

  'secrets are masked': async (t) => {
    const up = await t.upstream()
    const secret = 'hunter2-very-secret-value'
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url, UPSTREAM_TOKEN: secret } })
    const bodies = []
    const p = await t.open(app)
    p.page.on('response', async (r) => {
      if (!r.url().includes('/api/events')) bodies.push(await r.text().catch(() => ''))
    })
    await p.tool.selectOption('secret')
    await p.run()
    await p.is('done')
    assert.equal(up.of('header').length, 1)
    await p.node('ask_header').click()
    for (const tab of ['Args', 'Out', 'Document', 'Definition']) {
      await p.inspect(tab)
      assert.ok(!(await p.page.content()).includes(secret), `${tab} shows the secret`)
    }
    await p.shows('Out', /header/)
    await p.tab('Servers')
    for (const tab of ['Timeline', 'Table', 'Events', 'Console', 'Problems']) await p.tab(tab)
    assert.ok(!(await p.page.content()).includes(secret))
    const { runs } = await app.api('/api/runs')
    const kept = await app.api(`/api/runs/${runs[0].id}`)
    assert.ok(!JSON.stringify(kept).includes(secret))
    assert.ok(!bodies.some((b) => b.includes(secret)), 'a response has the secret')
  },

  'redrive from a failed node calls upstream only from there': async (t) => {
    const { up, p } = await page(t, 'chain')
    up.on('flaky', () => {
      throw new Error('not yet')
    })
    await p.run()
    await p.is('failed')
    assert.deepEqual([up.of('echo').length, up.of('flaky').length], [1, 1])
    up.on('flaky', (args) => args)
    await p.node('two').click()
    await p.inspect('Pin')
    await p.inspector.getByRole('button', { name: 'Run again from this node' }).click()
    await p.is('done')
    assert.deepEqual([up.of('echo').length, up.of('flaky').length, up.of('slow').length], [1, 2, 1])
    assert.deepEqual(up.of('slow')[0].args, { step: 3, before: 2 })
  },

  'a pinned node is not executed': async (t) => {
    const { up, p } = await page(t, 'chain')
    await p.node('two').click()
    const pin = await p.inspect('Pin')
    await pin.getByRole('textbox', { name: /^Output/ }).fill('{"step": 99}')
    await pin.getByRole('button', { name: 'Pin', exact: true }).click()
    await p.look('two', /pinned/)
    await p.run()
    await p.is('done')
    assert.equal(up.of('flaky').length, 0)
    assert.deepEqual(up.of('slow')[0].args, { step: 3, before: 99 })
    await p.node('two').click()
    await (await p.inspect('Pin')).getByRole('button', { name: 'Unpin' }).click()
    await p.run()
    await until('the call of an unpinned node', () => up.of('flaky').length === 1)
    await p.is('done')
  },

  'what upstream was sent is shown, attempts too': async (t) => {
    const { up, p } = await page(t, 'chain')
    await p.run()
    await p.is('done')
    await p.node('three').click()
    await p.shows('Args', /before:?\s*2/)
    await p.tab('Table')
    const table = p.page.getByRole('grid', { name: 'Executions' })
    await until('five rows', async () => (await table.getByRole('row').count()) >= 6)
    assert.equal(up.calls.length, 3)
    await sleep(0)
  },

  'one selection for graph, table, timeline and inspector': async (t) => {
    const { p } = await page(t, 'simple')
    await p.run({ n: 1 })
    await p.is('done')
    await p.tab('Table')
    await p.page.getByRole('grid', { name: 'Executions' }).getByRole('row', { name: /second/ }).click()
    await p.shows('Out', /sum:?\s*2/)
    const timeline = (await p.tab('Timeline')).getByRole('listbox')
    await timeline.focus()
    await timeline.press('ArrowUp')
    await timeline.press('Enter')
    await p.shows('Args', /n:?\s*1/)
  },
}
