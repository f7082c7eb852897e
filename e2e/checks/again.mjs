// Processes that end and begin again, and browsers that keep nothing.
import assert from 'node:assert/strict'
import { freePort, sleep, until } from '../app.mjs'

const nothing = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|401|404/

export default {
  'a process that was killed and started again at its port': async (t) => {
    const up = await t.upstream()
    const env = { UPSTREAM: up.url }
    const at = ['--addr', `127.0.0.1:${await freePort()}`]
    const first = await t.app({ file: 'page.yaml', args: at, env })
    const p = await t.open(first)
    p.tolerate(nothing)
    await p.tab('YAML')
    await p.editor.getByText('version:').first().waitFor()
    await p.editor.click()
    await p.page.keyboard.press('Control+Home')
    await p.page.keyboard.type('# not saved yet\n')
    await p.tab('Graph')
    await p.tool.selectOption('holding')
    up.hold('slow')
    await p.run()
    await until('the call', () => up.of('slow').length === 1)
    first.process.kill('SIGKILL')
    await p.page.getByRole('status', { name: 'State of the connection' }).getByText(/does not answer/).waitFor()

    const second = await t.app({ file: first.file, args: at, env })
    const form = p.page.getByRole('form', { name: 'New address' })
    await form.getByText(/new token/).waitFor()
    await form.getByRole('textbox').fill(first.url)
    await form.getByRole('button', { name: 'Connect' }).click()
    await form.getByRole('alert').waitFor() // that of the process before
    await form.getByRole('textbox').fill(second.url)
    await form.getByRole('button', { name: 'Connect' }).click()
    await form.waitFor({ state: 'detached' })
    await p.is('stopped') // the run went down with its process
    await p.shows('Out', /has ended/)
    up.release('slow')
    await p.tool.selectOption('simple')
    await p.run({ n: 1 })
    await p.is('done')
    await p.tab('YAML')
    await p.page.getByText('not saved; runs use the saved file').waitFor()
    await p.button('Save').click()
    await until('the text that was typed before', async () => (await second.read()).startsWith('# not saved yet\n'))

    // Another address in the same tab loads no page: the browser takes it for a place in this one.
    second.process.kill('SIGKILL')
    await second.ended
    const third = await t.app({ file: first.file, args: at, env })
    await form.waitFor()
    await p.page.goto(third.url)
    await form.waitFor({ state: 'detached' })
    await p.tool.selectOption('simple')
    await p.run({ n: 2 })
    await p.is('done')
    assert.ok(!p.page.url().includes('token'))
  },

  'Ctrl-C ends the process at once while a page is open and a call is under way': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    p.tolerate(nothing)
    await p.tool.selectOption('holding')
    up.hold('slow')
    await p.run()
    await until('the call', () => up.of('slow').length === 1)
    const began = Date.now()
    app.process.kill('SIGINT')
    await app.ended
    assert.ok(Date.now() - began < 2_000, `it took ${Date.now() - began} ms`)
    up.release('slow')
  },

  'a browser that keeps nothing': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app, {
      init: () => {
        for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError') } })
      },
    })
    await p.tool.selectOption('simple')
    await p.breakpoint('second')
    await p.button('Theme: system').click()
    await p.run({ n: 1 })
    await p.is('paused')
    await p.press('Resume')
    await p.is('done')
    const panel = await p.tab('Console')
    await panel.waitFor()
    await p.prompt.fill('1 + 1')
    await p.prompt.press('Enter')
    await panel.getByText('2', { exact: true }).first().waitFor()
  },

  'a browser whose room is used up, with settings of somebody else': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app, {
      init: () => {
        Storage.prototype.getItem = (name) => (name === 'mcpgraph.settings' ? '{"sizes":null,"closed":[1],"tabs":7,"theme":"pink"}' : name.startsWith('mcpgraph.breakpoints') ? 'null' : null)
        Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }
      },
    })
    await p.tool.selectOption('simple')
    await p.breakpoint('second')
    await p.run({ n: 1 })
    await p.is('paused')
    await p.press('Resume')
    await p.is('done')
  },

  'a key that is held starts one run': async (t) => {
    const up = await t.upstream()
    const app = await t.app({ file: 'page.yaml', env: { UPSTREAM: up.url } })
    const p = await t.open(app)
    await p.tool.selectOption('holding')
    await p.give({})
    up.hold('slow')
    await p.page.keyboard.down('Control')
    for (let i = 0; i < 8; i++) await p.page.keyboard.down('Enter') // all but the first are repetitions
    await p.page.keyboard.up('Enter')
    await p.page.keyboard.up('Control')
    await until('the call', () => up.of('slow').length > 0)
    await sleep(300)
    assert.equal((await app.api('/api/runs')).runs.length, 1)
    up.release('slow')
    await p.is('done')
  },
}
